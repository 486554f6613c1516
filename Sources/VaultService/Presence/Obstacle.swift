internal import VaultModel

/// The reason why an operation is not possible, in words for a person.
package struct Obstacle: Equatable, Sendable {
  package var reason: String
  /// Advice on how to remove the obstacle.
  package var advice: String?

  package init(_ reason: String, _ advice: String? = nil) {
    self.reason = reason
    self.advice = advice
  }

  /// The reason and the advice in one sentence.
  package var sentence: String { Clauses.joined(reason, advice) }
}
