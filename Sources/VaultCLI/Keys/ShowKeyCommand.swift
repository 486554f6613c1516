internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ShowKeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show-key",
    abstract: "Print the public key of the vault, for `vault deposit --seal` elsewhere.",
    discussion: """
      The key is not secret, but whoever replaces it on its way can read what is sealed to it: compare the \
      fingerprint that --seal shows there with the one that this command shows here. The vault must have been unlocked \
      since the daemon's start.
      """)

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp("Write the key to a file instead of standard output.", valueName: "file"), completion: .file())
  var output: String?

  @Flag(help: "With --output: replace an existing file.")
  var force = false

  @OptionGroup var globals: Globals

  mutating func validate() throws {
    if output == "-" { output = nil }
    if force && output == nil { throw ValidationError("--force is for --output; give --output too") }
  }

  func run() throws {
    if let output { try NewFile.check(output, replaces: force, reading: ["-"]) }
    let session = try Session(globals)
    let reply = try session.unlocking(for: "vault show-key") { vault in try vault.publicKey() }
    let text = "\(reply.key)\nfingerprint \(reply.fingerprint)\n"
    if let output { try NewFile.write(text, to: output, replaces: force) }
    if globals.json {
      try Output.json { object in
        object.add(output == nil ? "key" : "file", output ?? reply.key)
        object.add("fingerprint", reply.fingerprint)
      }
    } else if output == nil {
      try Output.foreign(reply.key)
      try Output.foreign("fingerprint \(reply.fingerprint)")
    } else if Keyboard.isAttended {
      Output.note("the key is written; its fingerprint is \(Printable.text(reply.fingerprint))")
    }
  }
}
