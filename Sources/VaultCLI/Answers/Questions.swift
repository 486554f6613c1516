internal import Glibc
internal import VaultClient
internal import VaultModel

/// The daemon's questions, as the terminal shows them.
enum Questions {
  /// The beginnings of questions that tell whose secret they ask for, so that they are shown without `vault:` before
  /// them.
  private static let own = [
    "Vault password", "Current vault password", "New vault password", "Recovery code", "Password of the backup",
  ]
  private static let login = "Login password"

  /// The question of a prompt, without a colon.
  static func text(of prompt: borrowing Prompt) -> String {
    let text = prompt.text
    if text.hasPrefix(login), prompt.style != .info, let name = LoginName.own {
      // The client knows the user's name, because that user started it.
      return "\(login) for \(name)\(Printable.text(String(text.dropFirst(login.count))))"
    }
    return own.contains { text.hasPrefix($0) } ? Printable.text(text) : line(prompt)
  }

  /// The daemon's words, on a line that names their source, as on all lines of ``Rows``. No wording can pass for the
  /// shell's prompt or another program's.
  static func line(_ prompt: borrowing Prompt) -> String { "vault: \(Printable.text(prompt.text))" }
}

/// The name of the user who runs this program.
///
/// The name is read from passwd(5), since a static program cannot ask the name service. For a user who is not in that
/// file, it is the value of `LOGNAME`.
enum LoginName {
  static let own: String? = {
    let name = FileInput.text(of: "/etc/passwd").flatMap { of(getuid(), in: $0) } ?? Environment.variable("LOGNAME")
    return name.flatMap { $0.isEmpty ? nil : Printable.text($0) }
  }()

  /// Returns the name of a user from a text in the format of passwd(5); nil if it has no such user.
  static func of(_ uid: uid_t, in text: String) -> String? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      if fields.count > 2, fields[2] == "\(uid)" { return String(fields[0]) }
    }
    return nil
  }
}
