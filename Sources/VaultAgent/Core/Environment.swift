internal import CLinux
internal import Glibc

/// The environment that the program was started with. Nothing in the program changes it.
enum Environment {
  /// The value of a variable; nil when it is unset, empty or not UTF-8.
  static func variable(_ name: String) -> String? {
    // The value lives as long as the process.
    guard let value = unsafe getenv(name), let text = unsafe String(validatingCString: value), !text.isEmpty else {
      return nil
    }
    return text
  }

  /// All lines `NAME=value`, except that of one variable.
  static func lines(without name: String) -> [String] {
    var lines: [String] = []
    // The list ends with a null pointer.
    var next = unsafe environ
    while let line = unsafe next.pointee {
      unsafe lines.append(String(cString: line))
      unsafe next = next.advanced(by: 1)
    }
    return lines.filter { !$0.hasPrefix(name + "=") }
  }
}

/// The terminal that the program was started on.
enum OwnTerminal {
  /// The path of the terminal's device; nil when there is none.
  ///
  /// A terminal that does not control this process, as after setsid(1), belongs to another session, whose shell would
  /// take the input of a question.
  static var path: String? {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where isatty(descriptor) == 1 {
      guard tcgetpgrp(descriptor) >= 0 else { continue }
      var name = [CChar](repeating: 0, count: 64)
      guard unsafe ttyname_r(descriptor, &name, name.count) == 0 else { continue }
      return String(validating: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }

  /// Returns true when the job of this process may use the terminal at `path`. If another job is in the foreground, a
  /// question would take its input and write over its output.
  static func isOurs(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return isOurs(descriptor)
  }

  /// Returns true when the job of this process may use an open terminal.
  static func isOurs(_ descriptor: Int32) -> Bool {
    let foreground = tcgetpgrp(descriptor)
    // The kernel reports no foreground job for a terminal that does not control this process.
    return foreground < 0 || foreground == getpgrp()
  }

  /// The rows and columns of a terminal, or 24 and 80 when the terminal does not report them.
  static func size(_ descriptor: Int32) -> (rows: Int, columns: Int) {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
      return (24, 80)
    }
    return (Int(size.ws_row), Int(size.ws_col))
  }
}
