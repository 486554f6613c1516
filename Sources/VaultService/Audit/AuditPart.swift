internal import VaultModel

/// A part of what a subject may fill of the audit log, with the counts of what is beyond it. None of them borrows from
/// another: no number of searches keeps a grant from being an entry, or from being counted by name.
///
/// They stand in the order in which what was counted is written down.
enum AuditPart: Int, CaseIterable {
  /// Changes of rights, keys and ways in, and every secret that was tried.
  case rights
  /// Values that were given or changed.
  case values
  /// Searches, and what was refused.
  case calls

  /// The quarters of a subject's share that it is.
  var quarters: Int64 {
    switch self {
    case .rights, .calls: 1
    case .values: 2
    }
  }

  /// A use of a part, which says how far of it that may go.
  enum Use {
    /// An entry.
    case entry
    /// A count of what is beyond the entries.
    case count
    /// The same where it cannot wait any longer: at the daemon's end, and where names are to be forgotten.
    case lastCount

    /// The quarters of a part up to which it may go.
    var quarters: Int64 {
      switch self {
      case .entry: 3
      case .count: 4
      case .lastCount: 5
      }
    }
  }

  /// The part that an entry takes.
  ///
  /// - Parameter isDaemon: true for what nobody has asked for.
  init(of action: AuditAction, _ outcome: AuditOutcome, isDaemon: Bool) {
    switch outcome {
    // A secret was tried, in whatever call.
    case .unproven: self = .rights
    case .ok: self = Self.ofDone(action, isDaemon: isDaemon)
    case .cancelled: self = Self.isChangeItself(action) ? .rights : Self.ofUndone(action, isDaemon: isDaemon)
    case .denied, .locked, .presence, .missing, .expired, .invalid, .failed:
      self = Self.ofUndone(action, isDaemon: isDaemon)
    }
  }

  private static func ofDone(_ action: AuditAction, isDaemon: Bool) -> AuditPart {
    switch action {
    case .get, .use, .set, .delete, .move, .deposit: .values
    case .grant, .revoke, .unlock, .lock, .slot, .passwd, .rekey, .backup, .restore, .salvage, .export, .create, .proof,
      .approve, .deny, .clock:
      .rights
    // Reading the log is a search in it; what the daemon finds in it, or changes of it, is none.
    case .audit: isDaemon ? .rights : .calls
    // Whoever may signal the daemon has it read its settings; what that changes of the log is an entry of its own.
    case .find, .settings, .call, .request, .attend, .dismiss, .receipt: .calls
    }
  }

  private static func ofUndone(_ action: AuditAction, isDaemon: Bool) -> AuditPart {
    action == .audit && isDaemon ? .rights : .calls
  }

  /// True for what changes the keys by being called off: a rekey, whose store is dropped.
  private static func isChangeItself(_ action: AuditAction) -> Bool {
    switch action {
    case .rekey: true
    case .get, .use, .set, .delete, .move, .find, .grant, .revoke, .deposit, .unlock, .lock, .slot, .passwd, .backup,
      .restore, .salvage, .export, .settings, .audit, .create, .call, .proof, .request, .approve, .deny, .attend,
      .dismiss, .receipt, .clock:
      false
    }
  }
}
