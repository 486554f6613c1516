internal import VaultBytes
public import VaultCore
public import VaultModel

// The operations that create, change, rename and delete items.
extension Keychain {
  /// Stores a value: the first value of a new item, or the next version of an existing item.
  ///
  /// - Parameters:
  ///   - now: Unix seconds. The times stored are this time or the newest time of any write of the item's class,
  ///     whichever is later.
  ///   - ahead: what was sealed for this change before; see ``sealAhead(_:_:)``.
  /// - Throws: ``VaultError/alreadyExists`` without ``ItemChange/update``; ``VaultError/neverRead`` for a new value,
  ///   other than a generated one, of an item that is never read; ``VaultError/invalidValue(_:)``;
  ///   ``VaultError/needsAnotherItem(_:)``; ``VaultError/tooLarge(_:)``; ``VaultError/locked`` when a needed key is not
  ///   in memory, which for a new item includes the keys that tell whether its name is taken;
  ///   ``VaultError/corrupt(_:)``; ``VaultError/storage(_:)``. Then nothing has changed.
  @discardableResult
  public func set(
    _ change: ItemChange, value: borrowing SecureBytes, now: Int64, ahead: SealedAhead? = nil
  ) throws(VaultError) -> StoredVersion {
    try value.withBytes { (bytes: RawSpan) throws(VaultError) in try store(change, bytes, now, ahead) }
  }

  /// Stores a value that lies in the caller's own memory; see ``set(_:value:now:ahead:)``.
  @discardableResult
  public func set(
    _ change: ItemChange, value: RawSpan, now: Int64, ahead: SealedAhead? = nil
  ) throws(VaultError) -> StoredVersion {
    try store(change, value, now, ahead)
  }

  /// Changes an item's properties and keeps its value; see ``set(_:value:now:ahead:)``.
  ///
  /// - Throws: also ``VaultError/invalidValue(_:)`` when there is no such item, because a new item needs a value.
  @discardableResult
  public func set(_ change: ItemChange, now: Int64, ahead: SealedAhead? = nil) throws(VaultError) -> StoredVersion {
    try store(change, nil, now, ahead)
  }

  /// Stores the value that ``sealAhead(_:of:_:)`` or ``sealAhead(valueOf:for:_:)`` sealed for the change; see
  /// ``set(_:value:now:ahead:)``.
  ///
  /// - Parameter source: the digest of the value that was copied; nil for a value that came with the call.
  /// - Returns: nil when no value was sealed for the item's present state. Then nothing has changed.
  public func set(
    _ change: ItemChange, valueOf ahead: SealedAhead, from source: Digest? = nil, now: Int64
  ) throws(VaultError) -> StoredVersion? {
    guard let sealed = sealedValue(of: change, from: source, ahead) else { return nil }
    return try set(change, sealed, ahead, now: now)
  }

  /// Stores a value that ``sealedValue(of:from:_:)`` returned for the change in the same turn; see
  /// ``set(_:value:now:ahead:)``.
  public func set(
    _ change: ItemChange, _ sealed: SealedAhead.Value, _ ahead: SealedAhead, now: Int64
  ) throws(VaultError) -> StoredVersion {
    try store(change, nil, now, ahead, sealed)
  }

  private func store(
    _ change: ItemChange, _ value: RawSpan?, _ now: Int64, _ ahead: SealedAhead?, _ sealed: SealedAhead.Value? = nil
  ) throws(VaultError) -> StoredVersion {
    if let value, value.byteCount > Self.maximumValue { throw .tooLarge(Self.maximumValue) }
    if let attributes = change.attributes {
      do throws(ValueError) { try Attributes.validate(attributes) } catch { throw .invalidValue(error.reason) }
    }
    if let keyring = change.keyring {
      do throws(ValueError) { try keyring.validate() } catch { throw .invalidValue(error.reason) }
    }
    return try write { () throws(VaultError) in
      if let old = try find(change.name, marking: true) {
        guard opensValues(of: old.columns.accessible) else { throw .locked }
        guard change.update else { throw .alreadyExists }
        do throws(ValueError) {
          try change.checkUse(of: old.head.item)
          try change.checkReading(of: old.head.item)
        } catch { throw .needsAnotherItem(error.reason) }
        return try revise(
          old, to: change.applied(to: old.head.item), expires: change.expires, value, by: change.author, now,
          sealed: sealed, ahead: ahead, isGenerated: change.origin == .generated)
      }
      guard knowsAllNames else { throw .locked }
      if let ahead, let sealed {
        return try insert(change, sealed.size, sealed.facts, now, as: ahead.newItem(named: change.name)) { _ in
          sealed.sealed
        }
      }
      guard let value else { throw .invalidValue("a new item needs a value") }
      return try insert(change, value, now)
    }
  }

