public import VaultModel

extension Keychain {
  /// The bytes of the values of `item` that a change which gives it a new one seals again or deletes.
  public static func weight(of change: ItemChange, on item: ItemInfo) -> Int {
    if change.applied(to: item).policy != item.policy { return item.versions.reduce(0) { $0 + $1.size } }
    let dropped = item.versions.prefix(surplus(of: item.versions, beforeNewValue: true))
    return dropped.reduce(item.current.size) { $0 + $1.size }
  }
}
