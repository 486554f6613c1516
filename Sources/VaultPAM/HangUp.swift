internal import CLinux
internal import Glibc

/// Ends the process when the daemon closes the connection, also while a module waits for a finger.
///
/// PAM offers no way to interrupt `pam_authenticate`, so the process goes, and takes the modules' connections with it:
/// fprintd releases the reader when the name on the bus vanishes.
enum HangUp {
  /// The longest life of a conversation in milliseconds. Above the daemon's own limit, which comes with a reason.
  static let longest: Int32 = 150_000

  /// Watches `connection` in a thread of its own. False when there can be none.
  static func watch(_ connection: Int32) -> Bool {
    var thread = pthread_t()
    // The thread lives as long as the process; the number travels as the pointer's bits.
    return unsafe pthread_create(
      &thread, nil,
      { argument in
        HangUp.wait(Int32(truncatingIfNeeded: Int(bitPattern: argument)))
        return nil
      }, UnsafeMutableRawPointer(bitPattern: Int(connection))) == 0
  }

  private static func wait(_ connection: Int32) {
    // Hang-ups and errors are always reported; this one also when only the other side's writing half is closed.
    var polled = pollfd(fd: connection, events: Int16(VAULT_POLLRDHUP), revents: 0)
    var ready: Int32
    repeat { ready = unsafe poll(&polled, 1, longest) } while ready < 0 && errno == EINTR
    // Not exit(3): the other thread is inside a module.
    _exit(0)
  }
}
