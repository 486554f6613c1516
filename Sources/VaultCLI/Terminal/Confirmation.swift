internal import VaultWire

/// A question that a person must answer with yes before something is done. It is refused if nobody can be asked.
struct Confirmation {
  /// The effect, for the refusal if nobody can be asked: "this would delete 2 items".
  let consequence: String
  let question: String
  /// Facts for the decision, each on its own line above the question.
  var facts: [String] = []
  /// The way to do it without a question.
  var advice = "add --yes to confirm"

  /// Asks the question.
  ///
  /// - Throws: ``Failure`` if the answer is not yes, or there is no terminal.
  func ask() throws(Failure) {
    guard Keyboard.canAsk else { throw .unasked(consequence, advice: advice) }
    let keyboard = try Keyboard(otherwise: advice)
    try keyboard.awaitTurn()
    for fact in facts { try keyboard.show("  \(fact)\n") }
    guard try keyboard.confirm(question) else { throw Failure(Fault.cancelled) }
  }
}

extension Failure {
  /// The failure of a command that needs an answer and has no terminal to ask on. It works on a terminal, and elsewhere
  /// as the advice says.
  static func unasked(_ event: String = "no terminal to ask on", advice: String) -> Failure {
    Failure(.retry, event, advice)
  }
}
