internal import Glibc

/// The arguments and the environment that the program was started with.
///
/// A file's name is bytes, and text is UTF-8. Bytes that are not would be read as U+FFFD, and then an argument names another
/// file or another item than the one that was meant.
public enum StartText {
  /// The part of them that is not UTF-8.
  public enum Problem: Equatable, Sendable {
    /// An argument, by its place on the command line.
    case argument(Int)
    case variable(String)

    /// The problem and its remedy, for a person; `manual` is the program's page.
    public func text(_ manual: String) -> String {
      switch self {
      case .argument(let place): "argument \(place) is not UTF-8, so it is not taken for a name; see \(manual)"
      case .variable(let name): "\(name) is not UTF-8, so it is not taken for a path; set another"
      }
    }
  }

  /// The first part that is not UTF-8, so that the program must not go on; nil when all of it is.
  ///
  /// - Parameter variables: the names of those whose values name files. Call it before there is another thread.
  public static func problem(_ variables: [StaticString]) -> Problem? {
    // The kernel's own vector: it lives as long as the process, and each of its strings ends with a NUL.
    let arguments = unsafe CommandLine.unsafeArgv
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe arguments[index], unsafe !isUTF8(argument) else { continue }
      return .argument(index)
    }
    for name in variables {
      // Both live as long as the process, which never changes its environment.
      guard let value = unsafe getenv(name.description), unsafe !isUTF8(value) else { continue }
      return .variable(name.description)
    }
    return nil
  }

  /// - Parameter text: ends with a NUL.
  private static func isUTF8(_ text: UnsafePointer<CChar>) -> Bool { unsafe String(validatingCString: text) != nil }
}
