import VaultCore
import VaultModel

// The hashes over all records of each class, which are brought up to date with every change, in its transaction.
//
// A head, its values and its tags count to the class of the item. Wrapped keys and slots count to `after-first-unlock`:
// its key is held while the vault is locked, and unlike that of `always` nothing that lies on the disk gives it. The clock
// counts to `always`, whose key makes its MAC.
extension Keychain {
  static let slotClass = AccessClass.afterFirstUnlock

  // MARK: What a change says

  func note(
    _ kind: RecordChanges.Kind, _ accessible: AccessClass, _ place: RecordSets.Place, _ key: RecordKey,
    _ mark: @autoclosure () -> RecordMark
  ) {
    guard hasHashes else { return }
    changes.append(.init(kind: kind, accessible: accessible, place: place, key: key, mark: mark()))
    if place.table == .heads { itemCounts[accessible]? += kind == .insert ? 1 : -1 }
  }

  /// A head that is written.
  func note(_ kind: RecordChanges.Kind, _ columns: HeadColumns, head sealed: [UInt8]) throws(VaultError) {
    guard hasHashes else { return }
    let mark = try sealed.withSpan { (bytes: RawSpan) throws(VaultError) in
      try self.mark(columns, head: bytes)
    }
    note(kind, columns.accessible, .init(.heads), .head(columns.row), mark)
  }

  /// A head that is replaced or deleted, which was found to be changed.
  func noteRemoval(of old: FoundItem) {
    guard hasHashes, let mark = old.mark else { return }
    note(.remove, old.columns.accessible, .init(.heads), .head(old.columns.row), mark)
  }

  /// A value record, whose digest the item's head holds.
  func note(
    _ kind: RecordChanges.Kind, _ columns: HeadColumns, version: Int, _ digest: Digest
  ) throws(VaultError) {
    guard hasHashes else { return }
    let mark = try self.mark(columns, version: version, digest)
    let key =
      version == columns.current ? .head(columns.row) : RecordKey.value(row: columns.row, version: Int64(version))
    note(kind, columns.accessible, .init(.values), key, mark)
  }

  func note(
    _ kind: RecordChanges.Kind, _ tag: Tag, row: Int64, _ accessible: AccessClass
  ) throws(VaultError) {
    guard hasHashes else { return }
    let mark = try self.mark(tag, row: row, accessible)
    note(kind, accessible, .init(.tags), .tag(tag, row: row), mark)
  }

  func note(_ kind: RecordChanges.Kind, slot: Int64, _ record: [UInt8]) throws(VaultError) {
    guard hasHashes else { return }
    let mark = try self.mark(slot: slot, record)
    note(kind, Self.slotClass, .init(.slots, part: UInt32(truncatingIfNeeded: slot)), .single, mark)
  }

  func note(_ kind: RecordChanges.Kind, key name: String, _ sealed: [UInt8]) throws(VaultError) {
    guard hasHashes else { return }
    let mark = try self.mark(key: name, sealed)
    note(kind, Self.slotClass, .init(.keys, part: KeyName.part(name)), .single, mark)
  }

  // MARK: What stands for each record

  /// The mark of a head that was found, if the key is in memory: else the change is refused for want of another key.
  func mark(_ row: Row) throws(VaultError) -> RecordMark? {
    guard hasHashes, opensValues(of: row.columns.accessible) else { return nil }
    return try row.withSealedHead { (bytes: RawSpan) throws(VaultError) in try mark(row.columns, head: bytes) }
  }

  func mark(_ columns: HeadColumns, head sealed: RawSpan) throws(VaultError) -> RecordMark {
    try withIntegrityKey(columns.accessible) {
      RecordMark(columns.associatedData(vault), row: columns.row, sealed, key: $0)
    }
  }

  func mark(_ columns: HeadColumns, version: Int, _ digest: Digest) throws(VaultError) -> RecordMark {
    try withIntegrityKey(columns.accessible) { (key: borrowing SecureBytes) in
      digest.withBytes { RecordMark(columns.associatedData(vault, version: version), $0, key: key) }
    }
  }

