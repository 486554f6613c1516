internal import VaultModel

extension PresenceOutcome {
  /// The refusal for a person whose presence was checked; nil if the check succeeded.
  ///
  /// - Parameter wait: the milliseconds until the next attempt.
  func refusal(method: String, wait: Int) -> Refusal? {
    switch self {
    case .succeeded: nil
    case .failed: .authenticationFailed(method: method, wait: wait)
    case .unavailable(let reason, let advice): .unavailable(method, reason, advice)
    case .cancelled: .cancelled
    case .expired(let reason): .accountExpired(reason)
    case .tooManyTries: .tooManyTries
    case .broken(let reason): .presenceFailed(reason)
    }
  }
}
