internal import CLinux
internal import Glibc

/// Ends the waits of a connection from another thread.
final class Interrupt: Sendable {
  /// The descriptor, readable once the interrupt was raised (eventfd(2)).
  let number: Int32

  init() throws(ClientError) {
    number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if number < 0 { throw .system("eventfd", errno: errno) }
  }

  deinit { close(number) }

  /// Makes every present and later wait throw ``ClientError/disconnected``.
  func raise() { eventfd_write(number, 1) }

  /// True when the interrupt was raised.
  var isRaised: Bool { poll(.zero) }

  /// Waits until the interrupt is raised or `duration` is over.
  func wait(_ duration: Duration) { _ = poll(duration) }

  private func poll(_ duration: Duration) -> Bool {
    var polled = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return unsafe Glibc.poll(&polled, 1, Int32(clamping: duration.milliseconds)) > 0
  }
}