  /// A tag leads to a row, whose head's mark says which item that is.
  func mark(_ tag: Tag, row: Int64, _ accessible: AccessClass) throws(VaultError) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .tags, number: row, accessible: accessible)
    return try withIntegrityKey(accessible) { (key: borrowing SecureBytes) in
      tag.withBytes { RecordMark(place, $0, key: key) }
    }
  }

  func mark(slot: Int64, _ record: [UInt8]) throws(VaultError) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .slots, number: slot, accessible: Self.slotClass)
    return try withIntegrityKey(Self.slotClass) { (key: borrowing SecureBytes) in
      record.withSpan { RecordMark(place, $0, key: key) }
    }
  }

  func mark(key name: String, _ sealed: [UInt8]) throws(VaultError) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .keys, number: 0, accessible: Self.slotClass)
    return try withIntegrityKey(Self.slotClass) { (key: borrowing SecureBytes) in
      // No name has a NUL, so no two rows are the same bytes.
      (Array(name.utf8) + [0] + sealed).withSpan { RecordMark(place, $0, key: key) }
    }
  }

  // MARK: The stored hashes

  /// The hashes of a class as they are stored.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when they are missing or not ours; ``VaultError/locked``.
  func storedHashes(_ accessible: AccessClass) throws(VaultError) -> RecordSets {
    guard let record = try database.hashes(accessible) else {
      throw .corrupt("the hash over the records of class \(accessible.name) is missing")
    }
    return try withIntegrityKey(accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) {
        return try record.withSpan { (bytes: RawSpan) throws(CryptoError) in
          try RecordSets(decoding: bytes, vault, accessible, key: key)
        }
      } catch {
        throw .corrupt("the hash over the records of class \(accessible.name) is not authentic")
      }
    }
  }

  /// Learns how many items a class has, once its keys are in memory.
  func countItems(_ accessible: AccessClass) {
    itemCounts[accessible] = hasHashes ? (try? storedHashes(accessible))?[.init(.heads)].count : nil
  }

  private func store(_ sets: RecordSets, _ accessible: AccessClass) throws(VaultError) {
    let record = try withIntegrityKey(accessible) { sets.encoded(vault, accessible, key: $0) }
    try database.putHashes(accessible, record)
  }

  /// Brings the stored hashes up to what the open transaction has changed.
  func writeHashes() throws(VaultError) {
    for accessible in AccessClass.allCases where !changes.differences[accessible].isEmpty {
      var sets = try storedHashes(accessible)
      sets.merge(changes.differences[accessible])
      try store(sets, accessible)
    }
  }

  /// Gives a store of an earlier program its hashes.
  func makeHashes() throws(VaultError) {
    let saved = clock
    try database.begin()
    do throws(VaultError) {
      let mac = try withIntegrityKey(.always) { clock.mac(vault, hasHashes: true, key: $0) }
      try database.putClock(time: saved.time, items: saved.items, mac: mac)
      try writeAllHashes()
      try database.commit()
    } catch {
      database.rollback()
      throw error
    }
    hasHashes = true
  }

  /// Writes the hashes over all records as they are. All keys must be in memory.
  func writeAllHashes() throws(VaultError) {
    var pass = VerifyPass(expecting: 0)
    while try !pass.walk(self, records: .max) {}
    try pass.walkFewRows(self)
    for accessible in AccessClass.allCases { try store(pass.found(accessible), accessible) }
  }

  // MARK: Keys

  /// Whether the key of a class's hashes is in memory.
  func holdsIntegrityKey(_ accessible: AccessClass) -> Bool { withKeys(accessible) { $0.integrity != nil } }

  /// Lends the key of a class's hashes.
  func withIntegrityKey<R: ~Copyable>(
    _ accessible: AccessClass, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    if accessible == Self.slotClass {
      switch lentKey {
      case .some(let key): return try body(key)
      case .none: break
      }
    }
    return try withKeys(accessible) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.integrity {
      case .some(let key): try body(key)
      case .none: throw .locked
      }
    }
  }

  /// Makes a change to slots or wrapped keys, in any state: what is missing for it comes from the vault key.
  func change<R>(
    vaultKey: borrowing SecureBytes, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard !holdsIntegrityKey(Self.slotClass) || !clockIsAuthentic else { return try write(body) }
    // The clock tells whether there are hashes.
    if !clockIsAuthentic { try checkClock(ClassKeys(classKey: try unwrap(.always, under: .vault, vaultKey))) }
    lentKey = Subkey.integrity.derive(from: try unwrap(Self.slotClass, under: .vault, vaultKey))
    defer { lentKey = nil }
    return try write(body)
  }
}
