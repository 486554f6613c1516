internal import ArgumentParser
internal import VaultAPI
internal import VaultClient
internal import VaultModel

struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Open the vault with a password or a recovery code.")

  @Flag(help: "Use a recovery code instead of a password.")
  var recovery = false

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Lock it again after this time, such as 90, 15m or 12h.", valueName: "duration"),
    transform: Sizes.seconds)
  var lockAfter: Int64?

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws { try Refused.secretArguments(unexpected) }

  func run() throws {
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    try session.call { vault in
      try vault.unlock(method: recovery ? "recovery" : nil, for: lockAfter.map { .seconds($0) }, answer: answers.answer)
    }
    guard globals.json || Keyboard.isAttended else { return }
    let status = try session.call { vault in try vault.status() }
    if globals.json { return try Output.json { status.write(to: &$0) } }
    let until = status.locksAt.map { " until \(Timestamp.format($0))" } ?? ""
    Output.note("unlocked\(until)")
  }
}
