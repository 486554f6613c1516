internal import VaultCore
package import VaultModel
internal import VaultStore

extension Refusal {
  /// What came of a call that was refused so, for the audit log.
  package var outcome: AuditOutcome {
    switch self {
    // Nothing was tried where it is too soon.
    case .denied, .neverRead, .unanswered, .unapproved, .backingOff: .denied
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

  /// The same of a call that is about one item, whose identity `body` says by its argument once the item is found.
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: ItemName, detail: String? = nil,
    finding body: (inout ItemID?) throws(Refusal) -> R
  ) throws(Refusal) -> R {
    var id: ItemID?
    let result: R
    do throws(Refusal) {
      try settle(.log)
      result = try body(&id)
    } catch {
      record(action, error.outcome, caller, item: item.text, id: id, detail: detail)
      try settle(.log)
      throw error
    }
    record(action, .ok, caller, item: item.text, id: id, detail: detail)
    try settle(.log)
    return result
  }

  /// What a call that is about two items does to one of them.
  struct Deed {
    let action: AuditAction
    let item: ItemName
    let detail: String
  }

  /// Does what a caller asks for with two items, and records what comes of it for each under its own name, which
  /// is all that is counted beyond a part of the log. A refusal is of the one that it is about alone, unless the deed
  /// was done before it.
  ///
  /// - Parameter body: says by its argument how far it is.
  func recording<R>(
    _ source: Deed, _ target: Deed, _ caller: Caller, _ body: (inout Course) throws(Refusal) -> R
  ) throws(Refusal) -> R {
    var course = Course()
    let result: R
    do throws(Refusal) {
      try settle(.log)
      result = try body(&course)
    } catch {
      if course.isDone {
        record(source, target, course, caller)
      } else {
        switch course.side {
        case .source: record(source, error.outcome, course.source, caller)
        case .target: record(target, error.outcome, course.target, caller)
        }
      }
      try settle(.log)
      throw error
    }
    record(source, target, course, caller)
    try settle(.log)
    return result
  }

  /// The course of a call that is about two items.
  struct Course {
    /// The one of the two that something is decided by.
    enum Side {
      case source, target
    }

    var side = Side.target
    /// The items, once they are found.
    var source: ItemID?
    var target: ItemID?
    /// True once it has done with both what it is recorded as, even if it is refused after that.
    var isDone = false
  }

  private func record(_ source: Deed, _ target: Deed, _ course: Course, _ caller: Caller) {
    record(source, .ok, course.source, caller)
    record(target, .ok, course.target, caller)
  }

  private func record(_ deed: Deed, _ outcome: AuditOutcome, _ id: ItemID?, _ caller: Caller) {
    record(deed.action, outcome, caller, item: deed.item.text, id: id, detail: deed.detail)
  }
}

extension AuditOutcome {
  /// True where an entry may say which item was found: of what was denied, or is locked, a caller learns nothing, not
  /// even by how it is counted.
  var tellsItem: Bool {
    switch self {
    case .ok, .presence, .missing, .expired, .unproven, .invalid, .failed, .cancelled: true
    case .denied, .locked: false
    }
  }
}

extension Refusal {
  /// The way in by which somebody tried to show who it is, and did not; nil for any other refusal.
  var tried: String? {
    switch self {
    case .authenticationFailed(let method, _): "by \(method)"
    case .accountExpired, .tooManyTries, .presenceFailed: "by \(SlotKind.pam.name)"
    case .denied, .neverRead, .unanswered, .unapproved, .backingOff, .locked, .timedOut, .presenceRequired,
      .noSuchItem, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchRequest, .noSuchDeposit, .noVault, .expired,
      .invalid, .vaultExists, .invalidGrant, .lastSlot, .alreadyExists, .invalidName, .invalidValue, .wrongKind,
      .wrongUse, .notOnTheseTerms, .mistypedRecoveryCode, .invalidQuery, .weakSecret, .tooLarge, .tooMuch,
      .invalidBackup, .cancelled, .unavailable, .rekeying, .rekeyRests, .corrupt, .storageFailed, .outOfMemory, .busy,
      .misconfigured:
      nil
    }
  }
}
