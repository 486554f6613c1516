import VaultCore
import VaultModel

// The writing of an existing item's next revision.
extension Keychain {
  /// Writes `item` in place of `old`, with `value` as a new version if there is one.
  ///
  /// Each revision seals the record of the current version again, even if only a name or an attribute changes. So an
  /// older head that is put back names a record that no longer exists. A change of policy seals all versions again,
  /// under the keys of the new class and bound to the new policy revision.
  /// - Parameters:
  ///   - expires: the expiry that the caller wants. With `.none`, an expiry that somebody has set stays, unless it has
  ///     passed and the value is new; any other expiry is replaced by the value's own.
  ///   - checked: the result of an earlier check of the value, which takes long for a key; nil for none.
  ///   - sealed: the new value, if it was sealed before for the place that it gets now; `value` is nil then.
  ///   - ahead: versions that were sealed before; they are not sealed again if nothing has changed since.
  ///   - isGenerated: true when the vault made the new value.
  /// - Throws: ``VaultError/neverRead`` for a new value, other than a generated one, of an item that is never read; the
  ///   errors of the change itself.
  func revise(
    _ old: FoundItem, to item: ItemInfo, expires: Int64??, _ value: RawSpan?, by author: String? = nil, _ now: Int64,
    checked: ValueFacts? = nil, sealed new: SealedAhead.Value? = nil, ahead: SealedAhead? = nil,
    isGenerated: Bool = false
  ) throws(VaultError) -> StoredVersion {
    let isNeverRead = old.head.item.policy.isNeverRead
    guard item.policy.isNeverRead == isNeverRead, !isNeverRead || isGenerated || value == nil && new == nil else {
      throw .neverRead
    }
    // The newest time of another class, from which the item may come, does not count in this class.
    let time = effective(now, item.policy.accessible)
    guard opensValues(of: item.policy.accessible) else { throw .locked }
    let mayEndAnew = value != nil || new != nil || item.kind != old.head.item.kind
    let isByHand = expires == nil && mayEndAnew ? try isExpiryByHand(old) : false

    let next = try NextRevision(of: old, as: item, hasNewValue: value != nil || new != nil)
    let columns = next.columns
    var head = next.head
    head.item.modified = time

    try takeRow(columns.row, for: columns.accessible)

    var facts = ValueFacts()
    var current: SealedValue?
    try prune(&head, next.surplus, old)
    do {
      // All versions share one buffer, because memory for a large value takes long to get.
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
            // With the item's new kind, the value is a key, so the item gets the key's public half.
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
    let past = old.head.item.expires.flatMap { $0 <= effective(now, old.columns.accessible) ? $0 : nil }
    if let expires {
      head.item.expires = expires
    } else if !mayEndAnew {
      head.item.expires = old.head.item.expires
    } else if isByHand, fresh == nil || past == nil {
      head.item.expires = Self.expiry(byHand: old.head.item.expires, besides: facts.expires)
    } else {
      head.item.expires = facts.expires
    }
    if fresh != nil, head.item.expires == nil { stored.pastExpiry = past }

    let before = try tags(of: old.head.item)
    let after = try tags(of: head.item)
    for tag in before.subtracting(after) { try delete(tag, old.columns) }
    for tag in after.subtracting(before) { try put(tag, columns) }
    guard let current else { throw Self.missingValue(columns.current, columns.row) }
    try put(columns, head, value: current, insteadOf: old)
    for accessible in Set([old.columns.accessible, columns.accessible]) { touch(accessible, now: now) }
    return stored
  }

  /// True if somebody has set an item's expiry, or has set that the item never expires. Otherwise the expiry is the
  /// current value's own, and changes with the value.
  func isExpiryByHand(_ item: FoundItem) throws(VaultError) -> Bool {
    let info = item.head.item
    guard info.kind.facts.mayEnd else { return info.expires != nil }
    guard let digest = item.head.digests.last else { return true }
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    try openVersion(info.current, digest, item.columns, scratch)
    return scratch.withBytes { info.kind.ownEnd(of: $0) } != info.expires
  }

  /// The expiry to store when somebody has set `expires`, and the value's own expiry is `own`.
  ///
  /// The store does not record who set an expiry: an expiry that differs from the value's own was set by hand. A caller
  /// who may only store values could store a certificate that ends in the very second of the item's expiry. This expiry
  /// would then look like the certificate's own. So the stored expiry is one second earlier in this case.
  private static func expiry(byHand expires: Int64?, besides own: Int64?) -> Int64? {
    guard let expires else { return nil }
    return expires == own ? expires - 1 : expires
  }

  /// Checks a value against the kind and the use of its item, and checks that its parts, if they are keys, belong
  /// together.
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

  /// Deletes the oldest versions that are too many or too large. A store from before the limits may have many such
  /// versions.
  private func prune(_ head: inout HeadRecord, _ surplus: Int, _ old: FoundItem) throws(VaultError) {
    for (version, digest) in zip(head.item.versions, head.digests).prefix(surplus) {
      try noteRemoval(of: version.number, old.columns, digest)
      try database.deleteValue(row: old.columns.row, version: version.number)
    }
    head.item.versions.removeFirst(surplus)
    head.digests.removeFirst(surplus)
  }

  /// The number of `versions`, oldest first, that must be deleted so that at most ``keptVersions`` remain, and those
  /// that are not current have at most ``keptBytes`` together. The last version always stays, because its record is the
  /// current value and not an older version's.
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

  /// Opens one version that is bound to `old`, passes it to `check`, and seals it bound to `new`.
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
