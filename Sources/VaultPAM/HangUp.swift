internal import CLinux
internal import Glibc

/// Ends the process when the daemon closes the connection, even while a module waits for a finger.
///
/// PAM offers no way to interrupt `pam_authenticate`, so the whole process ends, and the modules' connections end with
/// it: fprintd releases the reader when its client's name vanishes from the bus.
enum HangUp {
  /// The longest life of a conversation, in milliseconds. It is above the daemon's own limit, so that the daemon ends
  /// the conversation first and gives a reason.
  static let longest: Int32 = 150_000

  /// Watches `connection` in a separate thread; false when no thread can be made.
  static func watch(_ connection: Int32) -> Bool {
    var thread = pthread_t()
    // The thread lives as long as the process. The descriptor's number is passed as the bits of the pointer.
    return unsafe pthread_create(
      &thread, nil,
      { argument in
        HangUp.wait(Int32(truncatingIfNeeded: Int(bitPattern: argument)))
        return nil
      }, UnsafeMutableRawPointer(bitPattern: Int(connection))) == 0
  }

  private static func wait(_ connection: Int32) {
    // poll(2) always reports hang-ups and errors. POLLRDHUP also reports that the other side closed only its writing
    // half.
    var polled = pollfd(fd: connection, events: Int16(VAULT_POLLRDHUP), revents: 0)
    var ready: Int32
    repeat { ready = unsafe poll(&polled, 1, longest) } while ready < 0 && errno == EINTR
    // _exit(2) is used because exit(3) would run exit handlers while the other thread is inside a module.
    _exit(0)
  }
}
