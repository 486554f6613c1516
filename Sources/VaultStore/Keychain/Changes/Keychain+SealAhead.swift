public import VaultCore
public import VaultModel

/// A change that makes the next revision of an item, described only as far as it decides which versions are sealed
/// again.
public enum Revision {
  /// A change of properties, see ``Keychain/set(_:now:ahead:)``. `hasNewValue` is true when the change also brings a
  /// value.
  case set(ItemChange, hasNewValue: Bool)
  case move(ItemName, to: ItemName)
  case restoreVersion(Int, of: ItemName)
  case trash(ItemName)
  /// Takes the item that a search has found out of the trash; see ``Keychain/searchTrash(_:_:)``.
  case restore(ItemName, found: TrashSearch)
}

// Sealing, before a change, what the change will write.
extension Keychain {
  /// Seals a part of what these changes will write. The changes are made in one transaction, each to an item of its
  /// own. The values of new items are not sealed here.
  ///
  /// - Returns: false when nothing was sealed. Either little is left, which the changes themselves seal, or the changes
  ///   will be refused with the reason.
  public func sealAhead(_ changes: [Revision], _ ahead: SealedAhead) -> Bool {
    guard ahead.partsLeft > 0, !hasFailed, case .none = transaction.state else { return false }
    do throws(VaultError) {
      var revisions: [NextRevision] = []
      for change in changes { if let next = try next(change) { revisions.append(next) } }
      guard !revisions.isEmpty else { return false }
      ahead.begin(revisions, bound.identity)
      if try sealPart(of: revisions, ahead) { return true }
      guard changes.count == 1, let next = revisions.first, case .restoreVersion(let number, _) = changes[0] else {
        return false
      }
      return try sealValue(number, of: next.old, as: next.columns, ValuePlace(next), ahead)
    } catch {
      // The change itself meets this error again.
      return false
    }
  }

  /// True when ``sealAhead(_:of:_:)`` should be called before a change with a value of `count` bytes.
  public func wantsAhead(valueOf count: Int, for change: ItemChange, _ ahead: SealedAhead) -> Bool {
    guard ahead.partsLeft > 0, count > SealedAhead.little, count <= Self.maximumValue else { return false }
    guard let (_, place) = try? place(ofValueOf: change, ahead) else { return false }
    return ahead.value(for: place, from: nil, bound.identity) == nil
  }

  /// Seals the value of a change; false when nothing was sealed, and the change will be refused with the reason.
  public func sealAhead(_ value: RawSpan, of change: ItemChange, _ ahead: SealedAhead) -> Bool {
    guard !hasFailed, case .none = transaction.state else { return false }
    do throws(VaultError) {
      guard let (columns, place) = try place(ofValueOf: change, ahead) else { return false }
      try sealValue(value, columns, place, from: nil, ahead)
      return true
    } catch { return false }
  }

  /// Seals the current value of another item as the value of a change. False when nothing was sealed: the value is
  /// small or already sealed, or the change will be refused with the reason.
  public func sealAhead(valueOf source: ItemName, for change: ItemChange, _ ahead: SealedAhead) -> Bool {
    guard ahead.partsLeft > 0, !hasFailed, case .none = transaction.state else { return false }
    do throws(VaultError) {
      guard let source = try find(source), opensValues(of: source.columns.accessible),
        let (columns, place) = try place(ofValueOf: change, ahead)
      else { return false }
      return try sealValue(source.columns.current, of: source, as: columns, place, ahead)
    } catch { return false }
  }

  /// The new value of a change that was sealed for the item's present state; nil when there is none.
  ///
  /// - Parameter source: the digest of the record that the value was read from; nil when the value came with the call.
  public func sealedValue(
    of change: ItemChange, from source: Digest? = nil, _ ahead: SealedAhead
  ) -> SealedAhead.Value? {
    // Few changes have such a value, and finding its place requires a look-up of the item.
    guard ahead.hasValue, let (_, place) = try? place(ofValueOf: change, ahead) else { return nil }
    return ahead.value(for: place, from: source, bound.identity)
  }

