internal import Glibc

/// The arguments and the environment that the program was started with.
///
/// A file's name is bytes, and text is UTF-8. Bytes that are not would be read as U+FFFD, and then an argument names another
/// file or another item than the one that was meant.
enum StartText {
  /// The variables whose values name files.
  private static let variables: [StaticString] = [
    "HOME", "PATH", "VAULT_SOCKET", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
  ]

  /// Why the program must not go on; nil when all of it is UTF-8.
  static func failure() -> Failure? {
    // The kernel's own vector: it lives as long as the process, and each of its strings ends with a NUL.
    let arguments = unsafe CommandLine.unsafeArgv
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe arguments[index], unsafe !isUTF8(argument) else { continue }
      return Failure(.usage, "argument \(index) is not UTF-8, so it is not taken for a name; see vault(1)")
    }
    for name in variables {
      // Both live as long as the process, which never changes its environment.
      guard let value = unsafe getenv(name.description), unsafe !isUTF8(value) else { continue }
      return Failure(.configuration, "\(name) is not UTF-8, so it is not taken for a path; set another")
    }
    return nil
  }

  /// - Parameter text: ends with a NUL.
  private static func isUTF8(_ text: UnsafePointer<CChar>) -> Bool { unsafe String(validatingCString: text) != nil }
}
