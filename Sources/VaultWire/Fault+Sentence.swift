extension Fault {
  /// One line about the error, in words for a person. It contains no part of a secret.
  public var sentence: String {
    switch self {
    case .noVault: "there is no vault yet"
    case .vaultExists: "there is already a vault"
    case .locked: "the vault is locked"
    case .timedOut: "nobody unlocked the vault, or showed presence, during the wait"
    case .unanswered: "nobody answered the request during the wait"
    case .noSuchItem(let name, _): "there is no item `\(name)`"
    case .noSuchRequest: "there is no such request, or it is gone"
    case .alreadyExists(let name, _): "`\(name)` already exists"
    case .authenticationFailed("pam", _): "the person was not recognized"
    case .authenticationFailed("recovery", _): "the recovery code was wrong"
    case .authenticationFailed: "the password was wrong"
    case .mistypedRecoveryCode: "the recovery code is mistyped: its checksum does not match"
    case .backingOff: "it is too soon after the last attempt"
    case .tooManyTries: "there were too many wrong attempts"
    case .methodUnavailable(let method, let reason, _): "`\(method)` cannot be used: \(reason)"
    case .presenceFailed(let reason): "it could not be checked who is there: \(reason)"
    case .presenceRequired(_, let require): "this requires \(require)"
    case .cancelled: "the question was not answered, or its answer was wrong"
    case .noSuchConversation: "the question is no longer open"
    case .denied(let reason, _): "denied: \(reason)"
    case .tooManyConnections(_, let limit): "the daemon has reached its limit of \(limit) clients"
    case .tooManyRequests(let uid): "the processes of uid \(uid) ask for too much at once"
    case .outOfMemory: "the daemon has not enough memory for this"
    case .accountExpired(let reason), .invalidGrant(let reason), .weakSecret(let reason), .tooMuch(let reason),
      .busy(let reason), .invalidBackup(let reason), .misconfigured(let reason), .storageFailed(let reason),
      .corrupt(let reason, _, _), .invalidName(_, let reason, _), .invalidValue(_, let reason, _, _),
      .notOnTheseTerms(_, let reason), .invalidQuery(let reason, _):
      reason
    default: "the daemon answered \(fullName)"
    }
  }
}
