internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct InitCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make the vault.",
    discussion: """
      Asks for the first password twice, makes a recovery code, which opens the vault if the password is forgotten, \
      and leaves the vault unlocked. An existing vault is never touched. A boot key that is there already is kept \
      under another name, because another vault may need it.
      """)

  @Flag(
    inversion: .prefixedNo,
    help: """
      Make a recovery code, which is shown once and must be typed back. With --password-stdin no code is made by \
      default.
      """)
  var recovery: Bool?

  @OptionGroup var presence: PresenceOptions
  @OptionGroup var secrets: SecretOptions
  @OptionGroup var cost: CostOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws { try Refused.secretArguments(unexpected, of: self) }

  func run() throws {
    let session = try Session(globals)
    if let remnant = StorePaths.usualRemnant {
      Output.note("\(Printable.text(remnant)); if vault.db was moved, put it back instead of making a new vault")
    }
    let answers = Answers(secrets, json: globals.json)
    answers.consequence = "no vault was made"
    // A recovery code on standard output would be read by the program that supplied the password.
    let recovery = recovery ?? !secrets.passwordStdin
    try session.converse(answers) { vault, _, answer in
      try vault.initialize(
        recovery: recovery, keystore: presence.keystore?.rawValue, insecure: presence.insecureFile ? true : nil,
        offer: !secrets.passwordStdin, kdfMemory: cost.kdfMemory, kdfPasses: cost.kdfPasses, answer: answer)
    }
    var chosen = presence
    if answers.hasChosen { chosen.keystore = .memory }
    chosen.sayCost()
    if globals.json {
      try Output.json { object in
        object.add("created", true)
        answers.addRecoveryCode(to: &object)
      }
    } else if Keyboard.isAttended {
      Output.note("the vault is made, and unlocked")
      if !recovery {
        Output.note("it has no recovery code; \(Hint.vault("slot add recovery")) makes one")
      }
      Output.next(InitCommand.next)
    }
  }

  /// The commands for a new user, each with its purpose.
  private static let next = [
    (Hint.line("set mail/password"), "store a first secret"),
    (Hint.line("get mail/password"), "read it"),
    (Hint.line("lock"), "lock the vault; \(Hint.vault("unlock")) opens it again"),
  ]
}
