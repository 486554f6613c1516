internal import VaultModel

/// A part of what a subject may fill of the audit log. None of them borrows from another: no number of searches keeps a
/// grant from being an entry.
enum AuditPart: Int, CaseIterable {
  /// Changes of rights, keys and ways in, and every secret that was tried, which the backoff bounds.
  case rights
  /// Values that were given or changed.
  case values
  /// Searches, and what was refused.
  case calls
  /// Counts of events beyond the other parts, by item.
  case counts

  /// The sixteenths of a subject's share that it is.
  var sixteenths: Int64 {
    switch self {
    case .rights: 4
    case .values: 8
    case .calls: 3
    case .counts: 1
    }
  }

  /// The part that an entry takes.
  ///
  /// - Parameter isDaemon: true for what nobody has asked for.
  init(of action: AuditAction, _ outcome: AuditOutcome, isDaemon: Bool) {
    switch action {
    case .get, .use, .set, .delete, .move, .deposit: self = Self.isDone(outcome) ? .values : .calls
    case .grant, .revoke, .unlock, .lock, .slot, .passwd, .rekey, .backup, .restore, .salvage, .export, .create, .proof,
      .approve, .deny, .clock:
      self = Self.isDone(outcome) || Self.wasTried(outcome) ? .rights : .calls
    // Reading the log is a search in it; what the daemon finds in it, or changes of it, is none.
    case .audit: self = isDaemon ? .rights : .calls
    // Whoever may signal the daemon has it read its settings; what that changes of the log is an entry of its own.
    case .find, .settings, .call, .request, .attend, .dismiss, .receipt: self = .calls
    }
  }

  private static func isDone(_ outcome: AuditOutcome) -> Bool {
    switch outcome {
    case .ok: true
    case .denied, .locked, .presence, .missing, .expired, .unproven, .invalid, .failed, .cancelled: false
    }
  }

  private static func wasTried(_ outcome: AuditOutcome) -> Bool {
    switch outcome {
    case .unproven: true
    case .ok, .denied, .locked, .presence, .missing, .expired, .invalid, .failed, .cancelled: false
    }
  }
}
