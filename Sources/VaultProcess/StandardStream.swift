internal import Glibc

/// The streams on which a program writes text for a person. It uses `write(2)`, so that a full disk and a closed stream
/// are reported as errors.
public enum StandardStream: Int32 {
  case output = 1
  case errors = 2

  /// The exit code of a program whose output could not be written (EX_IOERR, sysexits.h).
  private static let failed: Int32 = 74

  /// Writes all of `text`; returns 0 or an error number.
  public func write(_ text: String) -> Int32 {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // The pointer is valid for this one call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var polled = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&polled, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// Writes one line that begins with the program's name. If standard error is closed the line is lost, which is not a
  /// failure.
  public func complain(_ program: String, _ text: String) { _ = write("\(program): \(text)\n") }

  /// Answers a question such as `--version` on standard output, and returns the program's exit code.
  public static func answer(_ program: String, _ text: String) -> Int32 {
    let code = output.write(text)
    if code == 0 { return 0 }
    // The program has one thread, so nothing changes the static buffer while it is copied.
    let reason = unsafe String(cString: strerror(code))
    errors.complain(program, "cannot write the output: \(reason); check the space or the other end of the pipe")
    return failed
  }
}
