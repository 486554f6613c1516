internal import Glibc

/// The place of the running program, and of the programs that were installed or built with it.
public enum OwnProgram {
  /// The directory of the running program; nil if its name is not UTF-8.
  public static var directory: String? {
    let path = SymbolicLink.target(of: "/proc/self/exe")
    return path.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
  }

  /// The path of a helper. An installed helper is in `libexec/vault` beside `directory`; in a build it is in
  /// `directory` itself. Nil when the helper is in neither.
  public static func helper(_ name: String, from directory: String? = directory) -> String? {
    guard let directory else { return nil }
    return places(of: name, from: directory).first { path in unsafe access(path, X_OK) == 0 }
  }

  /// The path of a helper that exists where ``helper(_:from:)`` looks but may not be executed. Nil when there is none,
  /// or when that function finds one.
  public static func barredHelper(_ name: String, from directory: String? = directory) -> String? {
    guard let directory, helper(name, from: directory) == nil else { return nil }
    return places(of: name, from: directory).first { path in unsafe access(path, F_OK) == 0 }
  }

  private static func places(of name: String, from directory: String) -> [String] {
    ["\(directory)/../libexec/vault/\(name)", "\(directory)/\(name)"]
  }
}
