internal import CLinux
internal import Glibc

/// A sign that a question is taken back, for whoever waits in poll(2) on another thread.
final class Withdrawal: Sendable {
  /// Readable once it was raised (eventfd(2)).
  let descriptor: Int32

  /// - Throws: the error number.
  init() throws(Errno) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if descriptor < 0 { throw Errno(code: errno) }
  }

  deinit { close(descriptor) }

  /// Takes the question back.
  func raise() { eventfd_write(descriptor, 1) }

  /// True when it was taken back.
  var isRaised: Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) > 0
  }

  /// An error of the system, by its number.
  struct Errno: Error, Equatable { let code: Int32 }
}
