internal import VaultCore
package import VaultModel

extension Refusal {
  /// The outcome of a refused call, for the audit log.
  package var outcome: AuditOutcome {
    switch self {
    // An attempt that came too soon (`backingOff`) counts as denied and not as unproven, because no secret was tried.
    case .denied, .neverRead, .unanswered, .unapproved, .approvalLost, .backingOff: .denied
    case .locked, .timedOut: .locked
    case .presenceRequired, .unshown: .presence
    case .noSuchItem, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchRequest, .noSuchDeposit, .noVault: .missing
    case .expired: .expired
    case .authenticationFailed, .accountExpired, .tooManyTries, .presenceFailed:
      .unproven
    case .invalid, .vaultExists, .invalidGrant, .lastSlot, .alreadyExists, .invalidName, .invalidValue,
      .needsAnotherItem, .wrongKind, .wrongUse, .notOnTheseTerms, .mistypedRecoveryCode, .invalidQuery, .weakSecret,
      .tooLarge, .tooMuch, .invalidBackup:
      .invalid
    case .cancelled: .cancelled
    case .unavailable, .rekeying, .rekeyRests, .corrupt, .storageFailed, .unrecorded, .outOfMemory, .busy,
      .misconfigured:
      .failed
    }
  }
}

extension AuditOutcome {
  /// True when an entry may contain the item that was found. If an item is denied or locked, the caller must not learn
  /// anything about it, not even from how calls are counted.
  var tellsItem: Bool {
    switch self {
    case .ok, .presence, .missing, .expired, .unproven, .invalid, .failed, .cancelled: true
    case .denied, .locked: false
    }
  }
}

extension Refusal {
  /// The method by which a person tried to prove the right, and failed; nil for any other refusal.
  var tried: String? {
    guard outcome == .unproven else { return nil }
    if case .authenticationFailed(let method, _) = self { return "by \(method)" }
    return "by \(SlotKind.pam.name)"
  }
}
