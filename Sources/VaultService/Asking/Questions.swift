internal import VaultCore

/// The number of a question: six digits, by which people and programs answer it.
package struct QuestionNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let value: Int

  package init(_ value: Int) { self.value = value }

  package var description: String { "\(value)" }

  package static func < (left: QuestionNumber, right: QuestionNumber) -> Bool { left.value < right.value }
}

/// The book of the questions that are open, and of the calls that wait for their answers.
///
/// A question is a request for a right, an approval of one, an inquiry, or a prompt of the keyring, and each has a
/// number of its own: an approval keeps the number of its request, the inquiry about a request has the request's, and a
/// call that waits for the answer waits for that number (``Waiting/Event/question(_:)``).
final class Questions {
  /// The requests for rights that no grant gives, and their results. Only ``Access`` changes them.
  let requests: Requests
  /// The inquiries, which ``Attendance`` puts to people.
  let inquiries = Inquiries()
  /// The open prompts of programs that use the keyring.
  let prompts: KeyringPrompts
  let waiting = Waiting()
  /// The calls that have stopped waiting without an answer.
  let refusals: Refusals
  /// Draws a number.
  var draw: () -> Int = { 100_000 + Int(RandomBytes.uniform(below: 900_000)) }

  init(in holders: SecretHolders, _ clock: Clock) {
    requests = Requests(in: holders)
    prompts = KeyringPrompts(in: holders)
    refusals = Refusals(waiting, clock)
  }

  /// A number that stands for no question yet.
  func freeNumber() -> QuestionNumber {
    while true {
      let number = QuestionNumber(draw())
      if !requests.has(number), inquiries[number] == nil, prompts[number] == nil { return number }
    }
  }
}
