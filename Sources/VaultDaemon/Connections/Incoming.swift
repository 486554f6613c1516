internal import VaultBytes
internal import VaultWire

/// A small buffer for a client's bytes, wiped after they are taken.
struct Incoming: ~Copyable {
  /// The size of a buffer for ``Intake``, for the rest of a long request.
  static let most = 64 << 10
  /// The size of the buffer.
  private let size: Int
  /// The buffer, empty until the first read, so that a value that is never read into takes no memory.
  private var buffer = SecretBuffer()

  /// - Parameter size: by default enough for most requests; the rest of a longer one arrives through the loop.
  init(size: Int = 1024) { self.size = size }

  mutating func receive(from socket: ClientSocket, peeks: Bool = false) -> Int {
    if buffer.count == 0 { buffer.append(count: size) { _ in } }
    return buffer.withMutableBytes { socket.receive(into: &$0, peeks: peeks) }
  }

  /// Lends the first `count` bytes, and wipes them.
  mutating func lend(_ count: Int, _ body: (RawSpan) -> Void) {
    buffer.withBytes { body($0.extracting(first: count)) }
    buffer.wipe(0..<count)
  }
}
