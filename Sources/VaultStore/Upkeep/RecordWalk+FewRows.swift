import VaultCore
import VaultModel

/// The parts of the tables with few rows that a walk could not read. Each row that cannot be read is a finding of its
/// own. The set in which such a row counts is not compared with the stored hashes, because the row would seem to be
/// missing there.
struct UnreadRows {
  private var tables: Set<AssociatedData.Table> = []
  private var places: Set<RecordSets.Place> = []

  mutating func insert(_ table: AssociatedData.Table) { tables.insert(table) }
  mutating func insert(_ place: RecordSets.Place) { places.insert(place) }

  func contains(_ place: RecordSets.Place) -> Bool { tables.contains(place.table) || places.contains(place) }
}

// The tables with few rows. Each is read by itself, so that a table that cannot be read does not affect the others.
extension RecordWalk {
  /// Reads the tables with few rows, all at once.
  mutating func walkFewRows(_ keychain: Keychain, _ verification: inout Verification) throws(VaultError) {
    for table in AssociatedData.Table.allCases {
      do throws(VaultError) {
        switch table {
        case .heads, .values, .tags, .deposits, .grants, .hashes: break
        case .slots: try walkSlots(keychain, &verification)
        case .keys: try walkKeys(keychain, &verification)
        case .meta: try walkNextKey(keychain)
        case .audit: try walkAnchor(keychain)
        }
      } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, reason))
        unread.insert(table)
      }
    }
  }

  private mutating func walkSlots(_ keychain: Keychain, _ verification: inout Verification) throws(VaultError) {
    for (id, record) in try keychain.database.slots() {
      guard UInt32(exactly: id) != nil else {
        verification.add(Finding(.foreign, "slot \(id) was put in by somebody else"))
        continue
      }
      try take(record, Keychain.place(slot: id), "slot \(id)", keychain, &verification) {
        (record: [UInt8], accessible: AccessClass) throws(VaultError) in
        try keychain.mark(slot: id, record, accessible)
      }
    }
  }

  private mutating func walkKeys(_ keychain: Keychain, _ verification: inout Verification) throws(VaultError) {
    for (name, sealed) in try keychain.database.keys() {
      let place = Keychain.place(key: name)
      try take(sealed, place, "the wrapped key \(KeyName.name(part: place.part))", keychain, &verification) {
        (sealed: [UInt8], accessible: AccessClass) throws(VaultError) in
        try keychain.mark(key: name, sealed, accessible)
      }
    }
  }

  /// Counts the record of a row that counts towards all classes. A record that cannot be read is a finding.
  private mutating func take(
    _ record: Result<[UInt8], VaultError>, _ place: RecordSets.Place, _ subject: String, _ keychain: Keychain,
    _ verification: inout Verification, _ mark: ([UInt8], AccessClass) throws(VaultError) -> RecordMark
  ) throws(VaultError) {
    do throws(VaultError) {
      let record = try record.get()
      try insert(place, keychain) { (accessible: AccessClass) throws(VaultError) in try mark(record, accessible) }
    } catch .corrupt(let reason) {
      verification.add(Finding(.damaged, "\(subject) cannot be read: \(reason)"))
      unread.insert(place)
    }
  }

  private mutating func walkNextKey(_ keychain: Keychain) throws(VaultError) {
    guard let record = try keychain.database.meta(MetaName.rekeying) else { return }
    try insert(Keychain.rekeyingPlace, keychain) { (accessible: AccessClass) throws(VaultError) in
      try keychain.mark(rekeying: record, accessible)
    }
  }

  private mutating func walkAnchor(_ keychain: Keychain) throws(VaultError) {
    guard let anchor = try keychain.database.meta(MetaName.auditAnchor), isHashed(.whenUnlocked, keychain) else {
      return
    }
    sets[.whenUnlocked][Keychain.auditPlace].insert(try keychain.mark(anchor: anchor))
  }

  /// Counts a row that counts towards all classes.
  private mutating func insert(
    _ place: RecordSets.Place, _ keychain: Keychain, _ mark: (AccessClass) throws(VaultError) -> RecordMark
  ) throws(VaultError) {
    for accessible in AccessClass.allCases where isHashed(accessible, keychain) {
      sets[accessible][place].insert(try mark(accessible))
    }
  }
}
