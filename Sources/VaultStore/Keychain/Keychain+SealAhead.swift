import VaultCore
public import VaultModel

/// A change that makes the next revision of an item, as far as it says which versions are sealed again.
public enum Revision {
  /// See ``Keychain/set(_:now:ahead:)``; `hasNewValue` where the change also brings a value.
  case set(ItemChange, hasNewValue: Bool)
  case move(ItemName, to: ItemName)
  case restoreVersion(Int, of: ItemName)
  case trash(ItemName)
  /// Takes the item out of the trash.
  case restore(ItemName)
}

// Sealing before a change what it needs.
extension Keychain {
  /// Seals a part of what changes of items, which are made in one transaction, will need. An item is named once.
  ///
  /// - Returns: false where nothing was sealed: what is left is little, and the changes themselves seal it; or they will
  ///   be refused, with the reason.
  public func sealAhead(_ changes: [Revision], _ ahead: SealedAhead) -> Bool {
    guard ahead.partsLeft > 0, !hasFailed, case .none = transaction.state else { return false }
    do throws(VaultError) {
      var revisions: [NextRevision] = []
      for change in changes {
        guard let next = try next(change) else { return false }
        revisions.append(next)
      }
      ahead.begin(revisions, bound.identity)
      return try sealPart(of: revisions, ahead)
    } catch {
      // The change meets it again.
      return false
    }
  }

  /// The revision that a change makes; nil where it makes none, or will be refused.
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
    case .restore(let name):
      guard knowsAllNames, let old = try findTrashed(name), try find(name) == nil else { return nil }
      return try next(old)
    }
  }

  /// - Parameter item: what the item becomes; nil for one whose kind, attributes and policy stay.
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
