internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultWire

/// Lines for a reader that may be slow. The writer never waits: if the reader takes nothing for long, new lines are
/// dropped, each as a whole.
struct LineQueue: ~Copyable {
  /// The number of waiting bytes above which new lines are dropped.
  private static let most = 1 << 20

  private let descriptor: Int32
  private var waiting = SecretBuffer()
  private var isClosed = false

  init(to descriptor: Int32) { self.descriptor = descriptor }

  /// The descriptor to poll for room for the waiting bytes.
  var polled: pollfd { pollfd(fd: waiting.count > 0 ? descriptor : -1, events: Int16(POLLOUT), revents: 0) }

  /// Adds a line, which ends with its newline.
  mutating func add(_ line: borrowing SecretBuffer) {
    if isClosed || waiting.count > Self.most { return }
    line.withBytes { waiting.append($0) }
    send()
  }

  /// Writes as many bytes as there is room for.
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
