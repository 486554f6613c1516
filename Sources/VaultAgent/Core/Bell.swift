internal import CLinux
internal import Glibc

/// Wakes the one thread that waits for this bell (eventfd(2)).
final class Bell: Sendable {
  private let descriptor: Int32

  init() throws(Withdrawal.Errno) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC))
    if descriptor < 0 { throw Withdrawal.Errno(code: errno) }
  }

  deinit { close(descriptor) }

  func ring() { eventfd_write(descriptor, 1) }

  /// Waits until the bell has rung since the last wait.
  func wait() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }
}
