internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A program that prints a password, for programs that want a file with one: Ansible's password files and clients,
/// restic's password command, and more.
///
/// Ansible's vault id `prod` is the item `ansible/prod`; any other item is given by its name.
enum PasswordFileHelper: CredentialHelper {
  static let name = "password-file"
  static let links = ["vault-ansible-client"]
  static let programs = "ansible, restic, borg and others that run a program for a password"
  static let takesTypedWords = true
  static let guide = """
    Ansible, whose vault id prod is the item ansible/prod:

      ansible-playbook \\
        --vault-id prod@/usr/libexec/vault/bin/vault-ansible-client site.yml

    Others, with an item's name:

      export RESTIC_PASSWORD_COMMAND='vault helper password-file restic/home'
      export BORG_PASSCOMMAND='vault helper password-file borg/home'
    """

  static func run(_ call: HelperCall) throws {
    let name = try item(call)
    let items = try HelperItems(call, for: "vault helper password-file \(name)")
    guard let value = try items.value(name) else { throw NamedItem.missing(name) }
    try value.bytes.withBytes { bytes throws(Failure) in
      try Output.checkForTerminal(bytes, of: name, "send it to a file or a pipe")
      try Output.write(bytes)
      let text = Span<UInt8>(_bytes: bytes)
      if text.isEmpty || text[text.count - 1] != 0x0A { try Output.text("\n") }
    }
  }

  private static func item(_ call: HelperCall) throws(Failure) -> String {
    let words = call.words
    if words.count == 2, words[0] == "--vault-id" { return "ansible/\(NameSegment.encode(words[1]))" }
    if words.count == 1, words[0].hasPrefix("--vault-id=") {
      return "ansible/\(NameSegment.encode(String(words[0].dropFirst("--vault-id=".count))))"
    }
    // Ansible gives no vault id if a person named none.
    if words.isEmpty { return "ansible/default" }
    guard words.count == 1 else { throw call.unusable }
    do throws(NameError) { return try ItemName(words[0]).text } catch {
      throw Failure(
        .usage, "\(Printable.quoted(words[0])) is not a valid item name: \(error.reason)", "see \(Hint.vault("list"))")
    }
  }
}
