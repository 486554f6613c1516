internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct SlotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "slot",
    abstract: "See and change the ways into the vault.",
    subcommands: [SlotListCommand.self, SlotAddCommand.self, SlotRemoveCommand.self],
    defaultSubcommand: SlotListCommand.self)
}

struct SlotListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the ways into the vault.")

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let slots = try session.call { vault in try vault.slots() }
    var table = Table("ID", "KIND", "CREATED", "COST", "LABEL")
    for slot in slots {
      if globals.json {
        try Output.json(slot)
      } else {
        let cost =
          slot.kdfMemory > 0
          ? "\(slot.kdfMemory >> 20) MiB, \(slot.kdfPasses) passes" : slot.keystore.map { "key in \($0)" } ?? "-"
        table.add(
          .init(String(slot.id)), .init(slot.stale == true ? "\(slot.kind) (stale)" : slot.kind),
          .init(LocalTime.text(slot.created)), .init(cost), .init(slot.label))
      }
    }
    if !globals.json { try Output.text(table.text(withHeading: Output.isTerminal)) }
  }
}

/// A kind of slot as an argument: its name.
struct SlotKindArgument: ExpressibleByArgument {
  let kind: SlotKind

  init?(argument: String) {
    guard let kind = SlotKind(name: argument) else { return nil }
    self.kind = kind
  }

  static var allValueStrings: [String] { SlotKind.allCases.map(\.name) }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension SlotKind {
  /// The kinds whose secret is typed as it is. For a `pam` slot, PAM decides what to ask.
  static let typed = allCases.filter { $0.facts.secret != .presenceKey }
}

struct SlotAddCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a way into the vault.",
    discussion: """
      password: another password. recovery: a recovery code, which is shown once and must be typed back; whoever has \
      it can open the vault. pam: a fingerprint or the login password, as PAM's service `vault` checks it; --keystore \
      chooses the place for the slot's key, and the command prints the cost of the choice. login: the login password, \
      which pam_vault(8) passes on at login.
      """)

  @Argument(help: ArgumentHelp("password, recovery, pam or login.", valueName: "kind"))
  var kind: SlotKindArgument

  @Option(help: ArgumentHelp("The name of the slot in `vault slot list`.", valueName: "text"))
  var label: String?

  @OptionGroup var presence: PresenceOptions

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "For pam: accept the presence of this user, given by number; may be repeated. Your own by default.",
      valueName: "uid"))
  var user: [Int] = []

  @Flag(help: "Prove the right to add a slot with a recovery code instead of a password.")
  var recovery = false

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var cost: CostOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws {
    try Refused.secretArguments(unexpected, of: self)
    if kind.kind.facts.secret == .presenceKey && presence.keystore == nil {
      throw ValidationError("a pam slot needs --keystore with one of \(PresenceOptions.names)")
    }
    if kind.kind.facts.secret != .presenceKey && (presence.keystore != nil || presence.insecureFile || !user.isEmpty) {
      throw ValidationError("--keystore, --insecure-file and --user belong to pam slots")
    }
    if user.contains(where: { $0 < 0 }) { throw ValidationError("the number of a user is 0 or more") }
  }

  func run() throws {
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    let slot = try session.converse(answers) { vault, method, answer in
      try vault.addSlot(
        kind: kind.kind.name, label: label, method: method ?? (recovery ? SlotKind.recovery.name : nil),
        keystore: presence.keystore?.rawValue, users: user.isEmpty ? nil : user,
        insecure: presence.insecureFile ? true : nil, kdfMemory: cost.kdfMemory, kdfPasses: cost.kdfPasses,
        answer: answer)
    }
    presence.sayCost()
    if globals.json {
      try Output.json { object in
        object.add("slot", slot)
        answers.addRecoveryCode(to: &object)
      }
    } else if Keyboard.isAttended {
      Output.note("added slot \(slot)")
    }
    if kind.kind.facts.secret == .presenceKey { tellOfObstacle(slot, session) }
  }
}

extension SlotAddCommand {
  /// Says why a new `pam` slot cannot be used yet.
  private func tellOfObstacle(_ slot: Int, _ session: Session) {
    guard let methods = try? session.call({ vault in try vault.status() }).methods,
      !methods.contains(where: { [SlotKind.pam.name, "fingerprint"].contains($0.name) && $0.available }),
      let method = methods.first(where: { $0.name == SlotKind.pam.name }), let reason = method.reason
    else { return }
    Output.note("slot \(slot) cannot be used yet: \(Hint.text(Sentence.joined(reason, method.advice)))")
  }
}

extension SlotRemoveCommand {
  /// Shows the kind and the label of the slot, with a warning if it is the only recovery code.
  fileprivate func noteSlot(_ session: Session) {
    guard let slots = try? session.call({ vault in try vault.slots() }), let slot = slots.first(where: { $0.id == id })
    else { return }
    let label = slot.label.isEmpty ? "" : " \(Printable.quoted(slot.label))"
    let others = slots.filter { $0.kind == SlotKind.recovery.name && $0.id != id }
    let isLast = slot.kind == SlotKind.recovery.name && others.isEmpty
    Output.note(
      "slot \(id) is of kind \(Printable.text(slot.kind))\(label)"
        + (isLast ? ", and the only recovery code: without it nothing replaces a forgotten password" : ""))
  }
}

struct SlotRemoveCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a way into the vault, but never the last password or recovery code.",
    discussion: "An earlier copy of the store still opens with the slot.")

  @Argument(
    help: ArgumentHelp("The number of the slot in `vault slot list`.", valueName: "number"),
    transform: { text in
      guard let number = Int(text) else {
        throw ValidationError("a slot is given by its number in \(Hint.vault("slot list"))")
      }
      return number
    })
  var id: Int

  @Flag(help: "Prove the right to remove a slot with a recovery code instead of a password.")
  var recovery = false

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws { try Refused.secretArguments(unexpected, of: self) }

  func run() throws {
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    if !globals.json, Keyboard.isAttended { noteSlot(session) }
    try session.converse(answers, isLast: false) { vault, method, answer in
      try vault.removeSlot(id, method: method ?? (recovery ? SlotKind.recovery.name : nil), answer: answer)
    }
    if globals.json {
      try Output.json { $0.add("removed", id) }
    } else if Keyboard.isAttended {
      try Rekeying.offer(
        session, because: "slot \(id) is removed; older copies of the store still open with it",
        secrets.passwordStdin ? nil : answers)
    }
  }
}
