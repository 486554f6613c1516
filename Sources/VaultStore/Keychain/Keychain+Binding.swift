public import VaultCore
public import VaultModel

/// The item that something was decided about, whatever its name is later: the identity to which its records are bound,
/// and the number of the policy that it had then.
public struct ItemBinding: Hashable, Sendable {
  public let id: ItemID
  let policyRevision: Int
}

extension Keychain {
  /// The item that has a name now, for decisions that must not pass on to another one, nor outlive its policy. A new
  /// value, or a new name, changes nothing about it.
  ///
  /// - Throws: as ``item(named:)`` does.
  public func binding(of name: ItemName) throws(VaultError) -> ItemBinding {
    try noticing { () throws(VaultError) in
      guard let found = try find(name) else { throw unknownName }
      return ItemBinding(id: found.columns.item, policyRevision: found.columns.policyRevision)
    }
  }

  /// The item that has a name now, and what a deposit for it is to say of it.
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
