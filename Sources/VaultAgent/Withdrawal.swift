internal import CLinux
internal import Glibc
internal import Synchronization

/// A signal that a question is withdrawn, for a thread that waits in poll(2).
final class Withdrawal: Sendable {
  /// The descriptor, readable once the signal was raised (eventfd(2)).
  let descriptor: Int32
  private let ends = Atomic(false)

  /// - Throws: the error number of eventfd(2).
  init() throws(Errno) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if descriptor < 0 { throw Errno(code: errno) }
  }

  deinit { close(descriptor) }

  /// Withdraws the question.
  ///
  /// - Parameter atEnd: true if this program ends, as after control-C; nobody else has withdrawn the question then.
  func raise(atEnd: Bool = false) {
    if atEnd { ends.store(true, ordering: .releasing) }
    eventfd_write(descriptor, 1)
  }

  /// True when the question was withdrawn because this program ends.
  var isOfEnd: Bool { ends.load(ordering: .acquiring) }

  /// True when the question was withdrawn.
  var isRaised: Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) > 0
  }

  /// An error of the system, by its number.
  struct Errno: Error, Equatable { let code: Int32 }
}
