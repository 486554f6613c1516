internal import Glibc
internal import VaultWire

/// The message that a command has signed: a file, or standard input to its end.
enum MessageInput {
  /// - Parameter advice: what to do with a larger one.
  static func read(_ path: String?, ofMore advice: String = "give its hash instead") throws(Failure) -> SecretBuffer {
    if path == nil, isatty(STDIN_FILENO) == 1 {
      throw Failure(.usage, "no message is given", "name its file, or give it on standard input")
    }
    return try FileInput.readFile(path ?? "-", limit: ValueInput.limit, ofMore: advice)
  }
}
