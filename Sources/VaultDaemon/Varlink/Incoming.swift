internal import VaultWire

/// A little room for what a client sends, wiped when it was taken.
struct Incoming: ~Copyable {
  /// Enough for most requests; the rest of a longer one comes by way of the loop.
  private static let size = 1024
  /// Empty until something is looked for: most clients ask once.
  private var buffer = SecretBuffer()

  mutating func receive(from socket: ClientSocket) -> Int {
    if buffer.count == 0 { buffer.append(count: Self.size) { _ in } }
    return buffer.withMutableBytes { socket.receive(into: &$0) }
  }

  /// Lends the first `count` bytes, and wipes them.
  mutating func lend(_ count: Int, _ body: (RawSpan) -> Void) {
    buffer.withBytes { body($0.extracting(first: count)) }
    buffer.wipe(0..<count)
  }
}
