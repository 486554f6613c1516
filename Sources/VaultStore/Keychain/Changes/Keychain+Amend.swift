public import VaultCore
public import VaultModel

// Changes of a value that make no new version.
extension Keychain {
  /// Replaces the current value of an item with `value`, under the same version number. This is for a change within a
  /// value that makes no new version, such as the counter of one-time codes. The old value is gone.
  ///
  /// Everything else about the item stays, except the time of its last change.
  /// - Parameter now: as for ``set(_:value:now:ahead:)``.
  /// - Throws: ``VaultError/noSuchItem``, ``VaultError/locked``, ``VaultError/neverRead``,
  ///   ``VaultError/invalidValue(_:)``, ``VaultError/tooLarge(_:)``, ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``. Then nothing has changed.
  public func amend(_ name: ItemName, value: borrowing SecureBytes, now: Int64) throws(VaultError) {
    if value.count > Self.maximumValue { throw .tooLarge(Self.maximumValue) }
    try write { () throws(VaultError) in
      guard let old = try find(name, marking: true) else { throw unknownName }
      guard opensValues(of: old.columns.accessible) else { throw .locked }
      try value.withBytes { (bytes: RawSpan) throws(VaultError) in try amend(old, bytes, now) }
    }
  }

  private func amend(_ old: FoundItem, _ value: RawSpan, _ now: Int64) throws(VaultError) {
    guard !old.head.item.policy.isNeverRead else { throw .neverRead }
    var (columns, head) = (old.columns, old.head)
    head.item.publicKey = try validate(value, head.item).publicKey
    try head.countRevision(row: columns.row)
    columns.revision = head.headRevision
    head.item.modified = effective(now, columns.accessible)
    try takeRow(columns.row, for: columns.accessible)
    let last = head.item.versions.count - 1
    try noteRemoval(of: columns.current, old.columns, head.digests[last])
    let sealed = try seal(value, columns, version: columns.current)
    head.item.versions[last].size = value.byteCount
    head.digests[last] = sealed.digest
    try put(columns, head, value: sealed, insteadOf: old)
    touch(columns.accessible, now: now)
  }
}

extension HeadRecord {
  /// Counts a change of the item in that row. The number of changes of one item has an upper limit.
  mutating func countRevision(row: Int64) throws(VaultError) {
    guard max(headRevision, policyRevision, nextVersion) < HeadRecord.lastNumber else {
      // The error is not one of damage: otherwise whoever has the key of a weaker class could stop all writing with one
      // head.
      throw .storage("item \(row) has been changed as often as it can be; copy it to another name, then delete it")
    }
    headRevision += 1
  }
}
