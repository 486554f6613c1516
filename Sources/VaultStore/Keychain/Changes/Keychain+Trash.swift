import VaultCore
public import VaultModel

// The trash: items that were deleted and can be put back. They keep their rows, values and versions. No tag by which
// items are found leads to them, only the tags of the trash.
//
// The trash ages with the writes of its class, see ClassRecord.Facts/age. Times alone do not order deletions: two
// deletions may happen in the same second, and a clock may be behind. So each deletion has a number, taken from the
// numbers of the items' rows.
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

  /// Takes the most recently deleted item of this name out of the trash.
  ///
  /// - Parameter search: the search for the item, see ``searchTrash(_:_:)``. A search that is not at its end continues
  ///   to the end now, which may take long.
  /// - Throws: ``VaultError/noSuchItem`` when the trash has no such item; ``VaultError/alreadyExists`` when another
  ///   item has the name now; ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then
  ///   nothing has changed.
  public func restore(
    _ name: ItemName, found search: TrashSearch, now: Int64, ahead: SealedAhead? = nil
  ) throws(VaultError) {
    try write { () throws(VaultError) in
      guard let old = try findTrashed(name, search, marking: true) else { throw unknownName }
      guard knowsAllNames else { throw .locked }
      if try find(name) != nil { throw .alreadyExists }
      var item = old.head.item
      item.trashed = nil
      _ = try revise(old, to: item, expires: .some(item.expires), nil, now, ahead: ahead)
    }
  }

  /// Returns everything about the most recently deleted item of this name, except its value.
  ///
  /// - Parameter search: as for ``restore(_:found:now:ahead:)``.
  /// - Throws: as ``item(named:)`` does.
  public func trashedItem(named name: ItemName, found search: TrashSearch) throws(VaultError) -> ItemInfo {
    try noticing { () throws(VaultError) in
      guard let found = try findTrashed(name, search) else { throw unknownName }
      return found.head.item
    }
  }

  /// Passes the value of the most recently deleted item of this name to `body`.
  ///
  /// - Parameter search: as for ``restore(_:found:now:ahead:)``.
  /// - Throws: ``VaultError/noSuchItem``, ``VaultError/locked``, ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``.
  public func withTrashedValue<R>(
    of name: ItemName, found search: TrashSearch, _ body: (RawSpan) -> R
  ) throws(VaultError) -> R {
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    try noticing { () throws(VaultError) in
      guard let found = try findTrashed(name, search) else { throw unknownName }
      guard opensValues(of: found.columns.accessible) else { throw .locked }
      let number = found.head.item.current.number
      guard let (info, digest) = found.head.version(number) else { throw .noSuchVersion(number) }
      try openVersion(info, digest, found.columns, scratch)
    }
    return scratch.withBytes { (value: RawSpan) in body(value) }
  }

  /// The number of seconds by which the trash has aged since the item was put there.
  public func ageInTrash(_ item: ItemInfo) -> Int64 {
    guard let trashed = item.trashed else { return 0 }
    return max(0, Seconds.from(trashed.age, to: facts[item.policy.accessible]?.age ?? 0))
  }

  /// The number of items in the trash, in the classes whose records are authentic.
  public var trashCount: Int64 {
    AccessClass.allCases.reduce(0) { $0 + (isVouchedFor[$1] ? facts[$1]?.trashed ?? 0 : 0) }
  }

  /// Ages the trash by the time that has passed since the last write, if that is at least `least` seconds.
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

  /// Deletes items in the trash permanently, in the order of their rows.
  ///
  /// - Parameters:
  ///   - age: the least ``ageInTrash(_:)`` of the items to delete, in seconds.
  ///   - after: the result of the previous call; nil for the first call.
  ///   - examining: the most items to examine. Fewer are examined if deleting them takes long, or if they have many
  ///     bytes.
  ///   - gone: called with the number of deleted items, if any were deleted.
  /// - Returns: the `after` for the next call; nil at the end.
  /// - Throws: ``VaultError/locked`` when a key is missing; ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  ///   Then nothing is deleted.
  public func emptyTrash(
    ofAge age: Int64, after: Int64? = nil, examining: Int, if decide: (ItemInfo) -> Decision = { _ in .allow },
    gone: (Int) -> Void = { _ in }
  ) throws(VaultError) -> Int64? {
    var last = after ?? 0
    var due: [FoundItem] = []
    var examined = 0
    // The time in microseconds and the bytes that examining and deleting take. One large item may exceed the limits.
    var (time, bytes) = (0, 0)
    var isLast = true
    try eachTrashed(.trash, after: last, marking: true) { found in
      guard examined < examining, time < CallLimits.time, bytes < Self.keptBytes + Self.maximumValue else {
        isLast = false
        return false
      }
      examined += 1
      last = found.columns.row
      let item = found.head.item
      time += CallLimits.timeOfItem + CallLimits.timeOfExisting
      time += CallLimits.time(name: item.name.text, item.attributes, item.keyring)
      bytes += CallLimits.text(name: item.name.text, item.attributes, item.keyring)
      if ageInTrash(item) >= age, decide(item) == .allow {
        bytes += item.versions.reduce(0) { $0 + $1.size }
        due.append(found)
      }
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

  /// Passes to `body` the items that a fact about the trash leads to, in the order of their rows, until `body` returns
  /// false.
  func eachTrashed(
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
