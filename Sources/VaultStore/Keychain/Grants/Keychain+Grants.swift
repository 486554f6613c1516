internal import VaultBytes
public import VaultCore
public import VaultModel

// The grants. Their records belong to no item, and each is sealed once for each class in which it counts. Whoever has
// the keys of one class can make grants for items of that class, which these keys open anyway, and for no others.
extension Keychain {
  /// The most grant records that a vault has. A grant counts once, whatever the number of classes for which it is
  /// sealed. One place stays free for the record that suspends the grants after a restore (``suspendGrants()``).
  public static let mostGrantRecords = 4096
  /// The most grant records that changes leave.
  public static let mostGivenGrants = mostGrantRecords - 1

  /// True when the grants of a class can be read and written now.
  public func opensGrants(of accessible: AccessClass) -> Bool { withKeys(accessible) { $0.grants != nil } }

  /// The grants of a class, if they are exactly the records that were stored last.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when a record was changed, inserted, put back or
  ///   removed; then none of them may count; ``VaultError/storage(_:)``.
  public func grants(of accessible: AccessClass) throws(VaultError) -> [GrantRecord] {
    try noticing { () throws(VaultError) in
      try grants(of: accessible, among: readGrants(of: [accessible]))
    }
  }

  /// Reads the grants of those of `classes` whose keys are in memory.
  ///
  /// - Parameter keepsSealed: true to return the records in their sealed form as well.
  public func readGrants(of classes: [AccessClass], keepsSealed: Bool = false) -> [AccessClass: ReadGrants] {
    let walk = GrantWalk(self, classes, keepsSealed: keepsSealed)
    while !walk.step(self, isTimeUp: { false }) {}
    return walk.found
  }

  /// The grants of a class, from records that were read now or before an unlock.
  ///
  /// - Throws: as ``grants(of:)``.
  public func grants(
    of accessible: AccessClass, among read: [AccessClass: ReadGrants]
  ) throws(VaultError) -> [GrantRecord] {
    try noticing { () throws(VaultError) in
      guard opensGrants(of: accessible), let read = read[accessible] else { throw .locked }
      if let problem = read.problem { throw problem }
      guard try grantSet(of: accessible) == read.set else { throw Self.otherGrants(of: accessible) }
      guard read.isWhole else { throw Self.sealedGrant(of: accessible) }
      return read.records
    }
  }

  /// The grants of a class with these ids, as the store has them. This does not check whether they are those that were
  /// stored last. A record that does not open is left out.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/storage(_:)``.
  public func grants(with ids: Set<ItemID>, of accessible: AccessClass) throws(VaultError) -> [GrantRecord] {
    try open(database.grants(with: ids).rows, of: accessible)
  }

  /// Opens, of the records that were read before, those of one class. A record that does not open is left out.
  ///
  /// - Throws: ``VaultError/locked``.
  public func open(_ grants: [SealedGrant], of accessible: AccessClass) throws(VaultError) -> [GrantRecord] {
    try open(grants.map(\.row), of: accessible)
  }

  /// Opens the rows of one class. A row that does not open is left out.
  ///
  /// - Parameter plaintext: memory for the records, which the caller wipes.
  /// - Throws: ``VaultError/locked``.
  func open(
    _ rows: [GrantRow], of accessible: AccessClass, _ plaintext: Scratch = Scratch()
  ) throws(VaultError) -> [GrantRecord] {
    try withGrantsKey(accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      var records: [GrantRecord] = []
      for row in rows where row.accessible == accessible {
        let place = GrantRecord.place(row.id, vault, accessible)
        do throws(CryptoError) {
          try row.sealed.withSpan { (sealed: RawSpan) throws(CryptoError) in
            try plaintext.open(sealed, key: key, associatedData: place)
          }
          let record = try plaintext.withBytes { (bytes: RawSpan) throws(CryptoError) in
            try GrantRecord(decoding: bytes, id: row.id)
          }
          records.append(record)
        } catch { continue }
      }
      return records
    }
  }

  /// The set of a class's grant records that were stored last. If the set is the same as before, so are the records.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)``.
  public func grantSet(of accessible: AccessClass) throws(VaultError) -> RecordSet {
    try classRecord(accessible).grants
  }

  /// Stores grants in place of those with the ids in `gone`, in the classes whose keys are in memory.
  ///
  /// - Returns: the classes whose keys are not in memory, in which nothing has changed.
  /// - Throws: ``VaultError/locked`` when there are new grants and a class is locked; ``VaultError/invalidValue(_:)``
  ///   when there would be more than ``mostGivenGrants``; ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. Then
  ///   nothing has changed.
  @discardableResult
  public func changeGrants(
    removing gone: Set<ItemID>, adding new: [GrantRecord], now: Int64
  ) throws(VaultError) -> Set<AccessClass> {
    try changeGrants(removing: gone, adding: new, now: now, upTo: Self.mostGivenGrants)
  }

