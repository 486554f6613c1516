internal import VaultCore
internal import VaultModel
internal import VaultStore

// The brackets around calls that have entries of their own.
extension Audit {
  /// Runs a call, and records its end.
  ///
  /// If an entry must be on the disk before an answer, the call is not begun while no entry can be written, and the
  /// entry is on the disk when this returns. A call whose entry cannot be written at its end is refused, and the
  /// refusal is recorded as well, because the first entry may be sealed already and is then written unchanged once
  /// there is room.
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
    do throws(Refusal) { try settle(need) } catch {
      end(error)
      throw error
    }
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

  /// The entries of a call that takes effect only together with them; see ``recording(by:within:deciding:entries:)``.
  final class Entry {
    /// The item that the call is about, once it is found.
    var item: ItemID?
    /// Words about the result, which follow the detail.
    var result: String?
    /// The subjects besides the caller's toward whose shares of the log the entries count.
    var others: [AuditSubject] = []
    fileprivate let caller: Caller
    private let write: (AuditOutcome, Entry) -> Void
    /// The entries of the outer call, of which this call is a part.
    private let outer: Entry?
    private(set) var isWritten = false

    fileprivate init(of caller: Caller, within outer: Entry?, _ write: @escaping (AuditOutcome, Entry) -> Void) {
      (self.caller, self.outer, self.write) = (caller, outer, write)
    }

    /// These entries, and those of all outer calls.
    fileprivate var chain: UnfoldFirstSequence<Entry> { sequence(first: self, next: \.outer) }

    fileprivate func record(_ outcome: AuditOutcome) { write(outcome, self) }

    fileprivate func haveWritten() { isWritten = true }
  }

  /// Runs a caller's call, and records its outcome. What the call changes takes effect only within
  /// ``taking(effect:with:)`` or after it, so that nothing takes effect without an entry where one is required, and no
  /// entry reports a failed change as made.
  ///
  /// - Parameters:
  ///   - outer: the entries of the outer call, of which this call is a part. Both calls take effect together.
  ///   - write: records the entries of the call, with its outcome. It runs within ``taking(effect:with:)``.
  func recording<R>(
    by caller: Caller, within outer: Entry? = nil, deciding body: (Entry) throws(Refusal) -> R,
    entries write: @escaping (AuditOutcome, Entry) -> Void
  ) throws(Refusal) -> R {
    let entry = Entry(of: caller, within: outer, write)
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
      do throws(Refusal) { try settle() } catch {
        entry.record(error.outcome)
        throw error
      }
    }
    return result
  }

  /// Runs a caller's call about an item or something else, and records its outcome; see
  /// ``recording(by:within:deciding:entries:)``.
  func recording<R>(
    _ action: AuditAction, _ caller: Caller, _ item: String?, detail: String? = nil, within outer: Entry? = nil,
    deciding body: (Entry) throws(Refusal) -> R
  ) throws(Refusal) -> R {
    try recording(by: caller, within: outer, deciding: body) { [unowned self] outcome, entry in
      let words = [detail, entry.result].compactMap { $0 }
      record(
        action, outcome, caller, item: item, id: entry.item,
        detail: words.isEmpty ? nil : words.joined(separator: ", "))
    }
  }

  /// Makes a change of the store, and writes the entries of the call in the same transaction if entries must be on the
  /// disk before the answer.
  ///
  /// The code that calls this changes memory only after this returns, and that change must not fail.
  func taking<R>(effect change: () throws(VaultError) -> R, with entry: Entry) throws(VaultError) -> R {
    guard isRequired, !entry.isWritten, isReady else { return try change() }
    let result = try making(change) { _ in
      entry.chain.flatMap { [subject(of: $0.caller)] + $0.others }
    } entries: { _ in
      for entry in entry.chain { entry.record(.ok) }
    }
    for entry in entry.chain { entry.haveWritten() }
    return result
  }

  /// Makes a change of the store, and records it. If entries must be on the disk before an answer, the change and its
  /// entries are one transaction: both are kept, or neither.
  ///
  /// - Parameters:
  ///   - subjects: returns the subjects toward whose shares of the log the entries count.
  ///   - record: records the entries. What it records is taken back if the transaction fails.
  func making<R>(
    _ change: () throws(VaultError) -> R, of subjects: (R) -> [AuditSubject], entries record: (R) -> Void
  ) throws(VaultError) -> R {
    guard isRequired, isReady, let keychain = keychain() else {
      let result = try change()
      record(result)
      return result
    }
    // The entries that wait are sealed first, so that they stay even if the transaction fails.
    guard seal(keychain) else { throw .storage(StoreProblem.unrecorded(problem ?? "")) }
    var before: Usage?
    do throws(VaultError) {
      let result = try keychain.transaction { (result: R) throws(VaultError) in
        before = usage(of: subjects(result))
        record(result)
        guard seal(keychain), sealTally(keychain) else { throw .storage(StoreProblem.unrecorded(problem ?? "")) }
      } _: { () throws(VaultError) in
        try change()
      }
      haveWritten()
      return result
    } catch {
      if let before { putBack(before) }
      throw error
    }
  }

  /// Writes the entry of a call that changes only what is in memory; see ``taking(effect:with:)``.
  func settle(_ entry: Entry) throws(Refusal) {
    do throws(VaultError) { try taking(effect: {}, with: entry) } catch {
      note(error)
      throw .unrecorded(StoreProblem.unrecorded(error.text))
    }
  }

  /// The effect of a call about two items on one of the two: the action, the item's name, and more words.
  struct Deed {
    let action: AuditAction
    let item: ItemName
    let detail: String
  }

  /// Runs a caller's call about two items, and records its outcome for each item under the item's own name. If an entry
  /// does not fit into the subject's part of the log, its count has the name but not the detail. A refusal is recorded
  /// only for the item that it is about, unless the action was done before the refusal.
  ///
  /// - Parameter body: notes the progress of the call in the second argument; see also
  ///   ``recording(by:within:deciding:entries:)``.
  func recording<R>(
    _ source: Deed, _ target: Deed, _ caller: Caller, _ body: (Entry, Course) throws(Refusal) -> R
  ) throws(Refusal) -> R {
    let course = Course()
    return try recording(by: caller) { entry throws(Refusal) in
      try body(entry, course)
    } entries: { [unowned self] outcome, _ in
      // An action that was done is recorded as done, even if its call is refused after that.
      let outcome = course.isDone ? .ok : outcome
      if outcome == .ok || course.side == .source { record(source, outcome, course.source, caller) }
      if outcome == .ok || course.side == .target { record(target, outcome, course.target, caller) }
      guard outcome == .ok else { return }
      for (deed, id) in course.others { record(deed, outcome, id, caller) }
    }
  }

  /// The progress of a call about two items.
  final class Course {
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
    /// The actions on other items that the call brings with it.
    var others: [(Deed, ItemID)] = []
  }

  private func record(_ deed: Deed, _ outcome: AuditOutcome, _ id: ItemID?, _ caller: Caller) {
    record(deed.action, outcome, caller, item: deed.item.text, id: id, detail: deed.detail)
  }
}

extension Refusal? {
  /// The outcome of a call that was refused, or not, for the audit log.
  var outcome: AuditOutcome { self?.outcome ?? .ok }
}