  func insert(
    _ change: ItemChange, _ value: RawSpan, _ now: Int64, as identity: ItemID = .random(), checked: ValueFacts? = nil
  ) throws(VaultError) -> StoredVersion {
    let use = try Self.use(change, change.newKind)
    let facts = if let checked { checked } else { try validate(value, change.newKind, use, change.attributes ?? [:]) }
    return try insert(change, value.byteCount, facts, now, as: identity) { (columns: HeadColumns) throws(VaultError) in
      try seal(value, columns, version: 1)
    }
  }

  /// Inserts a new item with its first value and the tags that lead to it.
  ///
  /// - Parameters:
  ///   - size: the size of the value in bytes.
  ///   - facts: the result of the check of the value.
  ///   - sealing: seals the value with the item's columns.
  private func insert(
    _ change: ItemChange, _ size: Int, _ facts: ValueFacts, _ now: Int64, as identity: ItemID,
    _ sealing: (HeadColumns) throws(VaultError) -> SealedValue
  ) throws(VaultError) -> StoredVersion {
    let (kind, attributes) = (change.newKind, change.attributes ?? [:])
    let use = try Self.use(change, kind)
    do throws(ValueError) { try change.checkNeverRead(use) } catch { throw .invalidValue(error.reason) }
    let policy = Policy(
      accessible: change.accessible ?? .whenUnlocked, require: change.require ?? .none,
      reuseWindow: change.reuseWindow ?? Policy().reuseWindow, isNeverRead: change.neverRead ?? false)
    guard opensValues(of: policy.accessible) else { throw .locked }
    let time = effective(now, policy.accessible)
    let item = ItemInfo(
      name: change.name, kind: kind, attributes: attributes, policy: policy, created: time, modified: time,
      expires: change.expires ?? facts.expires,
      versions: [VersionInfo(number: 1, created: time, size: size, writer: change.author)],
      creator: change.author, statedUse: kind.use == nil ? use : nil, publicKey: facts.publicKey,
      keyring: change.keyring)
    let columns = HeadColumns(
      row: try nextRow(for: policy.accessible), item: identity, accessible: policy.accessible, revision: 1,
      policyRevision: 1, current: 1)
    let sealed = try sealing(columns)
    let head = HeadRecord(item: item, policyRevision: 1, headRevision: 1, nextVersion: 2, digests: [sealed.digest])
    try put(columns, head, value: sealed)
    for tag in try tags(of: item) { try put(tag, columns) }
    try takeRow(columns.row, for: policy.accessible)
    touch(policy.accessible, now: now)
    return StoredVersion(number: 1, of: identity, isNew: true)
  }

  /// The use of a new item, which must fit the item's kind.
  static func use(_ change: ItemChange, _ kind: ItemKind) throws(VaultError) -> KeyUse? {
    guard let use = change.use else { return kind.use }
    if let only = kind.use, only != use {
      throw .invalidValue("an item of kind \(kind.rawValue) is only for \(only.name)")
    }
    if let needed = use.kind, needed != kind {
      throw .invalidValue("a key for \(use.name) has the kind \(needed.rawValue)")
    }
    return use
  }

  /// Renames an item; its versions and attributes stay.
  ///
  /// - Returns: the identity of the item.
  /// - Throws: ``VaultError/noSuchItem``, ``VaultError/alreadyExists`` (also for the same name), ``VaultError/locked``,
  ///   ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then nothing has changed.
  @discardableResult
  public func move(
    from: ItemName, to: ItemName, now: Int64, ahead: SealedAhead? = nil
  ) throws(VaultError) -> ItemID {
    try write { () throws(VaultError) in
      guard let old = try find(from, marking: true) else { throw unknownName }
      guard opensValues(of: old.columns.accessible), knowsAllNames else { throw .locked }
      if try find(to) != nil { throw .alreadyExists }
      var item = old.head.item
      item.name = to
      return try revise(old, to: item, expires: .none, nil, now, ahead: ahead).item
    }
  }

  /// Makes the value of an older version the current one again, as a new version. An expiry that was set by hand stays,
  /// even one that has passed; otherwise the item gets the value's own expiry.
  ///
  /// - Throws: ``VaultError/noSuchItem``, ``VaultError/noSuchVersion(_:)``, ``VaultError/locked``,
  ///   ``VaultError/neverRead`` for an item that is never read; ``VaultError/invalidValue(_:)`` when the item has
  ///   become an item of another kind since; ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then nothing has
  ///   changed.
  @discardableResult
  public func restoreVersion(
    _ number: Int, of name: ItemName, by author: String? = nil, now: Int64, ahead: SealedAhead? = nil
  ) throws(VaultError) -> StoredVersion {
    try write { () throws(VaultError) in
      guard let old = try find(name, marking: true) else { throw unknownName }
      guard opensValues(of: old.columns.accessible) else { throw .locked }
      guard let (info, digest) = old.head.version(number) else { throw .noSuchVersion(number) }
      let expires: Int64?? = try isExpiryByHand(old) ? .some(old.head.item.expires) : .none
      let place = ValuePlace(try NextRevision(of: old, as: old.head.item, hasNewValue: true))
      var item = old.head.item
      item.keyring?.modified = nil
      if let sealed = ahead?.value(for: place, from: digest, bound.identity) {
        return try revise(
          old, to: item, expires: expires, nil, by: author, now, sealed: sealed, ahead: ahead)
      }
      let value = Scratch()
      try openVersion(info, digest, old.columns, value)
      return try value.withBytes { (bytes: RawSpan) throws(VaultError) in
        try revise(
          old, to: item, expires: expires, bytes, by: author, now, ahead: ahead)
      }
    }
  }

