internal import VaultCore
package import VaultModel
internal import VaultStore

/// The preparation of one call that changes items with long versions, or takes an item out of a large trash. The
/// versions are sealed, or the item is searched for, before the change itself. Each attempt to make the change does one
/// part, so that other calls have their turn in between.
///
/// The work is kept until the call is answered. It holds nothing in the clear, and at most as much as one call may
/// bring and seal again.
package final class LongChange {
  let ahead = SealedAhead()
  /// The search for the item that the call takes out of the trash.
  let search = TrashSearch()
  /// The weight of the call's changes, if the last preparation found that nothing more is to be prepared. The call is
  /// then handled in the same turn, so the weight is still right.
  var weight: CallWeight?

  package init() {}
}

/// A call that changes items, with the data that is needed to prepare it.
package enum ItemWork {
  case set([(change: ItemChange, value: NewValue)])
  case copy(ItemName, to: ItemName, replacing: Bool)
  case move(ItemName, to: ItemName)
  case restoreVersion(Int, of: ItemName)
  case delete([ItemName], isForGood: Bool)
  case undelete(ItemName)
}

extension Items {
  /// Does a part of the work that a call needs before it is done. Returns false if the call is to be done now, or is
  /// refused.
  ///
  /// - Parameter fill: writes the bytes of the new value at an index among several; returns false if the bytes are
  ///   malformed.
  package func prepare(
    _ work: ItemWork, _ long: LongChange, for caller: Caller,
    fill: (Int, inout MutableRawSpan) -> Bool = { _, _ in false }
  ) -> Bool {
    guard let keychain = vault.openKeychain else { return false }
    do throws(Refusal) {
      if case .undelete(let name) = work, try !hasFound(name, long.search, keychain, for: caller) { return true }
      let revisions = try revisions(work, long, keychain, for: caller, fill)
      if keychain.sealAhead(revisions, long.ahead) { return true }
      switch work {
      case .set(let changes): return sealValue(of: changes, keychain, long.ahead, fill)
      case .copy(let source, _, _):
        guard case .set(let change, _) = revisions.first else { return false }
        return keychain.sealAhead(valueOf: source, for: change, long.ahead)
      case .move, .restoreVersion, .delete, .undelete: return false
      }
    } catch {
      // The call itself will be refused with the same reason.
      return false
    }
  }

  /// Continues the search for the item of this name that was deleted last; true at its end. Nothing is searched for a
  /// caller who cannot have the right to take that item out of the trash.
  private func hasFound(
    _ name: ItemName, _ search: TrashSearch, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> Bool {
    _ = try permit(.admin, on: name, for: caller)
    do throws(VaultError) { return try keychain.searchTrash(name, search) } catch {
      throw vault.refusal(error, name.text)
    }
  }

  /// Seals the first long value that is not sealed yet. Returns false if there is none.
  private func sealValue(
    of changes: [(change: ItemChange, value: NewValue)], _ keychain: Keychain, _ ahead: SealedAhead,
    _ fill: (Int, inout MutableRawSpan) -> Bool
  ) -> Bool {
    guard changes.contains(where: { $0.value.isLong }) else { return false }
    let once = Self.namedOnce(changes)
    for (index, (change, value)) in changes.enumerated() where value.isLong && once.contains(change.name) {
      guard case .bytes(let count) = value, keychain.wantsAhead(valueOf: count, for: change, ahead) else { continue }
      defer { valueInHand.empty() }
      guard valueInHand.fill(count: count, { fill(index, &$0) }) else { return false }
      return valueInHand.withBytes { keychain.sealAhead($0, of: change, ahead) }
    }
    return false
  }

  /// The names that are given once. For a name that is given twice, the state of the item before the second change is
  /// not known yet.
  private static func namedOnce(_ changes: [(change: ItemChange, value: NewValue)]) -> Set<ItemName> {
    var (once, again): (Set<ItemName>, Set<ItemName>) = ([], [])
    for (change, _) in changes where !once.insert(change.name).inserted { again.insert(change.name) }
    return once.subtracting(again)
  }

  /// The changes that a call makes, if its caller may make them.
  private func revisions(
    _ work: ItemWork, _ long: LongChange, _ keychain: Keychain, for caller: Caller,
    _ fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> [Revision] {
    switch work {
    case .set(let changes):
      guard try areLong(changes, long, keychain, for: caller, fill) else { return [] }
      let once = Self.namedOnce(changes)
      return changes.compactMap { change, value in
        guard once.contains(change.name) else { return nil }
        switch value {
        case .same: return .set(change, hasNewValue: false)
        case .bytes, .generated: return .set(change, hasNewValue: true)
        case .wrong: return nil
        }
      }
    case .copy(let source, let target, let replacing):
      guard let change = try copyChange(source, target, replacing, keychain, for: caller) else { return [] }
      return [.set(change, hasNewValue: true)]
    case .move(let name, let new):
      try checkMove(name, to: new, for: caller, Audit.Course())
      return [.move(name, to: new)]
    case .restoreVersion(let number, let name):
      var id: ItemID?
      try checkRestoring(name, for: caller, &id)
      return [.restoreVersion(number, of: name)]
    case .delete(let names, let isForGood):
      guard !isForGood, vault.settings.trash != nil else { return [] }
      var (refused, ids): (ItemName?, [ItemName: ItemID]) = (nil, [:])
      try checkDeletion(names, keychain, for: caller, &ids, refused: &refused)
      return Set(names).map { .trash($0) }
    case .undelete(let name):
      var id: ItemID?
      try checkUndeletion(name, long.search, keychain, for: caller, &id)
      return [.restore(name, found: long.search)]
    }
  }

  /// True when the changes may bring or seal again more bytes than are sealed without preparation
  /// (``SealedAhead/little``). A single change that brings many bytes, or that updates an item, counts as long without
  /// being weighed.
  ///
  /// - Throws: the refusal if the caller may not make the changes, or if they are too much for one call.
  private func areLong(
    _ changes: [(change: ItemChange, value: NewValue)], _ long: LongChange, _ keychain: Keychain, for caller: Caller,
    _ fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> Bool {
    // The weight of an earlier attempt is not that of the items as they are now.
    long.weight = nil
    let new = changes.reduce(0) { sum, new in if case .bytes(let count) = new.value { sum + count } else { sum } }
    // New items with a few bytes are not prepared, so that their changes are examined only once.
    guard new > SealedAhead.little || changes.contains(where: { $0.change.update }) else { return false }
    var id: ItemID?
    for (change, _) in changes { try check(change, keychain, for: caller, &id) }
    guard changes.count > 1 else { return true }
    let weight = weigh(changes, keychain, for: caller, fill)
    try weight.check()
    long.weight = weight
    return max(new, weight.bytes) > SealedAhead.little
  }
}

extension NewValue {
  /// True for a value that is sealed before the change itself.
  fileprivate var isLong: Bool { if case .bytes(let count) = self { count > SealedAhead.little } else { false } }
}
