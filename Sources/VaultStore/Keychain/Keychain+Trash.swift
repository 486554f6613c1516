import VaultCore
public import VaultModel

// Items that were deleted and can be put back: they keep their rows, values and versions, but no tag by which anybody finds
// an item leads to them, only those of the trash.
//
// What is in the trash ages with the writes of its class, see ClassRecord.Facts/age. Times alone do not order deletions:
// two may be of one second, and a clock may be behind. So each has a number out of those of the items' rows.
extension Keychain {
  /// Puts items into the trash. A name that is given twice counts once.
  ///
  /// - Throws: ``VaultError/noSuchItem``, ``VaultError/locked``, ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``. Then nothing has changed.
  public func trash(_ names: [ItemName], now: Int64, ahead: SealedAhead? = nil) throws(VaultError) {
    try write { () throws(VaultError) in
      for name in Set(names) {
        guard let old = try find(name, marking: true) else { throw unknownName }
        let accessible = old.columns.accessible
        touch(accessible, now: now)
        var item = old.head.item
        let number = try nextRow(for: accessible)
        item.trashed = Trashed(time: effective(now, accessible), age: facts[accessible]?.age ?? 0, number: number)
        _ = try revise(old, to: item, expires: .some(item.expires), nil, now, ahead: ahead)
      }
    }
  }

  /// Takes the item of this name that was deleted last out of the trash.
  ///
  /// - Throws: ``VaultError/noSuchItem`` when there is none; ``VaultError/alreadyExists`` when another has the name now;
  ///   ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then nothing has changed.
  public func restore(_ name: ItemName, now: Int64, ahead: SealedAhead? = nil) throws(VaultError) {
    try write { () throws(VaultError) in
      guard let old = try findTrashed(name, marking: true) else { throw unknownName }
      guard knowsAllNames else { throw .locked }
      if try find(name) != nil { throw .alreadyExists }
      var item = old.head.item
      item.trashed = nil
      _ = try revise(old, to: item, expires: .some(item.expires), nil, now, ahead: ahead)
    }
  }

  /// Everything about the item of this name that was deleted last.
  ///
  /// - Throws: as ``item(named:)`` does.
  public func trashedItem(named name: ItemName) throws(VaultError) -> ItemInfo {
    try noticing { () throws(VaultError) in
      guard let found = try findTrashed(name) else { throw unknownName }
      return found.head.item
    }
  }

  /// The number of seconds by which the trash has aged since an item was put there.
  public func ageInTrash(_ item: ItemInfo) -> Int64 {
    guard let trashed = item.trashed else { return 0 }
    return max(0, Seconds.from(trashed.age, to: facts[item.policy.accessible]?.age ?? 0))
  }

  /// The number of items in the trash of the classes whose records are authentic.
  public var trashCount: Int64 {
    AccessClass.allCases.reduce(0) { $0 + (isVouchedFor[$1] ? facts[$1]?.trashed ?? 0 : 0) }
  }

  /// Has the trash age by the time that has passed since the last write, where that is `least` seconds and more.
  ///
  /// - Throws: ``VaultError/storage(_:)``, ``VaultError/corrupt(_:)``.
  public func ageTrash(now: Int64, least: Int64 = 3600) throws(VaultError) {
    let classes = AccessClass.allCases.filter { accessible in
      guard isVouchedFor[accessible], holdsIntegrityKey(accessible), let facts = facts[accessible] else { return false }
      return facts.trashed > 0 && Seconds.from(facts.time, to: now) >= least
    }
    guard !classes.isEmpty else { return }
    try write { () throws(VaultError) in
      for accessible in classes { touch(accessible, now: now) }
    }
  }

  /// Deletes items of the trash for good, in the order in which they were made.
  ///
  /// - Parameters:
  ///   - age: the least ``ageInTrash(_:)`` of those that go, in seconds.
  ///   - after: what the call before returned; nil for the first.
  ///   - examining: how many are looked at, at most.
  ///   - gone: called with the number of items that were deleted, if any.
  /// - Returns: what to pass as `after` to continue; nil at the end.
  /// - Throws: ``VaultError/locked`` when a key is missing; ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then
  ///   nothing is deleted.
  public func emptyTrash(
    ofAge age: Int64, after: Int64? = nil, examining: Int, if decide: (ItemInfo) -> Decision = { _ in .allow },
    gone: (Int) -> Void = { _ in }
  ) throws(VaultError) -> Int64? {
    var last = after ?? 0
    var due: [FoundItem] = []
    var examined = 0
    var isLast = true
    try eachTrashed(.trash, after: last, marking: true) { found in
      guard examined < examining else {
        isLast = false
        return false
      }
      examined += 1
      last = found.columns.row
      let item = found.head.item
      if ageInTrash(item) >= age, decide(item) == .allow { due.append(found) }
      return true
    }
    if !due.isEmpty {
      try write { () throws(VaultError) in
        for found in due { try delete(found) }
      }
      gone(due.count)
    }
    return isLast ? nil : last
  }

  func findTrashed(_ name: ItemName, marking: Bool = false) throws(VaultError) -> FoundItem? {
    var newest: (item: FoundItem, trashed: Trashed)?
    try eachTrashed(.trashedName(name), after: 0, marking: marking) { found in
      guard let trashed = found.head.item.trashed else { return true }
      if let newest, (trashed.number, trashed.time) < (newest.trashed.number, newest.trashed.time) { return true }
      newest = (found, trashed)
      return true
    }
    return newest?.item
  }

  /// Calls `body` with the items that a fact about the trash leads to, in the order of their rows, until it returns false.
  private func eachTrashed(
    _ fact: Fact, after: Int64, marking: Bool, _ body: (FoundItem) -> Bool
  ) throws(VaultError) {
    guard trashCount > 0 || !knowsAllNames else { return }
    let tags = try tags(fact)
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    let visit = { (_: Int64, found: Result<Row, VaultError>) throws(VaultError) -> Bool in
      let row = try found.get()
      let head = try self.openHead(row, scratch)
      try self.check(row, head, fact, tags)
      return body(FoundItem(columns: row.columns, head: head, mark: marking ? try self.mark(row) : nil))
    }
    let pass = { (_: Int64) -> Bool in true }
    try database.each(tagged: tags, after: after, notice: notice, passing: pass, visit)
  }
}
