internal import CLinux
internal import Glibc

/// The environment that the program was started with, which nothing in it changes.
enum Environment {
  /// The value of a variable; nil where it is not set, or empty, or no UTF-8.
  static func variable(_ name: String) -> String? {
    // It lives as long as the process.
    guard let value = unsafe getenv(name), let text = unsafe String(validatingCString: value), !text.isEmpty else {
      return nil
    }
    return text
  }
}

/// The terminal that the program was started on.
enum OwnTerminal {
  /// The path of its device; nil where there is none.
  static var path: String? {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where isatty(descriptor) == 1 {
      var name = [CChar](repeating: 0, count: 64)
      guard unsafe ttyname_r(descriptor, &name, name.count) == 0 else { continue }
      return String(validating: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }
}
