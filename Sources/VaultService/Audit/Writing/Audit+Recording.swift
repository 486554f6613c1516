internal import VaultCore
internal import VaultModel
internal import VaultStore

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

  /// The entry of a call that takes effect only together with it; see ``recording(_:_:_:detail:within:deciding:)``.
  final class Entry {
    /// The item that the call is about, once it is found.
    var item: ItemID?
    /// Words about the result, which follow the detail.
    var result: String?
    fileprivate let caller: Caller
    private let write: (AuditOutcome, Entry) -> Void
    /// The entry of the call that this one is a part of.
    fileprivate let outer: Entry?
    fileprivate(set) var isWritten = false

    fileprivate init(of caller: Caller, within outer: Entry?, _ write: @escaping (AuditOutcome, Entry) -> Void) {
      (self.caller, self.outer, self.write) = (caller, outer, write)
    }

    fileprivate func record(_ outcome: AuditOutcome) { write(outcome, self) }
  }

  /// Runs a caller's call, and records its outcome. What the call changes takes effect only within
  /// ``taking(effect:with:)`` or after it, so that nothing takes effect without an entry where one is required, and no
  /// entry says of a change that failed that it was made.
  ///
  /// - Parameter outer: the entry of the call that this one is a part of, which takes effect together with it.
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: String?, detail: String? = nil, within outer: Entry? = nil,
    deciding body: (Entry) throws(Refusal) -> R
  ) throws(Refusal) -> R {
    let entry = Entry(of: caller, within: outer) { [unowned self] outcome, entry in
      let words = [detail, entry.result].compactMap { $0 }
      record(
        action, outcome, caller, item: item, id: entry.item,
        detail: words.isEmpty ? nil : words.joined(separator: ", "))
    }
    let result: R
    do throws(Refusal) {
      try settle()
      result = try body(entry)
    } catch {
      entry.record(error.outcome)
      try settle()
      throw error
    }
    if entry.isWritten {
      caller.passage.isSettled = true
    } else {
      entry.record(.ok)
      try settle()
    }
    return result
  }

  /// Makes a change of the store, and writes the entry of the call in the same transaction if an entry must be on the
  /// disk before the answer.
  ///
  /// - Parameter change: the change; by default none, for a call that changes only what is in memory. That is changed
  ///   after this has returned, and must not fail then.
  func taking(
    effect change: () throws(VaultError) -> Void = {}, with entry: Entry
  ) throws(VaultError) {
    guard isRequired, !entry.isWritten, isReady, let keychain = keychain() else { return try change() }
    // The entries from before stay even if this one does not.
    guard seal(keychain) else { throw .storage(problem ?? "") }
    let before = usage(of: sequence(first: entry, next: \.outer).map(\.caller))
    do throws(VaultError) {
      try keychain.transaction { () throws(VaultError) in
        for entry in sequence(first: entry, next: \.outer) { entry.record(.ok) }
        guard seal(keychain), sealTally(keychain) else { throw .storage(problem ?? "") }
      } _: { () throws(VaultError) in
        try change()
      }
    } catch {
      putBack(before)
      throw error
    }
    for entry in sequence(first: entry, next: \.outer) { entry.isWritten = true }
    haveWritten()
  }

  /// Writes the entry of a call that changes only what is in memory; see ``taking(effect:with:)``.
  func settle(_ entry: Entry) throws(Refusal) {
    do throws(VaultError) { try taking(with: entry) } catch {
      note(error)
      throw .storageFailed("the audit log, which is required, cannot be written: \(error.text)")
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
