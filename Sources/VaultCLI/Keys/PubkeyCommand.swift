internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct PubkeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pubkey",
    abstract: "Print the public half of a key.",
    discussion: """
      Works for keys for `ssh`, `jwt` and `sign`, even while the vault is locked, if names can be read then. `vault \
      show-key` prints the public key of the vault itself.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Option(
    help: ArgumentHelp(
      """
      `spki` (PEM, the default), `openssh` (a line for authorized_keys), `jwk`, or `jwks`: a set that also has the \
      replaced keys whose tokens can still be valid.
      """, valueName: "format"))
  var format: PublicKeyFormat?

  @Flag(help: "Print the fingerprint instead, as `ssh-keygen -l` shows it.")
  var fingerprint = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if fingerprint && format != nil {
      throw ValidationError("--fingerprint and --format exclude each other; give one of them")
    }
  }

  func run() throws {
    let session = try Session(globals)
    let format = format ?? .spki
    let reply = try session.unlocking(for: "vault pubkey \(name)") { vault in
      try vault.publicKey(of: name, format: format.rawValue)
    }
    if globals.json { return try Output.json(reply) }
    if fingerprint { return try Output.line(Printable.text(reply.fingerprint)) }
    // PEM has several lines and ends with a newline.
    try Output.foreign(reply.key)
  }
}

/// The formats of a public key.
enum PublicKeyFormat: String, ExpressibleByArgument, CaseIterable {
  case spki, openssh, jwk, jwks
}
