internal import Glibc

/// The streams on which a program writes text for a person, with `write(2)`, so that a full disk and a closed stream
/// are errors.
public enum StandardStream: Int32 {
  case output = 1
  case errors = 2

  /// The exit code of a program whose output finds no room (EX_IOERR, sysexits.h).
  private static let failed: Int32 = 74

  /// Writes all of `text`; the answer is 0, or an error number.
  public func write(_ text: String) -> Int32 {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // Lent for one call.
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

  /// Writes one line with the name of the program. What closed standard error does not hear of it, which is no failure.
  public func complain(_ program: String, _ text: String) { _ = write("\(program): \(text)\n") }

  /// Answers a question such as `--version` on standard output. The result is the program's exit code.
  public static func answer(_ program: String, _ text: String) -> Int32 {
    let code = output.write(text)
    if code == 0 { return 0 }
    // The program has one thread, so the static buffer is still ours while it is copied.
    let reason = unsafe String(cString: strerror(code))
    errors.complain(program, "cannot write the output: \(reason); see to the space or the other end of the pipe")
    return failed
  }
}
