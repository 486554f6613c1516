/// The outcome of a presence check. The cases are never used for each other: only the first means yes, and only the
/// second means that somebody tried and was not recognized.
public enum PresenceOutcome: Hashable, Sendable {
  case succeeded
  /// A wrong password or an unknown finger.
  case failed
  /// The check was not possible; with advice on what to do, if the daemon knows.
  case unavailable(String, advice: String? = nil)
  case cancelled
  /// The person was recognized, but the account or the password has expired.
  case expired(String)
  case tooManyTries
  /// The check itself went wrong: the helper crashed, hung, or sent an invalid answer.
  case broken(String)

  /// The word that stands for the outcome in messages.
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