  private func place(
    ofValueOf change: ItemChange, _ ahead: SealedAhead
  ) throws(VaultError) -> (HeadColumns, ValuePlace)? {
    if try find(change.name) != nil {
      return try next(.set(change, hasNewValue: true)).map { ($0.columns, ValuePlace($0)) }
    }
    let accessible = change.accessible ?? Policy().accessible
    guard knowsAllNames, opensValues(of: accessible) else { return nil }
    let kind = change.newKind
    // The row is given when the item is made; no value is bound to the row.
    let columns = HeadColumns(
      row: 0, item: ahead.newItem(named: change.name), accessible: accessible, revision: 1, policyRevision: 1,
      current: 1)
    return (columns, ValuePlace(columns, kind, try Self.use(change, kind), change.attributes ?? [:]))
  }

  /// Seals a version of an item as a new value of the same item or another one.
  private func sealValue(
    _ number: Int, of old: FoundItem, as columns: HeadColumns, _ place: ValuePlace, _ ahead: SealedAhead
  ) throws(VaultError) -> Bool {
    guard let (info, digest) = old.head.version(number), info.size > SealedAhead.little,
      ahead.value(for: place, from: digest, bound.identity) == nil
    else { return false }
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    try openVersion(info, digest, old.columns, scratch)
    try scratch.withBytes { (value: RawSpan) throws(VaultError) in
      try sealValue(value, columns, place, from: digest, ahead)
    }
    return true
  }

  private func sealValue(
    _ value: RawSpan, _ columns: HeadColumns, _ place: ValuePlace, from source: Digest?, _ ahead: SealedAhead
  ) throws(VaultError) {
    ahead.beginPart()
    let facts = try validate(value, place.kind, place.use, place.attributes)
    let sealed = try seal(value, columns, version: columns.current)
    ahead.add(
      SealedAhead.Value(place: place, source: source, size: value.byteCount, facts: facts, sealed: sealed),
      bound.identity)
  }

  /// The revision that a change makes; nil when it makes none, or will be refused.
  private func next(_ change: Revision) throws(VaultError) -> NextRevision? {
    switch change {
    case .set(let change, let hasNewValue):
      guard change.update, let old = try find(change.name) else { return nil }
      do throws(ValueError) { try change.checkUse(of: old.head.item) } catch { return nil }
      return try next(old, as: change.applied(to: old.head.item), hasNewValue: hasNewValue)
    case .move(let name, let target):
      guard knowsAllNames, let old = try find(name), try find(target) == nil else { return nil }
      return try next(old)
    case .restoreVersion(let number, let name):
      guard let old = try find(name), old.head.version(number) != nil else { return nil }
      return try next(old, hasNewValue: true)
    case .trash(let name):
      guard let old = try find(name) else { return nil }
      return try next(old)
    case .restore(let name, let search):
      guard knowsAllNames, let old = try findTrashed(name, search), try find(name) == nil else { return nil }
      return try next(old)
    }
  }

  /// The next revision of an item; nil when the keys for it are not in memory.
  ///
  /// - Parameter item: the item after the change; nil when its kind, attributes and policy stay.
  private func next(
    _ old: FoundItem, as item: ItemInfo? = nil, hasNewValue: Bool = false
  ) throws(VaultError) -> NextRevision? {
    let item = item ?? old.head.item
    guard opensValues(of: old.columns.accessible), opensValues(of: item.policy.accessible) else { return nil }
    return try NextRevision(of: old, as: item, hasNewValue: hasNewValue)
  }

  private func sealPart(of revisions: [NextRevision], _ ahead: SealedAhead) throws(VaultError) -> Bool {
    var left: [(next: NextRevision, version: VersionInfo, digest: Digest)] = []
    for next in revisions {
      for (version, digest) in zip(next.old.head.item.versions, next.old.head.digests).dropFirst(next.surplus)
      where next.reseals(version) && !next.checks(version) && !ahead.has(version, of: next) {
        left.append((next, version, digest))
      }
    }
    guard left.reduce(0, { $0 + $1.version.size }) > SealedAhead.little else { return false }
    ahead.beginPart()
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    var bytes = 0
    for (next, version, digest) in left {
      guard bytes == 0 || version.size <= SealedAhead.part - bytes else { break }
      let sealed = try reseal(version, digest, next.old.columns, next.columns, scratch) {
        (_: RawSpan) throws(VaultError) in
      }
      ahead.add(sealed, to: next)
      bytes += version.size
    }
    return true
  }
}
