internal import VaultBytes
import VaultCore
import VaultModel

// The hashes over all records of each class. Each change updates them in its own transaction.
//
// A head, its values and its tags count towards the class of the item. Slots, wrapped keys and the next vault key count
// towards all three classes, each time under a different key. Whoever changes these has the vault key, from which all
// three keys follow; nobody who has less than the vault key can make the three classes agree.
extension Keychain {
  // MARK: Noting changes

  func note(
    _ kind: RecordChanges.Kind, _ accessible: AccessClass, _ place: RecordSets.Place, _ key: RecordKey,
    _ mark: @autoclosure () -> RecordMark
  ) {
    changes.append(.init(kind: kind, accessible: accessible, place: place, key: key, mark: mark()))
    if place.table == .heads { facts[accessible]?.items += kind == .insert ? 1 : -1 }
  }

  /// Notes the insertion or removal of a head.
  func note(_ kind: RecordChanges.Kind, _ columns: HeadColumns, head sealed: [UInt8]) throws(VaultError) {
    let mark = try sealed.withSpan { (bytes: RawSpan) throws(VaultError) in
      try self.mark(columns, head: bytes)
    }
    note(kind, columns.accessible, .init(.heads), .head(columns.row), mark)
  }

  /// Notes the removal of a head that is replaced or deleted, if its mark was made when the head was found.
  func noteRemoval(of old: FoundItem) {
    if old.head.item.trashed != nil { facts[old.columns.accessible]?.trashed -= 1 }
    guard let mark = old.mark else { return }
    note(.remove, old.columns.accessible, .init(.heads), .head(old.columns.row), mark)
  }

  /// Notes the insertion of a value record, whose digest the item's head holds.
  func note(inserted columns: HeadColumns, version: Int, _ digest: Digest) throws(VaultError) {
    try note(.insert, columns, version: version, digest)
  }

  /// Notes the removal of a value record that is deleted or replaced. The record must still be in the store, unless it
  /// was read for this change.
  ///
  /// The mark that leaves the hash is that of the record that the head names. So until a check has found the store
  /// intact, the record in the store is read first. Otherwise a record other than the one written would disappear
  /// without a trace, while a backup that was begun before still has it.
  ///
  /// - Parameter wasRead: true when the record was read for this change, and was the one that the head names.
  /// - Throws: ``VaultError/corrupt(_:)`` when the record is missing, or is not the one that the head names.
  func noteRemoval(
    of version: Int, _ columns: HeadColumns, _ digest: Digest, wasRead: Bool = false
  ) throws(VaultError) {
    if !isVerified, !wasRead {
      let isNamed = try database.withValue(row: columns.row, version: version) { Digest(of: $0) == digest }
      guard let isNamed else { throw Self.missingValue(version, columns.row) }
      guard isNamed else { throw Self.otherValue(version, columns.row) }
    }
    try note(.remove, columns, version: version, digest)
  }

  private func note(
    _ kind: RecordChanges.Kind, _ columns: HeadColumns, version: Int, _ digest: Digest
  ) throws(VaultError) {
    let mark = try self.mark(columns, version: version, digest)
    let key =
      version == columns.current ? .head(columns.row) : RecordKey.value(row: columns.row, version: Int64(version))
    note(kind, columns.accessible, .init(.values), key, mark)
  }

  func note(
    _ kind: RecordChanges.Kind, _ tag: Tag, row: Int64, _ accessible: AccessClass
  ) throws(VaultError) {
    let mark = try self.mark(tag, row: row, accessible)
    note(kind, accessible, .init(.tags), .tag(tag, row: row), mark)
  }

  /// Notes the new content of a row that counts towards all classes. The mark is nil when the row is removed.
  ///
  /// The old content leaves the hashes as it was counted, even if the row in the store is damaged.
  func note(_ place: RecordSets.Place, _ mark: (AccessClass) throws(VaultError) -> RecordMark?) throws(VaultError) {
    for accessible in AccessClass.allCases {
      changes.clear(place, accessible, stored: try classRecord(accessible).sets[place])
      if let mark = try mark(accessible) { note(.insert, accessible, place, .single, mark) }
    }
  }

