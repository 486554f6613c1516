internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct DepositsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deposits",
    abstract: "List deposits that are not taken in, and accept or drop those that were kept aside.",
    subcommands: [DepositsListCommand.self, DepositsAcceptCommand.self, DepositsDropCommand.self],
    defaultSubcommand: DepositsListCommand.self)
}

struct DepositsListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the deposits that wait for the next unlock, and those kept aside, with the reason.",
    discussion: "Nothing else is known about a deposit that waits.")

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let deposits = try session.unlocking(for: "vault deposits") { vault in try vault.deposits() }
      .sorted { $0.number < $1.number }
    try DepositReport.write(deposits, json: globals.json)
    guard !globals.json, Keyboard.isAttended else { return }
    if deposits.isEmpty { Output.note("nothing waits, and nothing was kept aside") }
    Self.advise(deposits.filter { !$0.waiting })
  }

  /// Says what can be done about deposits that were kept aside.
  private static func advise(_ deposits: [Wire.DepositInfo]) {
    if let number = deposits.first(where: { !$0.isUnreadable && $0.defect == nil })?.number {
      Output.note(
        "\(Hint.vault("deposits accept \(number)")) stores deposit \(number) as if you had set it, and "
          + "\(Hint.vault("deposits drop \(number)")) deletes it")
    }
    if let number = deposits.first(where: \.isUnreadable)?.number {
      Output.note(
        "deposit \(number) cannot be accepted, because nobody can read it; \(Hint.vault("deposits drop \(number)")) "
          + "deletes it")
    }
    if let deposit = deposits.first(where: { $0.defect != nil }), let defect = deposit.defect {
      Output.note(
        "deposit \(deposit.number) cannot be accepted, because \(defect); "
          + "\(Hint.vault("deposits drop \(deposit.number)")) deletes it")
    }
    guard deposits.contains(where: { $0.reason == DepositObstacle.exists.text }) else { return }
    Output.note(
      "the right deposit alone only makes new items; to have the next deposits for existing items taken in, "
        + Hint.vault("grant SUBJECT ITEM --can deposit,set"))
  }
}

extension Wire.DepositInfo {
  /// The fault of the deposit's value, for which nobody can set it; nil if it is kept aside for another reason.
  fileprivate var defect: String? {
    [DepositObstacle.invalid, .noList, .neverRead].first { $0.text == reason }?.text
  }
}

struct DepositsAcceptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Make a deposit that was kept aside the value of its item, as if you had set the value.",
    discussion:
      "Shows what the deposit is, but not its value, and asks. The old value stays as an earlier version.")

  @OptionGroup var settlement: Settlement

  func run() throws {
    let settled = try settlement.settle(accept: true)
    if settlement.globals.json {
      try Output.json { object in
        object.add("accepted", settled) { accepted, settled in
          accepted.add("number", settled.deposit.number)
          accepted.add("name", settled.reply.name ?? settled.deposit.name)
          accepted.add("version", settled.reply.version)
        }
      }
    } else if Keyboard.isAttended {
      for (deposit, reply) in settled {
        let item = (reply.name ?? deposit.name).map { " of \(Printable.quoted($0))" } ?? ""
        Output.note(
          reply.version.map { "stored version \($0)\(item)" } ?? "accepted deposit \(deposit.number)")
      }
    }
  }
}

struct DepositsDropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Permanently delete a deposit that was kept aside.",
    discussion: "Shows what the deposit is, and asks.")

  @OptionGroup var settlement: Settlement

  func run() throws {
    let settled = try settlement.settle(accept: false)
    if settlement.globals.json {
      try Output.json { $0.add("dropped", settled.map(\.deposit.number)) }
    } else if Keyboard.isAttended {
      Output.note(
        settled.count == 1
          ? "dropped deposit \(settled[0].0.number)" : "dropped \(Counted.text(settled.count, "deposit"))")
    }
  }
}
