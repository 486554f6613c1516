internal import CLinux
internal import Glibc
internal import VaultWire

/// Lines on their way to a reader that may take its time, without a wait for it. Where it takes none for long, new ones are left
/// out, each as a whole.
struct LineQueue: ~Copyable {
  /// The most bytes that wait for the reader before lines are left out.
  private static let most = 1 << 20

  private let descriptor: Int32
  private var waiting = SecretBuffer()
  private var isClosed = false

  init(to descriptor: Int32) { self.descriptor = descriptor }

  /// Tells that there is room for what waits.
  var polled: pollfd { pollfd(fd: waiting.count > 0 ? descriptor : -1, events: Int16(POLLOUT), revents: 0) }

  /// Adds a line, with its line break.
  mutating func add(_ line: borrowing SecretBuffer) {
    if isClosed || waiting.count > Self.most { return }
    line.withBytes { waiting.append($0) }
    send()
  }

  /// Writes what there is room for.
  mutating func send() {
    while waiting.count > 0 {
      var polled = polled
      guard unsafe poll(&polled, 1, 0) > 0 else { return }
      do throws(Failure) {
        let count = try waiting.withBytes { bytes throws(Failure) in try Output.writePart(of: bytes, to: descriptor) }
        if count == 0 { return }
        waiting.removeFirst(count)
      } catch {
        isClosed = true
        waiting.removeAll()
      }
    }
  }
}
