package import VaultModel
internal import VaultStore

extension Refusal {
  /// What came of a call that was refused so, for the audit log.
  package var outcome: AuditOutcome {
    switch self {
    // Nothing was tried where it is too soon.
    case .denied, .unanswered, .unapproved, .backingOff: .denied
    case .locked, .timedOut: .locked
    case .presenceRequired: .presence
    case .noSuchItem, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchRequest, .noSuchDeposit, .noVault: .missing
    case .expired: .expired
    case .authenticationFailed, .accountExpired, .tooManyTries, .presenceFailed:
      .unproven
    case .invalid, .vaultExists, .invalidGrant, .lastSlot, .alreadyExists, .invalidName, .invalidValue, .wrongKind,
      .wrongUse, .notOnTheseTerms, .mistypedRecoveryCode,
      .invalidQuery, .weakSecret, .tooLarge, .tooMuch, .invalidBackup:
      .invalid
    case .cancelled: .cancelled
    case .unavailable, .rekeying, .rekeyRests, .corrupt, .storageFailed, .outOfMemory, .busy, .misconfigured: .failed
    }
  }
}

extension Audit {
  /// Does what a caller asks for, and records what comes of it.
  ///
  /// Where an entry has to be on the disk before an answer, nothing is begun while it cannot be written.
  ///
  /// - Parameter need: as the call's terms have it; ``CallTerms/Need/logUnlessFailed`` is for administrators alone.
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: String?, detail: String? = nil, _ said: Said? = nil,
    needs need: CallTerms.Need = .log, _ body: () throws(Refusal) -> R
  ) throws(Refusal) -> R {
    let result: R
    do throws(Refusal) {
      try settle(need)
      result = try body()
    } catch {
      record(action, error.outcome, caller, item: item, detail: detail, said)
      try settle(need)
      throw error
    }
    record(action, .ok, caller, item: item, detail: detail, said)
    try settle(need)
    return result
  }
}