  /// Deletes items with all their versions permanently. A name that is given twice counts once.
  ///
  /// - Throws: ``VaultError/noSuchItem``, ``VaultError/locked``, ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``. Then nothing is deleted.
  public func delete(_ names: [ItemName], now: Int64? = nil) throws(VaultError) {
    try write { () throws(VaultError) in
      for name in Set(names) {
        guard let old = try find(name, marking: true) else { throw unknownName }
        try delete(old)
        if let now { touch(old.columns.accessible, now: now) }
      }
    }
  }

  /// Deletes an item with all its versions.
  func delete(_ old: FoundItem) throws(VaultError) {
    guard opensValues(of: old.columns.accessible) else { throw .locked }
    for tag in try tags(of: old.head.item) { try delete(tag, old.columns) }
    for (version, digest) in zip(old.head.item.versions, old.head.digests) {
      try noteRemoval(of: version.number, old.columns, digest)
    }
    noteRemoval(of: old)
    try database.delete(row: old.columns.row, olderValues: old.head.item.versions.count - 1)
  }

  /// Seals one version of a value, bound to `columns`.
  func seal(_ value: RawSpan, _ columns: HeadColumns, version: Int) throws(VaultError) -> SealedValue {
    let bytes = try withValueKey(columns.accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      AEAD.seal(value, key: key, associatedData: columns.associatedData(vault, version: version))
    }
    return SealedValue(version: version, bytes: bytes, digest: bytes.withSpan { Digest(of: $0) })
  }

  /// Stores a version that is not the current one. `isNew` is true when the version has no record of its own yet,
  /// because it was the current one until now, for example.
  func put(_ columns: HeadColumns, older value: SealedValue, isNew: Bool) throws(VaultError) {
    if isNew {
      try database.insertValue(row: columns.row, version: value.version, sealed: value.bytes)
    } else {
      try database.updateValue(row: columns.row, version: value.version, sealed: value.bytes)
    }
    try note(inserted: columns, version: value.version, value.digest)
  }

  /// Stores a head with the current value beside it, in place of `old` if there is one. The caller notes the removal of
  /// the old value.
  ///
  /// - Throws: also ``VaultError/storage(_:)`` when the new head could not be read back, which happens only if somebody
  ///   forged the old one. The error is not one of damage, as in ``HeadRecord/countRevision(row:)``.
  func put(
    _ columns: HeadColumns, _ head: HeadRecord, value: SealedValue, insteadOf old: FoundItem? = nil
  ) throws(VaultError) {
    do throws(CryptoError) { try head.validate() } catch {
      throw .storage("item \(columns.row) cannot be changed in this way: its record has no room for that")
    }
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    head.encode(into: scratch)
    let sealed = try withHeadKey(columns.accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      scratch.withBytes { AEAD.seal($0, key: key, associatedData: columns.associatedData(vault)) }
    }
    if let old {
      try database.updateHead(columns, sealed: sealed, value: value.bytes)
      noteRemoval(of: old)
    } else {
      try database.insertHead(columns, sealed: sealed, value: value.bytes)
    }
    if let trashed = head.item.trashed {
      facts[columns.accessible]?.trashed += 1
      takeNumber(of: trashed, for: columns.accessible)
      note(head.item, trashed, columns)
    }
    try note(.insert, columns, head: sealed)
    try note(inserted: columns, version: value.version, value.digest)
  }

  func put(_ tag: Tag, _ columns: HeadColumns) throws(VaultError) {
    try database.insert(tag, row: columns.row, columns.accessible)
    try note(.insert, tag, row: columns.row, columns.accessible)
  }

  func delete(_ tag: Tag, _ columns: HeadColumns) throws(VaultError) {
    try database.delete(tag, row: columns.row, columns.accessible)
    try note(.remove, tag, row: columns.row, columns.accessible)
  }
}

/// One version of a value as it is stored, with its digest, which the item's head holds.
struct SealedValue {
  let version: Int
  let bytes: [UInt8]
  let digest: Digest
}
