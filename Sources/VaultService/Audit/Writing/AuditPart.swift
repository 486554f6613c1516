internal import VaultModel

/// A part of a subject's share of the audit log, with the counts of events beyond it. The parts are separate: no number
/// of searches can keep a grant from having an entry, or from being counted by name.
///
/// The cases are in the order in which counts are written.
enum AuditPart: Int, CaseIterable {
  /// Changes of rights, keys and slots, and every secret that was tried.
  case rights
  /// Values that were read or changed.
  case values
  /// Searches and refused calls.
  case calls

  /// The quarters of a subject's share that the part has.
  var quarters: Int64 {
    switch self {
    case .rights, .calls: 1
    case .values: 2
    }
  }

  /// The use of a part, which decides how far it may be filled.
  enum Use {
    /// An entry.
    case entry
    /// A count of events beyond the entries.
    case count
    /// A count that cannot wait any longer: when the daemon ends, and when names must be forgotten.
    case lastCount

    /// The quarters of the part up to which it may be filled.
    var quarters: Int64 {
      switch self {
      case .entry: 3
      case .count: 4
      case .lastCount: 5
      }
    }
  }

  /// The eighths up to which the part's entries, or its counts, may fill a room that all subjects share. A quarter of
  /// the room is for rights alone, and counts have room that no entry takes.
  func eighths(for use: Use) -> Int64 {
    switch (self, use) {
    case (.rights, _): 8
    case (.calls, .entry): 3
    case (.values, .entry): 4
    case (.calls, .count), (.calls, .lastCount), (.values, .count): 5
    case (.values, .lastCount): 6
    }
  }

  /// The part toward which an entry counts.
  ///
  /// - Parameter isDaemon: true for an event that nobody has asked for.
  init(of action: AuditAction, _ outcome: AuditOutcome, isDaemon: Bool) {
    switch outcome {
    // A secret was tried, whatever the call.
    case .unproven: self = .rights
    case .ok: self = Self.ofDone(action, isDaemon: isDaemon)
    case .cancelled: self = Self.cancellationChangesKeys(action) ? .rights : Self.ofUndone(action, isDaemon: isDaemon)
    case .denied, .locked, .presence, .missing, .expired, .invalid, .failed:
      self = Self.ofUndone(action, isDaemon: isDaemon)
    }
  }

  private static func ofDone(_ action: AuditAction, isDaemon: Bool) -> AuditPart {
    switch action {
    // Every caller may announce an export or an import, so its entry is no change of rights. Each value that it gives
    // away or stores has an entry of its own.
    case .get, .use, .set, .delete, .move, .deposit, .export, .import: .values
    case .grant, .revoke, .unlock, .lock, .slot, .passwd, .rekey, .backup, .restore, .salvage, .create, .proof,
      .approve, .deny, .clock:
      .rights
    // A reading of the log counts as a search. If the daemon itself finds a fault in the log or changes the log, that
    // counts as a change of rights.
    case .audit: isDaemon ? .rights : .calls
    // Anybody who may signal the daemon can make it read its settings; a change of the log's settings has an entry of
    // its own.
    case .find, .settings, .call, .request, .attend, .dismiss, .receipt: .calls
    }
  }

  private static func ofUndone(_ action: AuditAction, isDaemon: Bool) -> AuditPart {
    action == .audit && isDaemon ? .rights : .calls
  }

  /// True for an action whose cancellation changes the keys: a rekey, whose second store is removed.
  private static func cancellationChangesKeys(_ action: AuditAction) -> Bool {
    switch action {
    case .rekey: true
    case .get, .use, .set, .delete, .move, .find, .grant, .revoke, .deposit, .unlock, .lock, .slot, .passwd, .backup,
      .restore, .salvage, .export, .settings, .audit, .create, .call, .proof, .request, .approve, .deny, .attend,
      .dismiss, .receipt, .clock, .import:
      false
    }
  }
}
