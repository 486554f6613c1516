internal import Glibc

/// The shell's job that the program belongs to, and its turn on a terminal.
enum OwnJob {
  /// The milliseconds between two looks at the terminal.
  private static let look: Int32 = 100

  /// Returns true if another job has the terminal.
  static func isInBackground(_ terminal: Int32) -> Bool {
    let foreground = tcgetpgrp(terminal)
    return foreground >= 0 && foreground != getpgrp()
  }

  /// Returns true if another job has the terminal and no shell is left that could bring this job to the foreground. A
  /// question would appear over the other job's text, and that job would read the answer.
  static func isCutOff(from terminal: Int32) -> Bool { isInBackground(terminal) && isOrphaned }

  /// Waits until the job has the terminal.
  ///
  /// The program does not stop itself, as the kernel would make it do: a shell continues a job only if all of its
  /// processes have stopped, and another process of the job may ignore the signal or not have begun yet. The program
  /// would then stay stopped in the foreground while the terminal shows what is typed.
  ///
  /// - Throws: ``Failure`` with `otherwise` as the advice, if no shell is left that could bring the job to the
  ///   foreground.
  static func awaitTurn(on terminal: Int32, otherwise: String) throws(Failure) {
    guard isInBackground(terminal) else { return }
    var isTold = false
    while isInBackground(terminal) {
      guard !isOrphaned else { throw .unasked(advice: otherwise) }
      if !isTold {
        Output.note(
          "a question waits for the terminal: bring this job to the foreground, as with `fg` or `timeout --foreground`")
      }
      isTold = true
      poll(nil, 0, look)
    }
  }

  /// True if no process of this job, from this one upward, has a parent in another job of the same session (POSIX:
  /// orphaned process group).
  private static var isOrphaned: Bool {
    let (own, session) = (getpgrp(), getsid(0))
    var parent: pid_t? = getppid()
    while let pid = parent, pid > 1, getsid(pid) == session {
      guard getpgid(pid) == own else { return false }
      parent = Self.parent(of: pid)
    }
    return true
  }

  /// Returns the parent of a process (proc_pid_stat(5), field 4); nil if the process is gone.
  private static func parent(of pid: pid_t) -> pid_t? {
    let descriptor = unsafe open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    // The name of the program stands in parentheses, and may hold some itself.
    guard count > 0, let end = bytes.prefix(count).lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = String(decoding: bytes[(end + 1)..<count], as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? pid_t(fields[1]) : nil
  }
}
