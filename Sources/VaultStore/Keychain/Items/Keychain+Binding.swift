public import VaultCore
public import VaultModel

/// The identity of an item on which a decision was made: the identity that its records are bound to, whatever name the
/// item gets later, and the revision of its policy at that time.
public struct ItemBinding: Hashable, Sendable {
  public let id: ItemID
  let policyRevision: Int
}

extension Keychain {
  /// The binding of the item that now has this name, for decisions that must not pass on to another item and must not
  /// outlive the item's policy. A new value or a new name does not change the binding.
  ///
  /// - Throws: as ``item(named:)`` does.
  public func binding(of name: ItemName) throws(VaultError) -> ItemBinding {
    try noticing { () throws(VaultError) in
      guard let found = try find(name) else { throw unknownName }
      return ItemBinding(id: found.columns.item, policyRevision: found.columns.policyRevision)
    }
  }

  /// The item that now has this name, and the base that a deposit for the item must state.
  ///
  /// - Throws: ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func depositBase(
    of name: ItemName
  ) throws(VaultError) -> (item: ItemInfo?, base: DepositRecord.Base) {
    try noticing { () throws(VaultError) in
      guard let found = try find(name) else {
        guard knowsAllNames else { throw .locked }
        return (nil, DepositRecord.Base(version: 0, item: nil))
      }
      let version = found.head.item.current.number
      return (found.head.item, DepositRecord.Base(version: version, item: found.columns.item))
    }
  }
}
