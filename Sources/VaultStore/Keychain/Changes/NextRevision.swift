import VaultCore
import VaultModel

/// The next revision of an item, before any of it is sealed or written.
struct NextRevision {
  let old: FoundItem
  /// The item with the change applied. Its times, versions and expiry are still the old ones.
  let item: ItemInfo
  /// The head with its revision numbers increased.
  let head: HeadRecord
  let columns: HeadColumns
  let hasNewValue: Bool
  /// The number of oldest versions to delete, because there are too many or they are too large.
  let surplus: Int

  init(of old: FoundItem, as item: ItemInfo, hasNewValue: Bool) throws(VaultError) {
    var head = old.head
    head.item = item
    try head.countRevision(row: old.columns.row)
    if item.policy != old.head.item.policy { head.policyRevision += 1 }
    if hasNewValue { head.nextVersion += 1 }
    var columns = old.columns
    columns.accessible = item.policy.accessible
    columns.revision = head.headRevision
    columns.policyRevision = head.policyRevision
    columns.current = hasNewValue ? old.head.nextVersion : old.columns.current
    (self.old, self.item, self.head, self.columns, self.hasNewValue) = (old, item, head, columns, hasNewValue)
    surplus = Keychain.surplus(of: head.item.versions, beforeNewValue: hasNewValue)
  }

  /// True when a version must be sealed again: all versions if the policy changes, otherwise only the one that was
  /// current.
  func reseals(_ version: VersionInfo) -> Bool {
    columns.policyRevision != old.columns.policyRevision || version.number == old.columns.current
  }

  /// True when a version is the value that stays and must be checked again, because the item's kind or attributes have
  /// changed.
  func checks(_ version: VersionInfo) -> Bool {
    !hasNewValue && version.number == old.columns.current
      && (item.kind, item.attributes) != (old.head.item.kind, old.head.item.attributes)
  }
}
