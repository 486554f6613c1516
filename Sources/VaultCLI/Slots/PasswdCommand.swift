internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct PasswdCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "passwd",
    abstract: "Change the password.",
    discussion: """
      Items are not touched: the vault's key is wrapped again. An earlier copy of the store still opens with the old \
      password.
      """)

  @Flag(help: "Give the login slot a new login password, and leave the vault's own password as it is.")
  var login = false

  @Flag(help: "Prove the right to change it with a recovery code instead of the old password.")
  var recovery = false

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var cost: CostOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws { try Refused.secretArguments(unexpected, of: self) }

  func run() throws {
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    let slots = try session.attempt { vault in try vault.slots() }
    let kind = (login ? SlotKind.login : .password).name
    let isFirst = slots?.contains { $0.kind == kind } == false
    try session.converse(answers, isLast: false) { vault, method, answer in
      try vault.changePassword(
        method: method ?? (recovery ? SlotKind.recovery.name : nil), kind: login ? kind : nil,
        kdfMemory: cost.kdfMemory, kdfPasses: cost.kdfPasses, answer: answer)
    }
    if globals.json {
      try Output.json { $0.add("changed", true) }
    } else if isFirst {
      answers.finish()
      if Keyboard.isAttended { Output.note("the vault has a password again") }
    } else if Keyboard.isAttended {
      let changed = login ? "the login slot has the new password" : "the password is changed"
      try Rekeying.offer(
        session, because: "\(changed); older copies of the store still open with the old one",
        secrets.passwordStdin ? nil : answers)
    }
  }
}
