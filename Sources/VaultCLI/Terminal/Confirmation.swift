internal import VaultWire

/// A question that a person answers with yes before something is done, and the refusal where nobody can be asked.
struct Confirmation {
  /// The effect, as it is told where nobody can be asked: "this would delete 2 items".
  let consequence: String
  let question: String
  /// Facts to decide by, each on a line of its own above the question.
  var facts: [String] = []
  /// The way to have it done without a question.
  var advice = "add --yes if that is meant"

  /// Asks.
  ///
  /// - Throws: ``Failure`` where the answer is another than yes, and where there is no terminal.
  func ask() throws(Failure) {
    guard Keyboard.canAsk else { throw .unasked(consequence, advice: advice) }
    let keyboard = try Keyboard(otherwise: advice)
    for fact in facts { try keyboard.show("  \(fact)\n") }
    guard try keyboard.confirm(question) else { throw Failure(Fault.cancelled) }
  }
}

extension Failure {
  /// The failure of whatever needs an answer where there is no terminal to ask on: on one it works, and elsewhere as the
  /// advice says.
  static func unasked(_ event: String = "no terminal to ask on", advice: String) -> Failure {
    Failure(.retry, event, advice)
  }
}
