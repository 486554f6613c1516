internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The new password of an exported file: typed twice, or the first line of standard input. In either case it is as
/// strong as a password of a vault, because nothing slows down somebody who tries passwords of a file.
enum ExportPassword {
  /// - Throws: ``Failure`` for no password, or for one that is weak or too long.
  static func ask(_ secrets: SecretOptions) throws(Failure) -> SecretBuffer {
    let password = secrets.passwordStdin ? try read() : try type()
    guard password.count > 0, password.count <= ImportCall.longestSecret else {
      throw Failure(.invalid, "the password of the file is empty or too long")
    }
    return password
  }

  private static func read() throws(Failure) -> SecretBuffer {
    var lines = InputLines(limit: ImportCall.longestSecret)
    guard let line = try lines.next() else {
      throw Failure(.usage, "standard input is empty", "give the password of the file in its first line")
    }
    try check(line)
    return line
  }

  /// Throws for a weak password. An empty one has a message of its own.
  static func check(_ password: borrowing SecretBuffer) throws(Failure) {
    guard password.count > 0, let weakness = password.withBytes({ Weakness(of: $0) }) else { return }
    throw Failure(.invalid, weakness.text, "give the file a stronger one")
  }

  private static func type() throws(Failure) -> SecretBuffer {
    let keyboard = try Keyboard(otherwise: "use --password-stdin and pass the password of the file on standard input")
    guard
      let typed = try Answers.twice("New password of the file: ", "Again: ", keyboard, isNewPassword: true)
    else { throw Failure(Fault.cancelled) }
    return typed
  }
}
