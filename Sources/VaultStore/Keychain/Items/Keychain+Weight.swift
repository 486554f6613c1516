public import VaultModel

extension Keychain {
  /// The bytes of `item`'s values that the change seals again or deletes when it gives the item a new value, and the
  /// number of older versions that it seals again.
  public static func weight(of change: ItemChange, on item: ItemInfo) -> (bytes: Int, older: Int) {
    if change.applied(to: item).policy != item.policy {
      return (item.versions.reduce(0) { $0 + $1.size }, item.versions.count - 1)
    }
    let dropped = item.versions.prefix(surplus(of: item.versions, beforeNewValue: true))
    return (dropped.reduce(item.current.size) { $0 + $1.size }, 0)
  }
}
