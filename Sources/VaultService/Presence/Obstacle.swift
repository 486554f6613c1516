internal import VaultModel

/// Something that stands in the way of what is asked for, in words for a person.
package struct Obstacle: Equatable, Sendable {
  package var reason: String
  /// Advice what to do about it.
  package var advice: String?

  package init(_ reason: String, _ advice: String? = nil) {
    self.reason = reason
    self.advice = advice
  }

  /// Both in one.
  package var sentence: String { Clauses.joined(reason, advice) }
}
