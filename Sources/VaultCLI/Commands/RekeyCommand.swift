internal import ArgumentParser
internal import VaultClient
internal import VaultWire

struct RekeyCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the vault a new key and seal everything anew under it.",
    discussion: """
      A changed password and a removed slot leave the vault's key as it is: older copies of the store still open with \
      the old secret, and give the key of the present one. This makes a new key, so that they do not. Items are served \
      meanwhile. It goes on in the daemon when this command ends, rests while the vault is locked, and goes on after a \
      restart with the next unlock. Recovery codes are made anew; a slot whose secret is not given is left out.
      """)

  @Option(
    help: ArgumentHelp("Prove the right to with this way: password, recovery or login.", valueName: "method"))
  var method: SlotKindArgument?

  @Flag(help: "Prove the right to with a recovery code: short for --method recovery.")
  var recovery = false

  @Flag(help: "Give up the one that is under way; the vault keeps the key it has.")
  var cancel = false

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws {
    try Refused.secretArguments(unexpected, of: self)
    if method == .pam {
      throw ValidationError("a fingerprint proves too little for this; give --method password, recovery or login")
    }
    if recovery, let method, method != .recovery {
      throw ValidationError("--recovery and --method \(method.rawValue) exclude each other; give one of them")
    }
    if cancel && (recovery || method != nil || secrets.passwordStdin) {
      throw ValidationError("--cancel proves nothing; give it alone")
    }
  }

  func run() throws {
    let session = try Session(globals)
    if cancel { return try giveUp(session) }
    let answers = Answers(secrets, json: globals.json)
    answers.begin()
    if Keyboard.canAsk && !secrets.passwordStdin { try session.unlockIfLocked() }
    let rekeying = Rekeying(session, answers, json: globals.json)
    try rekeying.run(method: recovery ? SlotKindArgument.recovery.rawValue : method?.rawValue)
  }

  private func giveUp(_ session: Session) throws(Failure) {
    let wasUnderWay = try session.call { vault in try vault.cancelRekey() }
    if globals.json {
      return try Output.json { writer in
        writer.beginObject()
        writer.key("cancelled")
        writer.bool(wasUnderWay)
        writer.endObject()
      }
    }
    guard Keyboard.isAttended else { return }
    Output.note(wasUnderWay ? "given up; the vault keeps the key it has" : "no rekey is under way")
  }
}
