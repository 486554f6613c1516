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
      If several slots have a password, the one that is given as the old password is replaced; with --recovery it is \
      that of the slot with the lowest number. \
      Items are not touched: the vault's key is wrapped again. An earlier copy of the store still opens with the old \
      password.
      """)

  @Flag(help: "Give the login slot a new login password, and leave the vault's own password as it is.")
  var login = false

  @Flag(help: "Prove the right to change it with a recovery code instead of the old password.")
  var recovery = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Change the password of this slot, by its number in `vault slot list`, whichever password proves the right.",
      valueName: "id"))
  var slot: Int?

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
    let isFirst = slot == nil && slots?.contains { $0.kind == kind } == false
    do throws(Failure) {
      try session.converse(answers, isLast: false) { vault, method, answer in
        try vault.changePassword(
          method: method ?? (recovery ? SlotKind.recovery.name : nil), kind: login ? kind : nil, slot: slot,
          kdfMemory: cost.kdfMemory, kdfPasses: cost.kdfPasses, answer: answer)
      }
    } catch {
      throw PasswordSlots.explained(error, slot, of: login ? .login : .password, slots ?? [])
    }
    if globals.json {
      try Output.json { $0.add("changed", true) }
    } else if isFirst {
      answers.finish()
      if Keyboard.isAttended { Output.note("the vault has a password again") }
    } else if Keyboard.isAttended {
      let changed = PasswordSlots(
        before: slots ?? [], chosen: slot ?? (recovery ? PasswordSlots.first(slots ?? [], kind) : nil), session
      ).sentence(isLogin: login)
      try Rekeying.offer(
        session, because: "\(changed); older copies of the store still open with the old one",
        secrets.passwordStdin ? nil : answers)
    }
  }
}
