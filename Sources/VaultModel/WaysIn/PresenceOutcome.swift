/// The end of a check of who is there. The cases never stand in for each other: only the first is a yes, and only the
/// second says that somebody tried and was not the one.
public enum PresenceOutcome: Hashable, Sendable {
  case succeeded
  /// A wrong password, an unknown finger.
  case failed
  /// It could not be tried; with what to do about it, where the daemon knows.
  case unavailable(String, advice: String? = nil)
  case cancelled
  /// The person is the one, but the account or the password is past its time.
  case expired(String)
  case tooManyTries
  /// The check itself went wrong: the helper crashed, hung or said what it must not.
  case broken(String)

  /// The word it travels as.
  package var word: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .unavailable: "unavailable"
    case .cancelled: "cancelled"
    case .expired: "expired"
    case .tooManyTries: "too-many-tries"
    case .broken: "broken"
    }
  }

  /// The reason, for the cases that have one.
  public var reason: String? {
    switch self {
    case .unavailable(let reason, _), .expired(let reason), .broken(let reason): reason
    case .succeeded, .failed, .cancelled, .tooManyTries: nil
    }
  }

  package init?(word: String, reason: String?) {
    switch (word, reason) {
    case ("succeeded", nil): self = .succeeded
    case ("failed", nil): self = .failed
    case ("cancelled", nil): self = .cancelled
    case ("too-many-tries", nil): self = .tooManyTries
    case ("unavailable", let reason?): self = .unavailable(reason)
    case ("expired", let reason?): self = .expired(reason)
    case ("broken", let reason?): self = .broken(reason)
    default: return nil
    }
  }
}
