internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The arguments of the commands that accept or drop deposits which were kept aside.
struct Settlement: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The numbers of the deposits, as `vault deposits` shows them.", valueName: "numbers"),
    completion: Completes.deposit.kind, transform: Settlement.number)
  var numbers: [Int]

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var globals: Globals

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else { throw ValidationError("deposits are counted from 1") }
    return number
  }

  /// Shows the deposits and asks, then accepts or drops each. Does nothing unless all of them were kept aside.
  func settle(accept: Bool) throws(Failure) -> [(deposit: Wire.DepositInfo, reply: Wire.SettleDepositReply)] {
    let session = try Session(globals)
    // A locked vault reveals too little about deposits for a decision.
    if Keyboard.canAsk { try session.unlockIfLocked(isForAdministrators: true) }
    let deposits = try find(session, accept: accept)
    if !yes { try ask(deposits, accept: accept) }
    var settled: [(deposit: Wire.DepositInfo, reply: Wire.SettleDepositReply)] = []
    for deposit in deposits {
      do throws(Failure) {
        let reply = try session.unlocking { vault in try vault.settleDeposit(deposit.number, accept: accept) }
        settled.append((deposit, reply))
      } catch {
        // Nobody can correct a deposit.
        let advice = accept && error.exit == .invalid ? Self.drop(deposit.number) : error.advice
        guard deposits.count > 1 else { throw Failure(error.exit, error.event, advice) }
        let done = "\(settled.count) \(accept ? "accepted" : "dropped") before that"
        throw Failure(error.exit, "deposit \(deposit.number): \(error.event) (\(done))", advice)
      }
    }
    return settled
  }

  /// Returns the deposits of the given numbers, each once, in the order given.
  private func find(_ session: Session, accept: Bool) throws(Failure) -> [Wire.DepositInfo] {
    let all = try session.unlocking { vault in try vault.deposits() }
    var found: [Wire.DepositInfo] = []
    for number in numbers where !found.contains(where: { $0.number == number }) {
      guard let deposit = all.first(where: { $0.number == number }) else {
        throw Failure(Fault.noSuchDeposit(number: number))
      }
      guard !deposit.waiting else {
        throw Failure(
          .retry, "deposit \(number) waits for the next unlock", "open the vault with \(Hint.vault("unlock"))")
      }
      if accept, deposit.isUnreadable {
        let reason = deposit.reason.map { Printable.text($0) } ?? ""
        throw Failure(.invalid, "deposit \(number) cannot be accepted: \(reason)", Self.drop(number))
      }
      found.append(deposit)
    }
    return found
  }

  /// The advice about a deposit that cannot be accepted.
  private static func drop(_ number: Int) -> String { "\(Hint.vault("deposits drop \(number)")) deletes it" }

  private func ask(_ deposits: [Wire.DepositInfo], accept: Bool) throws(Failure) {
    let verb = accept ? "accept" : "drop"
    let what = Counted.text(deposits.count, "deposit")
    let these = deposits.count == 1 ? "it" : "these \(what)"
    let them = deposits.count == 1 ? "it" : "them"
    let question = accept ? "Store \(these) as if you had set \(them)?" : "Delete \(these) for good?"
    try Confirmation(
      consequence: "this would \(verb) \(what)", question: question, facts: deposits.map(\.sentence)
    ).ask()
  }
}
