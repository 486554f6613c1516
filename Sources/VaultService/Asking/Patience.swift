internal import VaultModel

/// The time for which a call waits for a person.
package enum Patience: Sendable {
  /// The call does not wait.
  case none
  /// The call waits until this time, in `CLOCK_MONOTONIC` nanoseconds, and only while an agent can ask a person.
  case whileAsked(until: Int64)
  /// The call waits until this time, in `CLOCK_MONOTONIC` nanoseconds, whether an agent is there or not; nil for as
  /// long as its client waits.
  case anyway(until: Int64?)
  /// The call waits for as long as its client does, for presence, too, and whether an agent is there or not. Nobody but
  /// its client ends it: a person who puts the question off is asked again.
  case untilServed

  /// The longest time that a call waits for a person, in milliseconds.
  private static let longest = 86_400_000

  /// The patience of a call that names the milliseconds for which it waits.
  ///
  /// - Parameters:
  ///   - milliseconds: the time; nil if the call does not say.
  ///   - asks: true if the call waits only while an agent can ask a person.
  package init(milliseconds: Int?, asks: Bool, _ clock: Clock) {
    guard let milliseconds = milliseconds ?? (asks ? UsualPatience.milliseconds : nil), milliseconds > 0 else {
      self = .none
      return
    }
    let end = clock.monotonic() + Int64(min(milliseconds, Self.longest)) * 1_000_000
    self = asks ? .whileAsked(until: end) : .anyway(until: end)
  }

  /// The patience of a client whose protocol has no words for waiting.
  package static func usual(_ clock: Clock) -> Patience { Patience(milliseconds: nil, asks: true, clock) }
}
