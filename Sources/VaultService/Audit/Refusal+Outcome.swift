internal import VaultCore
package import VaultModel
internal import VaultStore

extension Refusal {
  /// The outcome of a refused call, for the audit log.
  package var outcome: AuditOutcome {
    switch self {
    // An attempt that came too soon was not made.
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
  /// Runs a caller's call, and records its outcome.
  ///
  /// If an entry must be on the disk before an answer, the call is not begun while no entry can be written.
  ///
  /// - Parameter need: the need in the terms of the call; ``CallTerms/Need/logUnlessFailed`` is for administrators
  ///   only.
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

  /// Runs a caller's call about one item, and records its outcome. `body` sets its argument to the item once it is
  /// found.
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

  /// The action of a call about two items on one of them.
  struct Deed {
    let action: AuditAction
    let item: ItemName
    let detail: String
  }

  /// Runs a caller's call about two items, and records its outcome for each under its own name. Only those names are
  /// counted beyond a part of the log. A refusal is recorded only for the item that it is about, unless the action was
  /// done before it.
  ///
  /// - Parameter body: sets its argument to the progress of the call.
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

  /// The progress of a call about two items.
  struct Course {
    /// The item on which a decision depends at the moment.
    enum Side {
      case source, target
    }

    var side = Side.target
    /// The items, once they are found.
    var source: ItemID?
    var target: ItemID?
    /// True once the recorded actions were done on both items, even if the call is refused after that.
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