  private func changeGrants(
    removing gone: Set<ItemID>, adding new: [GrantRecord], now: Int64, upTo most: Int
  ) throws(VaultError) -> Set<AccessClass> {
    let closed = Set(AccessClass.allCases.filter { !opensGrants(of: $0) })
    guard new.isEmpty || closed.isEmpty else { throw .locked }
    try write { () throws(VaultError) in
      let (rows, others) = try database.grants(with: gone)
      var changed: Set<AccessClass> = []
      for row in rows where !closed.contains(row.accessible) {
        try remove(row)
        changed.insert(row.accessible)
      }
      for accessible in AccessClass.allCases where !new.isEmpty {
        guard others[accessible] + new.count <= most else {
          throw .invalidValue("a vault has at most \(most) grants")
        }
        for record in new { try insert(record, accessible) }
        changed.insert(accessible)
      }
      for accessible in changed { touch(accessible, now: now) }
    }
    return closed
  }

  /// Suspends the grants of a vault that came from a backup until somebody confirms them. On another machine the uids
  /// and units are different, and grants that were revoked since the backup would count again.
  ///
  /// Each class is examined by itself: the records of a weaker class may have been made by somebody who has the key of
  /// that class alone.
  func suspendGrants() throws(VaultError) {
    var isNeeded = false
    for accessible in AccessClass.allCases {
      let records = try grants(of: accessible)
      let isWaiting = records.contains { if case .unconfirmed = $0.content { true } else { false } }
      if !isWaiting, records.contains(where: { $0.grant != nil }) { isNeeded = true }
    }
    guard isNeeded else { return }
    // The time of the write is not later than that of any class, so that no class gets the time of another one.
    let times = AccessClass.allCases.compactMap(vouchedTime)
    let record = GrantRecord(.unconfirmed(since: vouchedTime(.whenUnlocked) ?? 0))
    _ = try changeGrants(removing: [], adding: [record], now: times.min() ?? 0, upTo: Self.mostGrantRecords)
  }

  /// Removes the first rows, in whatever condition, up to a weight of `records` (``Statement/firstRows(records:)``);
  /// true when none is left. A transaction must be open.
  func clearGrants(records: Int) throws(VaultError) -> Bool {
    let removed = try database.deleteGrants(records: records)
    changes.grants.formUnion(removed)
    guard removed.isEmpty else { return false }
    for accessible in AccessClass.allCases {
      changes.clear(Self.grantsPlace, accessible, stored: try grantSet(of: accessible))
    }
    return true
  }

  // MARK: Parts

  static let grantsPlace = RecordSets.Place(.grants)

  static func otherGrants(of accessible: AccessClass) -> VaultError {
    .corrupt("the grants for items of class \(accessible.name) are not those that were stored last")
  }

  static func sealedGrant(of accessible: AccessClass) -> VaultError {
    .corrupt("a grant for items of class \(accessible.name) does not open")
  }

  func mark(_ row: GrantRow) throws(VaultError) -> RecordMark {
    try withIntegrityKey(row.accessible) { (key: borrowing SecureBytes) in
      row.sealed.withSpan { RecordMark(GrantRecord.place(row.id, vault, row.accessible), $0, key: key) }
    }
  }

  /// Stores a new record; a transaction must be open.
  ///
  /// - Parameter number: the number of its row; nil for the next one.
  func insert(_ record: GrantRecord, _ accessible: AccessClass, row number: Int64? = nil) throws(VaultError) {
    let place = GrantRecord.place(record.id, vault, accessible)
    let sealed = try withGrantsKey(accessible) { (key: borrowing SecureBytes) in
      record.encoded().withBytes { AEAD.seal($0, key: key, associatedData: place) }
    }
    _ = try insert(record.id, accessible, sealed, row: number)
  }

  /// Stores a row of another store that has the same keys, and returns its number here; a transaction must be open.
  func insert(_ row: GrantRow) throws(VaultError) -> Int64 {
    try insert(row.id, row.accessible, row.sealed, row: nil)
  }

  private func insert(
    _ id: ItemID, _ accessible: AccessClass, _ sealed: [UInt8], row number: Int64?
  ) throws(VaultError) -> Int64 {
    let number = try database.insertGrant(id, accessible, sealed, row: number)
    changes.grants.insert(number)
    let mark = try mark(GrantRow(row: number, id: id, accessible: accessible, sealed: sealed))
    note(.insert, accessible, Self.grantsPlace, .grant(number), mark)
    return number
  }

  /// Removes a row; a transaction must be open.
  func remove(_ row: GrantRow) throws(VaultError) {
    try database.deleteGrant(row.row)
    changes.grants.insert(row.row)
    let mark = try mark(row)
    note(.remove, row.accessible, Self.grantsPlace, .grant(row.row), mark)
  }

  func withGrantsKey<R: ~Copyable>(
    _ accessible: AccessClass, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try withKeys(accessible) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.grants {
      case .some(let key): try body(key)
      case .none: throw .locked
      }
    }
  }
}
