internal import Glibc

/// The arguments and the environment that the program was started with.
///
/// A file's name is bytes, but text is UTF-8. Bytes that are not UTF-8 would be read as U+FFFD, and an argument would
/// then name another file or another item than the user meant.
public enum StartText {
  /// The argument or variable that is not UTF-8.
  public enum Problem: Equatable, Sendable {
    /// An argument, by its position on the command line.
    case argument(Int)
    case variable(String)

    /// The problem and its remedy, for a person; `manual` is the program's man page.
    public func text(_ manual: String) -> String {
      switch self {
      case .argument(let place): "argument \(place) is not UTF-8, so it is not accepted as a name; see \(manual)"
      case .variable(let name): "\(name) is not UTF-8, so it is not accepted as a path; set it to another value"
      }
    }
  }

  /// Returns the first argument or variable that is not UTF-8, because of which the program must stop; nil when all are
  /// UTF-8. Call this before there is another thread.
  ///
  /// - Parameter variables: the names of the variables whose values name files.
  public static func problem(_ variables: [StaticString]) -> Problem? {
    // The kernel's own vector, which lives as long as the process; each of its strings ends with a NUL.
    let arguments = unsafe CommandLine.unsafeArgv
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe arguments[index], unsafe !isUTF8(argument) else { continue }
      return .argument(index)
    }
    for name in variables {
      // The name and the value live as long as the process, which never changes its environment.
      guard let value = unsafe getenv(name.description), unsafe !isUTF8(value) else { continue }
      return .variable(name.description)
    }
    return nil
  }

  /// - Parameter text: a string that ends with a NUL.
  private static func isUTF8(_ text: UnsafePointer<CChar>) -> Bool { unsafe String(validatingCString: text) != nil }
}
