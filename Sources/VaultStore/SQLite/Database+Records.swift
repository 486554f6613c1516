import VaultModel

// The few records beside the items: facts about the vault, wrapped keys, slots and class records.
extension Database {
  /// The most slots that a vault can have.
  static let maximumSlots = 255
  /// The most wrapped keys that are read, more than any vault has.
  private static let maximumKeys = 16
  /// The longest of these records in bytes, with room to spare.
  static let longestRecord = 128 << 10

  /// A fact about the whole vault.
  func meta(_ name: String) throws(VaultError) -> [UInt8]? { try record(name, statements.meta.get, Schema.meta) }

  /// Stores a fact about the whole vault.
  func putMeta(_ name: String, _ value: [UInt8]) throws(VaultError) {
    try statements.meta.put.bind(1, name)
    try statements.meta.put.bind(2, value)
    try statements.meta.put.run()
  }

  /// Removes a fact about the whole vault.
  func deleteMeta(_ name: String) throws(VaultError) {
    try statements.meta.delete.bind(1, name)
    try statements.meta.delete.run()
  }

  /// A wrapped key.
  func key(_ name: String) throws(VaultError) -> [UInt8]? { try record(name, statements.keys.get, Schema.keys) }

  /// All wrapped keys, or the error in reading each, with their names and ordered by them.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there are more than there can be, or they are out of order.
  func keys() throws(VaultError) -> [NamedRows.Row] {
    let found = try rows(statements.keys.all, Schema.keys, limit: Self.maximumKeys + 1)
    guard found.count <= Self.maximumKeys else { throw .corrupt("vault.db: there are too many keys") }
    return found
  }

  // MARK: Tables that go by names

  /// The record of that name; nil when there is none. Where SQLite does not come to it, because of another row, it is
  /// read from the pages.
  private func record(
    _ name: String, _ statement: Statement, _ tree: Schema.Tree
  ) throws(VaultError) -> [UInt8]? {
    do throws(VaultError) {
      try statement.bind(1, name)
      return try statement.first { (row: Statement) throws(VaultError) in
        try row.bytes(0, atMost: Self.longestRecord)
      }
    } catch .corrupt(let reason) {
      guard let found = try? namedRows(tree) else { throw .corrupt(reason) }
      if let row = found.rows.first(where: { $0.name == name }) { return try row.record.get() }
      guard found.isWhole else { throw .corrupt(reason) }
      return nil
    }
  }

  /// The first rows of such a table in the order of their names, up to a limit, or the error in reading each: from the
  /// pages where SQLite does not come to all of them.
  private func rows(_ all: Statement, _ tree: Schema.Tree, limit: Int) throws(VaultError) -> [NamedRows.Row] {
    do throws(VaultError) {
      var found: [NamedRows.Row] = []
      try all.each { (row: Statement) throws(VaultError) in
        let name = try row.text(0)
        if let last = found.last?.name, !last.utf8.lexicographicallyPrecedes(name.utf8) {
          throw Self.outOfOrder(tree.name)
        }
        found.append((name, try Self.record(row)))
        return found.count < limit
      }
      return found
    } catch .corrupt(let reason) {
      guard let found = try? namedRows(tree), found.isWhole else { throw .corrupt(reason) }
      return Array(found.rows.prefix(limit))
    }
  }

  /// The second column of a row in a table with few rows; an error that is about this row alone is no reason not to
  /// read the next one.
  private static func record(_ row: Statement) throws(VaultError) -> Result<[UInt8], VaultError> {
    do throws(VaultError) { return .success(try row.bytes(1, atMost: longestRecord)) } catch .corrupt(let reason) {
      return .failure(.corrupt(reason))
    }
  }

  /// The class record of a class.
  func hashes(_ accessible: AccessClass) throws(VaultError) -> [UInt8]? {
    try statements.hashes.get.bind(1, Int64(accessible.rawValue))
    return try statements.hashes.get.first { (row: Statement) throws(VaultError) in
      try row.bytes(0, atMost: Self.longestRecord)
    }
  }

  /// Stores the class record of a class.
  func putHashes(_ accessible: AccessClass, _ record: [UInt8]) throws(VaultError) {
    try statements.hashes.put.bind(1, Int64(accessible.rawValue))
    try statements.hashes.put.bind(2, record)
    try statements.hashes.put.run()
  }

  /// Finds rows that are not ours in the tables of facts and of class records, whose rows nothing counts. Each of the
  /// two tables yields one finding for these, however many they are, and one for each fact that cannot be read.
  func foreignRows() throws(VaultError) -> [Finding] {
    var findings: [Finding] = []
    // Each of ours is met once, so that a walk over pages that lead in a circle ends, too.
    var names = Set(MetaName.all)
    for (name, record) in try rows(statements.meta.all, Schema.meta, limit: MetaName.all.count + 1) {
      guard names.remove(name) != nil else {
        findings.append(Finding(.foreign, "a fact about the vault was put in by somebody else"))
        break
      }
      if case .failure = record {
        findings.append(Finding(.damaged, "the fact \(name) about the vault is too long"))
      }
    }
    var classes = Set(AccessClass.allCases.map { Int64($0.rawValue) })
    try statements.hashes.classes.each { (row: Statement) throws(VaultError) in
      if classes.remove(try row.integer(0)) != nil { return true }
      findings.append(Finding(.foreign, "a class record of no class was put in by somebody else"))
      return false
    }
    return findings
  }

  /// Stores a wrapped key.
  func putKey(_ name: String, _ sealed: [UInt8]) throws(VaultError) {
    try statements.keys.put.bind(1, name)
    try statements.keys.put.bind(2, sealed)
    try statements.keys.put.run()
  }

  /// The ids of all slots, ordered, and the record of each or the error in reading that.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there are more than there can be, or they are out of order.
  func slots() throws(VaultError) -> [(id: Int64, record: Result<[UInt8], VaultError>)] {
    var found: [(id: Int64, record: Result<[UInt8], VaultError>)] = []
    try statements.slots.all.each { (row: Statement) throws(VaultError) in
      let id = try row.integer(0)
      if let last = found.last?.id, last >= id { throw Self.outOfOrder("slots") }
      guard found.count < Self.maximumSlots else { throw .corrupt("vault.db: there are too many slots") }
      found.append((id, try Self.record(row)))
      return true
    }
    return found
  }

  /// Stores a new slot's record.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when a slot has that id.
  func insertSlot(_ id: Int64, _ record: [UInt8]) throws(VaultError) {
    try write(statements.slots.insert, id, record)
  }

  /// Replaces the record of a slot.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when no slot has that id.
  func updateSlot(_ id: Int64, _ record: [UInt8]) throws(VaultError) {
    try write(statements.slots.update, id, record)
  }

  private func write(_ statement: Statement, _ id: Int64, _ record: [UInt8]) throws(VaultError) {
    try statement.bind(1, id)
    try statement.bind(2, record)
    try runOnOneRow(statement, "slot \(id)")
  }

  /// Removes a slot's record.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when no slot has that id.
  func deleteSlot(_ id: Int64) throws(VaultError) {
    try statements.slots.delete.bind(1, id)
    try runOnOneRow(statements.slots.delete, "slot \(id)")
  }
}
