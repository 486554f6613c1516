internal import VaultCore
internal import VaultModel

// The brackets around calls that have entries of their own.
extension Audit {
  /// Runs a call, and records its end.
  ///
  /// If an entry must be on the disk before an answer, the call is not begun while no entry can be written, and the
  /// entry is on the disk when this returns.
  ///
  /// - Parameters:
  ///   - need: the need in the terms of the call; ``CallTerms/Need/logUnlessFailed`` is for administrators only.
  ///   - end: records the end of the call, with its refusal; nil for a call that was not refused.
  @inline(__always)
  func recording<R: ~Copyable>(
    needs need: CallTerms.Need = .log, _ body: () throws(Refusal) -> R, end: (Refusal?) -> Void
  ) throws(Refusal) -> R {
    let result: R
    do throws(Refusal) {
      try settle(need)
      result = try body()
    } catch {
      end(error)
      try settle(need)
      throw error
    }
    end(nil)
    try settle(need)
    return result
  }

  /// Runs a caller's call, and records its outcome.
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: String?, detail: String? = nil, _ said: Said? = nil,
    needs need: CallTerms.Need = .log, _ body: () throws(Refusal) -> R
  ) throws(Refusal) -> R {
    try recording(needs: need, body) { refusal in
      record(action, refusal.outcome, caller, item: item, detail: detail, said)
    }
  }

  /// Runs a caller's call about one item, and records its outcome. `body` sets its argument to the item once it is
  /// found.
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: ItemName, detail: String? = nil,
    finding body: (inout ItemID?) throws(Refusal) -> R
  ) throws(Refusal) -> R {
    var id: ItemID?
    return try recording { () throws(Refusal) in
      try body(&id)
    } end: { refusal in
      record(action, refusal.outcome, caller, item: item.text, id: id, detail: detail)
    }
  }

  /// The action of a call about two items on one of them.
  struct Deed {
    let action: AuditAction
    let item: ItemName
    let detail: String
  }

  /// Runs a caller's call about two items, and records its outcome for each item under the item's own name. If an entry
  /// does not fit into the subject's part of the log, its count has the name but not the detail. A refusal is recorded
  /// only for the item that it is about, unless the action was done before the refusal.
  ///
  /// - Parameter body: sets its argument to the progress of the call.
  func recording<R>(
    _ source: Deed, _ target: Deed, _ caller: Caller, _ body: (inout Course) throws(Refusal) -> R
  ) throws(Refusal) -> R {
    var course = Course()
    return try recording { () throws(Refusal) in
      try body(&course)
    } end: { refusal in
      // An action that was done is recorded as done, even if its call is refused after that.
      let outcome = course.isDone ? .ok : refusal.outcome
      if outcome == .ok || course.side == .source { record(source, outcome, course.source, caller) }
      if outcome == .ok || course.side == .target { record(target, outcome, course.target, caller) }
    }
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

  private func record(_ deed: Deed, _ outcome: AuditOutcome, _ id: ItemID?, _ caller: Caller) {
    record(deed.action, outcome, caller, item: deed.item.text, id: id, detail: deed.detail)
  }
}

extension Refusal? {
  /// The outcome of a call that was refused, or not, for the audit log.
  var outcome: AuditOutcome { self?.outcome ?? .ok }
}
