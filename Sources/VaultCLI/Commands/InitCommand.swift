internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct InitCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make the vault.",
    discussion: "Asks for its first password, twice. A vault that is there already is never touched.")

  @Flag(help: "Also make a recovery code, which is shown once and has to be typed back.")
  var recovery = false

  @OptionGroup var presence: PresenceOptions
  @OptionGroup var secrets: SecretOptions
  @OptionGroup var cost: CostOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws { try Refused.secretArguments(unexpected, of: self) }

  func run() throws {
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    let presence = try offered(session)
    try session.converse(answers) { vault, _, answer in
      try vault.initialize(
        recovery: recovery, keystore: presence.keystore?.rawValue, insecure: presence.insecureFile ? true : nil,
        kdfMemory: cost.kdfMemory, kdfPasses: cost.kdfPasses, answer: answer)
    }
    presence.sayCost()
    if globals.json {
      try Output.json { writer in
        writer.beginObject()
        writer.key("created")
        writer.bool(true)
        answers.writeRecoveryCode(to: &writer)
        writer.endObject()
      }
    } else if Keyboard.isAttended {
      Output.note("the vault is made; open it with `vault unlock`")
      if !recovery {
        Output.note("for the day the password is forgotten, add a recovery code: `vault slot add recovery`")
      }
    }
  }

  /// The keystore that was asked for, or that a person at the terminal chooses of those which are possible here.
  private func offered(_ session: Session) throws(Failure) -> PresenceOptions {
    var presence = presence
    guard presence.keystore == nil, Keyboard.isAttended, !secrets.passwordStdin else { return presence }
    let status = try session.call { vault in try vault.status() }
    guard status.state == "new" else { return presence }
    guard status.methods.contains(where: { $0.name == "pam" && $0.possible }) else { return presence }
    let keyboard = try Keyboard(otherwise: "")
    let question =
      "Open it with your fingerprint or login password, too, once the password was given after a start? [y/N] "
    let answer = try keyboard.ask(question, .shown)
    switch answer {
    case .some(let answer):
      let isYes = answer.withBytes { bytes in
        bytes.byteCount > 0 && Span<UInt8>(_bytes: bytes)[0] | 0x20 == UInt8(ascii: "y")
      }
      if isYes { presence.keystore = .memory }
    case .none: break
    }
    return presence
  }
}
