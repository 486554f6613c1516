package import VaultModel
internal import VaultStore

extension Refusal {
  /// What came of a call that was refused so, for the audit log.
  package var outcome: AuditOutcome {
    switch self {
    case .denied, .unanswered, .unapproved: .denied
    case .locked, .timedOut: .locked
    case .presenceRequired: .presence
    case .noSuchItem, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchRequest, .noSuchDeposit, .noVault: .missing
    case .expired: .expired
    case .authenticationFailed, .mistypedRecoveryCode, .backingOff, .accountExpired, .tooManyTries, .presenceFailed:
      .unproven
    case .invalid, .vaultExists, .invalidGrant, .lastSlot, .alreadyExists, .invalidName, .invalidValue, .wrongKind,
      .wrongUse, .notOnTheseTerms,
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
  /// - Parameter isRescue: true for what an administrator does to find out what is left of a store that has failed, and to
  ///   save it. Nothing is ever written to such a store, so the entry is not waited for.
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: String?, detail: String? = nil, _ said: Said? = nil,
    isRescue: Bool = false, _ body: () throws(Refusal) -> R
  ) throws(Refusal) -> R {
    let result: R
    do throws(Refusal) {
      try settle(isRescue)
      result = try body()
    } catch {
      record(action, error.outcome, caller, item: item, detail: detail, said)
      try settle(isRescue)
      throw error
    }
    record(action, .ok, caller, item: item, detail: detail, said)
    try settle(isRescue)
    return result
  }

  private func settle(_ isRescue: Bool) throws(Refusal) {
    if !isRescue || keychain()?.hasFailed != true { try settle() }
  }
}
