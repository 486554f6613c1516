internal import ArgumentParser
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct UnlockCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Open the vault with a fingerprint, the login password, its own password or a recovery code.",
    discussion: """
      If the vault has a slot for them (see `vault slot add pam`), the command first tries the fingerprint or the \
      login password, and then the vault's own password. `vault status` lists the ways that can be used now.
      """)

  @Option(
    help: ArgumentHelp("Use only this way in.", valueName: "method"))
  var method: SlotKindArgument?

  @Flag(help: "Use a recovery code: short for --method recovery.")
  var recovery = false

  @Option(
    name: .customLong("for"),
    parsing: .unconditional,
    help: ArgumentHelp("Keep it open for this time, such as 90s, 15m or 12h, and then lock it.", valueName: "duration"),
    transform: Times.duration)
  var lockAfter: Int64?

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws {
    try Refused.secretArguments(unexpected, of: self)
    if recovery, let method = method?.kind, method != .recovery {
      throw ValidationError("--recovery and --method \(method.name) exclude each other; give one of them")
    }
  }

  /// The requested method. A line of standard input is the vault's own password unless another method is given.
  private var chosen: String? {
    if recovery { return SlotKind.recovery.name }
    return method?.kind.name ?? (secrets.passwordStdin ? SlotKind.password.name : nil)
  }

  func run() throws {
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    do throws(Failure) {
      try session.converse(answers) { vault, method, answer in
        try vault.unlock(method: method ?? chosen, for: lockAfter.map { .seconds($0) }, answer: answer)
      }
    } catch {
      throw session.withRecovery(error, answers)
    }
    defer { answers.forgetCode() }
    guard globals.json || Keyboard.isAttended else { return hint(answers) }
    let status = try session.call { vault in try vault.status() }
    if globals.json { return try Output.json(status) }
    if let warning = Integrity.copyWarning(status) { Output.note(warning) }
    for warning in Integrity.warnings(status) { Output.note(Hint.text(warning.sentence)) }
    if let chosen, SlotKind.typed.contains(where: { $0.name == chosen }), !answers.hasAnswered {
      let secret = chosen == SlotKind.recovery.name ? "code" : "password"
      Output.note(
        "the vault was open already, so "
          + (secrets.passwordStdin ? "the \(secret) was not tried" : "no \(secret) was asked for"))
    }
    Output.note(UnlockCommand.sentence(status))
    tellOfKept(session)
    try offerPassword(session, answers)
  }

  /// Says that deposits are kept aside, perhaps by this unlock.
  private func tellOfKept(_ session: Session) {
    let deposits = (try? session.attempt { vault in try vault.deposits() }) ?? []
    let kept = deposits.count { !$0.waiting }
    guard kept > 0 else { return }
    Output.note(
      "\(Counted.text(kept, "deposit")) \(kept == 1 ? "is" : "are") kept aside; \(Hint.vault("deposits")) says why")
  }

  /// The command that sets a new password with a recovery code.
  private static let later = "\(Hint.vault("passwd --recovery")) sets a new password"

  /// Says how to set a new password, if a recovery code opened the vault and nobody is asked.
  private func hint(_ answers: Answers) {
    if answers.hasGivenCode { Output.note("opened by a recovery code; \(UnlockCommand.later)") }
  }

  /// Offers to set a new password after a recovery code has opened the vault: a person who needs the code has lost the
  /// old password.
  private func offerPassword(_ session: Session, _ answers: Answers) throws(Failure) {
    guard answers.hasGivenCode else { return }
    guard !secrets.passwordStdin, let keyboard = try? Keyboard(otherwise: "") else { return hint(answers) }
    let slots = ((try? session.call { vault in try vault.slots() }) ?? [])
    let first = PasswordSlots.first(slots, SlotKind.password.name)
    let isOneOfSeveral = slots.count { $0.kind == SlotKind.password.name } > 1
    let lost = isOneOfSeveral ? "that of slot \(first ?? 1)" : "the lost one"
    guard try keyboard.confirm("Set a new password now, in place of \(lost)?") else {
      return Output.note("\(UnlockCommand.later) later")
    }
    do throws(Failure) {
      // The code is not asked for again.
      let next = answers.holdingCode()
      try session.converse(next) { vault, method, answer in
        try vault.changePassword(
          method: method ?? SlotKind.recovery.name, kind: nil, kdfMemory: nil, kdfPasses: nil,
          answer: answer)
      }
    } catch {
      // The vault is open anyway.
      return Output.note("\(error.message); the vault is open, and \(UnlockCommand.later) later")
    }
    let changed = PasswordSlots(before: slots, chosen: first, session).sentence(isLogin: false)
    Output.note(
      "\(changed); the recovery code stays as it is, and older copies of the store still open with the old password")
  }

  /// A sentence that says until when the vault is unlocked.
  static func sentence(_ status: Wire.StatusReply) -> String {
    guard let at = status.locksAt else { return "unlocked until something locks it" }
    let until = "unlocked until \(LocalTime.text(at, to: STDERR_FILENO))"
    switch status.locksBecause {
    case "idle": return until + ", and longer while you use it"
    case "age": return until + ", the maximum time"
    default: return until
    }
  }
}
