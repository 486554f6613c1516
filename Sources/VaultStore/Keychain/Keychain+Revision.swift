import VaultCore
import VaultModel

// The next revision of an existing item.
extension Keychain {
  /// Writes `item` in place of `old`, with `value` as a new version if there is one.
  ///
  /// Each revision seals the record of the version that was current again, even when only a name or an attribute
  /// changes: so an older head that is put back names a record that is no longer there. A change of policy seals all
  /// versions again, under the keys of the new class and bound to the new policy revision.
  /// - Parameters:
  ///   - expires: the expiry that the caller wants; `.none` for the value's own, or else the old one, unless that has
  ///     passed and the value is new.
  ///   - checked: what a check of the value has found already, which takes long for a key; nil for none.
  ///   - sealed: the new value where it was sealed before this, for the place that it gets now; `value` is nil then.
  ///   - ahead: versions that were sealed before this; they are not sealed again where nothing has changed since.
  ///   - isGenerated: true where the vault has made the new value.
  /// - Throws: ``VaultError/neverRead`` for another new value of such an item, and what its change throws.
  func revise(
    _ old: FoundItem, to item: ItemInfo, expires: Int64??, _ value: RawSpan?, by author: String? = nil, _ now: Int64,
    checked: ValueFacts? = nil, sealed new: SealedAhead.Value? = nil, ahead: SealedAhead? = nil,
    isGenerated: Bool = false
  ) throws(VaultError) -> StoredVersion {
    let isNeverRead = old.head.item.policy.isNeverRead
    guard item.policy.isNeverRead == isNeverRead, !isNeverRead || isGenerated || value == nil && new == nil else {
      throw .neverRead
    }
    // The time that another class knows, which the item may come from, does not count in this one.
    let time = effective(now, item.policy.accessible)
    guard opensValues(of: item.policy.accessible) else { throw .locked }

    let next = try NextRevision(of: old, as: item, hasNewValue: value != nil || new != nil)
    let columns = next.columns
    var head = next.head
    head.item.modified = time

    try takeRow(columns.row, for: columns.accessible)

    var facts = ValueFacts()
    var current: SealedValue?
    try prune(&head, next.surplus, old)
    do {
      // One buffer for all versions: memory for a large value takes long to get.
      let scratch = takeScratch()
      defer { giveBack(scratch) }
      for index in head.item.versions.indices {
        let version = head.item.versions[index]
        guard next.reseals(version) else { continue }
        let digest = head.digests[index]
        let sealed: SealedValue
        if !next.checks(version), let done = ahead?.take(version.number, of: next, bound.identity) {
          sealed = done
        } else {
          sealed = try reseal(version, digest, old.columns, columns, scratch) {
            (plaintext: RawSpan) throws(VaultError) in
            guard next.checks(version) else { return }
            facts = try validate(plaintext, item)
            // Another kind has made a key of it.
            if old.head.item.use == nil, item.use != nil { head.item.publicKey = facts.publicKey }
          }
        }
        try noteRemoval(of: version.number, old.columns, digest, wasRead: true)
        head.digests[index] = sealed.digest
        if version.number == columns.current {
          current = sealed
        } else {
          try put(columns, older: sealed, isNew: version.number == old.columns.current)
        }
      }
    }
    let fresh: (size: Int, sealed: SealedValue)?
    if let new {
      facts = new.facts
      fresh = (new.size, new.sealed)
    } else if let value {
      facts = if let checked { checked } else { try validate(value, item) }
      fresh = (value.byteCount, try seal(value, columns, version: columns.current))
    } else {
      fresh = nil
    }
    if let (size, sealed) = fresh {
      head.item.publicKey = facts.publicKey
      head.item.versions.append(VersionInfo(number: sealed.version, created: time, size: size, writer: author))
      head.digests.append(sealed.digest)
      current = sealed
    }
    var stored = StoredVersion(number: columns.current, of: columns.item)
    if fresh != nil, let past = old.head.item.expires, past <= effective(now, old.columns.accessible) {
      head.item.expires = expires ?? facts.expires
      if head.item.expires == nil { stored.pastExpiry = past }
    } else {
      head.item.expires = expires ?? facts.expires ?? old.head.item.expires
    }

    let before = try tags(of: old.head.item)
    let after = try tags(of: head.item)
    for tag in before.subtracting(after) { try delete(tag, old.columns) }
    for tag in after.subtracting(before) { try put(tag, columns) }
    guard let current else { throw Self.missingValue(columns.current, columns.row) }
    try put(columns, head, value: current, insteadOf: old)
    for accessible in Set([old.columns.accessible, columns.accessible]) { touch(accessible, now: now) }
    return stored
  }

  /// Checks a value against the kind and the use of its item, and whether parts of it that are keys belong together.
  func validate(_ value: RawSpan, _ item: ItemInfo) throws(VaultError) -> ValueFacts {
    try validate(value, item.kind, item.use, item.attributes)
  }

  func validate(
    _ value: RawSpan, _ kind: ItemKind, _ use: KeyUse?, _ attributes: [String: String]
  ) throws(VaultError) -> ValueFacts {
    do throws(ValueError) {
      var facts = try kind.validate(value, attributes: attributes)
      if let use { facts.publicKey = try keyCheck(use, value, attributes) } else { try partsCheck(kind, value) }
      return facts
    } catch {
      throw .invalidValue(error.reason)
    }
  }

  /// Drops the oldest versions that are too many or too large. A store that is older than the limit may
  /// hold more of them.
  private func prune(_ head: inout HeadRecord, _ surplus: Int, _ old: FoundItem) throws(VaultError) {
    for (version, digest) in zip(head.item.versions, head.digests).prefix(surplus) {
      try noteRemoval(of: version.number, old.columns, digest)
      try database.deleteValue(row: old.columns.row, version: version.number)
    }
    head.item.versions.removeFirst(surplus)
    head.digests.removeFirst(surplus)
  }

  /// The number of `versions`, oldest first, that have to go, so that no more than ``keptVersions`` are there and those
  /// that are not current have no more than ``keptBytes``. The last one always stays: its record, which is the current
  /// value's, is no older version's.
  static func surplus(of versions: [VersionInfo], beforeNewValue: Bool) -> Int {
    var kept = 1
    var bytes = beforeNewValue ? versions.last?.size ?? 0 : 0
    for version in versions.dropLast().reversed() {
      let count = beforeNewValue ? kept + 1 : kept
      guard count < keptVersions, version.size <= keptBytes - bytes else { break }
      bytes += version.size
      kept += 1
    }
    return max(0, versions.count - kept)
  }

  /// Opens one version bound to `old`, hands it to `check`, and seals it bound to `new`.
  func reseal(
    _ version: VersionInfo, _ digest: Digest, _ old: HeadColumns, _ new: HeadColumns, _ scratch: Scratch,
    _ check: (RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) -> SealedValue {
    try openVersion(version, digest, old, scratch)
    return try scratch.withBytes { (plaintext: RawSpan) throws(VaultError) in
      try check(plaintext)
      return try seal(plaintext, new, version: version.number)
    }
  }

  /// Opens one version into `scratch`.
  func openVersion(
    _ version: VersionInfo, _ digest: Digest, _ columns: HeadColumns, _ scratch: Scratch
  ) throws(VaultError) {
    let opened: Void? = try database.withValue(row: columns.row, version: version.number) {
      (sealed: RawSpan) throws(VaultError) in
      try open(sealed, columns, version, digest, scratch)
    }
    guard opened != nil else { throw Self.missingValue(version.number, columns.row) }
  }
}
