internal import ArgumentParser
internal import VaultAPI
internal import VaultClient

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make the vault.",
    discussion: "Asks for its first password, twice. A vault that is there already is never touched.")

  @Flag(help: "Also make a recovery code, which is shown once and has to be typed back.")
  var recovery = false

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var cost: CostOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws { try Refused.secretArguments(unexpected) }

  func run() throws {
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    try session.call { vault in
      try vault.initialize(
        recovery: recovery, kdfMemory: cost.kdfMemory, kdfPasses: cost.kdfPasses, answer: answers.answer)
    }
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
}
