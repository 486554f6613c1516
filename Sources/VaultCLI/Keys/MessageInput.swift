internal import Glibc
internal import VaultBytes
internal import VaultWire

/// The message for a command that signs or checks it: a file, or all of standard input.
enum MessageInput {
  /// Reads the message.
  ///
  /// - Parameter advice: the advice if the message is too large.
  static func read(_ path: String?, ofMore advice: String = "give its hash instead") throws(Failure) -> SecretBuffer {
    if path == nil, isatty(STDIN_FILENO) == 1 {
      throw Failure(.usage, "no message is given", "name its file, or give it on standard input")
    }
    return try FileInput.readFile(path ?? "-", limit: ValueInput.limit, ofMore: advice)
  }
}
