internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RekeyCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the vault a new key, and seal everything again under that key.",
    discussion: """
      A changed password and a removed slot leave the vault's key as it is: whoever has an older copy of the store and \
      the old secret can get that key, and read the present store with it. After a rekey they cannot; the older copies \
      themselves stay as they are. Meanwhile items are served. The rekey continues in the daemon if this command ends. \
      It pauses while the vault is locked or after a restart, and resumes with the next unlock. Each recovery code is \
      replaced by a new one; a slot whose secret is not given is left out.
      """)

  @Option(
    help: ArgumentHelp("Prove the right to rekey with password, recovery or login.", valueName: "method"),
    completion: .list(SlotKind.typed.map(\.name)), transform: RekeyCommand.kind)
  var method: SlotKind?

  /// Parses a method. One that gives no right to a change is refused later, with the reason.
  private static func kind(_ text: String) throws -> SlotKind {
    guard let kind = SlotKind(name: text) else {
      throw ValidationError("give one of \(SlotKind.typed.map(\.name).joined(separator: ", "))")
    }
    return kind
  }

  @Flag(help: "Prove the right to rekey with a recovery code: short for --method recovery.")
  var recovery = false

  @Flag(help: "Give up the rekey that is in progress; the vault keeps its present key.")
  var cancel = false

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws {
    try Refused.secretArguments(unexpected, of: self)
    if method?.facts.rights == .noChange {
      throw ValidationError("a fingerprint is not proof enough for this; give --method password, recovery or login")
    }
    if recovery, let method, method != .recovery {
      throw ValidationError("--recovery and --method \(method.name) exclude each other; give one of them")
    }
    if cancel && (recovery || method != nil || secrets.passwordStdin) {
      throw ValidationError("--cancel needs no proof; give it alone")
    }
  }

  func run() throws {
    let session = try Session(globals)
    if cancel { return try giveUp(session) }
    let answers = Answers(secrets, json: globals.json)
    answers.begin()
    if Keyboard.canAsk && !secrets.passwordStdin { try session.unlockIfLocked(isForAdministrators: true) }
    let rekeying = Rekeying(session, answers, json: globals.json)
    rekeying.announceCodes()
    try rekeying.run(method: recovery ? SlotKind.recovery.name : method?.name)
  }

  private func giveUp(_ session: Session) throws(Failure) {
    let wasUnderWay = try session.call { vault in try vault.cancelRekey() }
    if globals.json {
      return try Output.json { $0.add("cancelled", wasUnderWay) }
    }
    guard Keyboard.isAttended else { return }
    Output.note(wasUnderWay ? "given up; the vault keeps its present key" : "no rekey is in progress")
  }
}
