package import VaultModel

extension Refusal {
  /// What came of a call that was refused so, for the audit log.
  package var outcome: AuditOutcome {
    switch self {
    case .denied: .denied
    case .locked, .timedOut: .locked
    case .presenceRequired: .presence
    case .noSuchItem, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchDeposit, .noVault: .missing
    case .expired: .expired
    case .authenticationFailed, .mistypedRecoveryCode, .backingOff, .accountExpired, .tooManyTries, .presenceFailed:
      .unproven
    case .invalid, .vaultExists, .invalidGrant, .lastSlot, .alreadyExists, .invalidName, .invalidValue, .wrongKind,
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
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: String?, detail: String? = nil, _ said: Said? = nil,
    _ body: () throws(Refusal) -> R
  ) throws(Refusal) -> R {
    let result: R
    do throws(Refusal) {
      try settle()
      result = try body()
    } catch {
      record(action, error.outcome, caller, item: item, detail: detail, said)
      try settle()
      throw error
    }
    record(action, .ok, caller, item: item, detail: detail, said)
    try settle()
    return result
  }
}
