internal import Glibc
internal import VaultClient
internal import VaultModel

/// The daemon's questions, as the terminal shows them.
enum Questions {
  /// The beginnings of its questions that say themselves whose they are.
  private static let own = [
    "Vault password", "Current vault password", "New vault password", "Recovery code", "Password of the backup",
  ]
  private static let login = "Login password"

  /// The question of a prompt, without a colon.
  static func text(of prompt: borrowing Prompt) -> String {
    let text = prompt.text
    if text.hasPrefix(login), prompt.style != .info, let name = LoginName.own {
      // Whose it is is told by the program that the person has started.
      return "\(login) for \(name)\(Printable.text(String(text.dropFirst(login.count))))"
    }
    return own.contains { text.hasPrefix($0) } ? Printable.text(text) : line(prompt)
  }

  /// The daemon's words, on a line that says where it comes from, as do all ``Rows`` of it: nothing that it words can pass
  /// for the shell's prompt or another program's.
  static func line(_ prompt: borrowing Prompt) -> String { "vault: \(Printable.text(prompt.text))" }
}

/// The name of the user whose program this is.
///
/// It is read from passwd(5), since a static program cannot ask the name service; a user who is not there has `LOGNAME`.
enum LoginName {
  static let own: String? = {
    let name = FileInput.text(of: "/etc/passwd").flatMap { of(getuid(), in: $0) } ?? Environment.variable("LOGNAME")
    return name.flatMap { $0.isEmpty ? nil : Printable.text($0) }
  }()

  /// The name of a user in a text of the form of passwd(5).
  static func of(_ uid: uid_t, in text: String) -> String? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      if fields.count > 2, fields[2] == "\(uid)" { return String(fields[0]) }
    }
    return nil
  }
}