  func note(slot: Int64, _ record: [UInt8]?) throws(VaultError) {
    try note(Self.place(slot: slot)) { (accessible: AccessClass) throws(VaultError) in
      guard let record else { return nil }
      return try mark(slot: slot, record, accessible)
    }
  }

  func note(key name: String, _ sealed: [UInt8]) throws(VaultError) {
    try note(Self.place(key: name)) { (accessible: AccessClass) throws(VaultError) in
      try mark(key: name, sealed, accessible)
    }
  }

  func note(rekeying record: [UInt8]?) throws(VaultError) {
    try note(Self.rekeyingPlace) { (accessible: AccessClass) throws(VaultError) in
      guard let record else { return nil }
      return try mark(rekeying: record, accessible)
    }
  }

  // MARK: The marks of records

  /// The mark of a head that was found; nil when the class's value key is not in memory: the change is then refused
  /// anyway.
  func mark(_ row: Row) throws(VaultError) -> RecordMark? {
    guard opensValues(of: row.columns.accessible) else { return nil }
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

  /// The mark of a tag that leads to a row. The mark of the row's head says which item is in the row.
  func mark(_ tag: Tag, row: Int64, _ accessible: AccessClass) throws(VaultError) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .tags, number: row, accessible: accessible)
    return try withIntegrityKey(accessible) { (key: borrowing SecureBytes) in
      tag.withBytes { RecordMark(place, $0, key: key) }
    }
  }

  func mark(slot: Int64, _ record: [UInt8], _ accessible: AccessClass) throws(VaultError) -> RecordMark {
    try withIntegrityKey(accessible) { mark(slot: slot, record, accessible, key: $0) }
  }

  func mark(
    slot: Int64, _ record: [UInt8], _ accessible: AccessClass, key: borrowing SecureBytes
  ) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .slots, number: slot, accessible: accessible)
    return record.withSpan { RecordMark(place, $0, key: key) }
  }

  func mark(key name: String, _ sealed: [UInt8], _ accessible: AccessClass) throws(VaultError) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .keys, number: 0, accessible: accessible)
    return try withIntegrityKey(accessible) { (key: borrowing SecureBytes) in
      // No name contains a NUL, so no two rows give the same bytes.
      (Array(name.utf8) + [0] + sealed).withSpan { RecordMark(place, $0, key: key) }
    }
  }

  func mark(rekeying record: [UInt8], _ accessible: AccessClass) throws(VaultError) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .meta, number: 1, accessible: accessible)
    return try withIntegrityKey(accessible) { (key: borrowing SecureBytes) in
      record.withSpan { RecordMark(place, $0, key: key) }
    }
  }

  static func place(slot: Int64) -> RecordSets.Place { .init(.slots, part: UInt32(truncatingIfNeeded: slot)) }

  static func place(key name: String) -> RecordSets.Place { .init(.keys, part: KeyName.part(name)) }

  static let rekeyingPlace = RecordSets.Place(.meta, part: 1)

  // MARK: The class records

  /// The stored record of a class.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the record is missing or not authentic; ``VaultError/locked``.
  func classRecord(_ accessible: AccessClass) throws(VaultError) -> ClassRecord {
    try withIntegrityKey(accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      try classRecord(accessible, key: key)
    }
  }

  func classRecord(_ accessible: AccessClass, key: borrowing SecureBytes) throws(VaultError) -> ClassRecord {
    guard let stored = try database.hashes(accessible) else {
      throw .corrupt("the class record of \(accessible.name) is missing")
    }
    do throws(CryptoError) {
      return try stored.withSpan { (bytes: RawSpan) throws(CryptoError) in
        try ClassRecord(decoding: bytes, vault, accessible, key: key)
      }
    } catch {
      throw .corrupt("the class record of \(accessible.name) is not authentic")
    }
  }

  func store(_ record: ClassRecord, _ accessible: AccessClass) throws(VaultError) {
    let bytes = try withIntegrityKey(accessible) { record.encoded(vault, accessible, key: $0) }
    try database.putHashes(accessible, bytes)
    facts[accessible] = record.facts
  }

  /// Updates the class records with the changes of the open transaction. Also raises the time in the records of the
  /// other classes whose keys are in memory to the transaction's time, so that the expired items of those classes are
  /// not served either after the clock is turned back.
  ///
  /// - Parameter old: the facts in the records when the transaction began.
  func writeClassRecords(since old: ByClass<ClassRecord.Facts?>) throws(VaultError) {
    for accessible in AccessClass.allCases {
      let difference = changes.differences[accessible]
      let time = isBehind(accessible) ? transaction.stamp : nil
      guard !difference.isEmpty || time != nil || facts[accessible] != old[accessible] else { continue }
      var (sets, facts) = try classRecord(accessible).parts
      sets.merge(difference)
      facts = facts.raised(to: self.facts[accessible] ?? facts)
      facts.trashed = self.facts[accessible]?.trashed ?? facts.trashed
      if let time { facts.advance(to: time) }
      try store(ClassRecord(sets: sets, facts: facts), accessible)
    }
  }

  /// True when the open transaction is more than a minute later than the time in a class's record, and that record can
  /// be changed.
  private func isBehind(_ accessible: AccessClass) -> Bool {
    guard let stamp = transaction.stamp, isVouchedFor[accessible], holdsIntegrityKey(accessible),
      let time = facts[accessible]?.time, time < stamp
    else { return false }
    let (difference, overflow) = stamp.subtractingReportingOverflow(time)
    return overflow || difference > 60
  }

  /// Writes the class records of a store that is being made and has no item yet. All keys must be in memory.
  func writeFirstRecords(_ facts: ByClass<ClassRecord.Facts>) throws(VaultError) {
    var walk = RecordWalk()
    var verification = Verification()
    try walk.walkFewRows(self, &verification)
    if let finding = verification.findings.first { throw .corrupt(finding.text) }
    for accessible in AccessClass.allCases {
      try store(ClassRecord(sets: walk.sets[accessible], facts: facts[accessible]), accessible)
    }
  }

  // MARK: Keys

  /// True when the integrity key of a class, under which its hashes are computed, is in memory.
  func holdsIntegrityKey(_ accessible: AccessClass) -> Bool { withKeys(accessible) { $0.integrity != nil } }

  /// Lends the integrity key of a class.
  func withIntegrityKey<R: ~Copyable>(
    _ accessible: AccessClass, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try withKeys(accessible) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.integrity {
      case .some(let key): try body(key)
      case .none: try self.keys.lent.with(accessible, body)
      }
    }
  }

  /// Makes a change to slots or wrapped keys, in any state of the keychain. Integrity keys that are not in memory are
  /// derived from the vault key. They stay until the end of the outermost transaction, which writes the class records.
  func change<R>(
    vaultKey: borrowing SecureBytes, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    // If one key does not unwrap, none of the others stays in memory.
    defer { if case .none = transaction.state { keys.lent = LentKeys() } }
    for accessible in AccessClass.allCases where !holdsIntegrityKey(accessible) {
      keys.lent.take(Subkey.integrity.derive(from: try unwrap(accessible, under: .vault, vaultKey)), accessible)
    }
    return try write(body)
  }
}

/// Integrity keys that are held in memory for one transaction only.
struct LentKeys: ~Copyable {
  private var whenUnlocked: SecureBytes?
  private var afterFirstUnlock: SecureBytes?
  private var always: SecureBytes?

  /// Keeps the key of a class.
  mutating func take(_ key: consuming SecureBytes?, _ accessible: AccessClass) {
    switch accessible {
    case .whenUnlocked: whenUnlocked = key
    case .afterFirstUnlock: afterFirstUnlock = key
    case .always: always = key
    }
  }

  /// Lends the key of a class.
  ///
  /// - Throws: ``VaultError/locked`` when there is no such key.
  borrowing func with<R: ~Copyable>(
    _ accessible: AccessClass, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    switch accessible {
    case .whenUnlocked: try Self.lend(whenUnlocked, body)
    case .afterFirstUnlock: try Self.lend(afterFirstUnlock, body)
    case .always: try Self.lend(always, body)
    }
  }

  private static func lend<R: ~Copyable>(
    _ key: borrowing SecureBytes?, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    switch key {
    case .some(let key): try body(key)
    case .none: throw .locked
    }
  }
}
