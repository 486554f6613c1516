import VaultModel

// The few records beside the items: facts about the vault, wrapped keys, slots and class records.
extension Database {
  /// The most slots that a vault can have.
  static let maximumSlots = 255
  /// The most wrapped keys that are read: more than any vault has.
  private static let maximumKeys = 16
  /// The longest of these records in bytes, with room to spare.
  static let longestRecord = 128 << 10

  /// Reads a fact about the whole vault; nil when the store does not have it.
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

  /// Reads a wrapped key; nil when there is none of that name.
  func key(_ name: String) throws(VaultError) -> [UInt8]? { try record(name, statements.keys.get, Schema.keys) }

  /// All wrapped keys with their names, ordered by name. A key that cannot be read comes as the error in reading it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there are more keys than a vault can have, or they are out of order.
  func keys() throws(VaultError) -> [NamedRows.Row] {
    let found = try rows(statements.keys.all, Schema.keys, limit: Self.maximumKeys + 1)
    guard found.count <= Self.maximumKeys else { throw .corrupt("vault.db: there are too many keys") }
    return found
  }

  // MARK: Tables with names as keys

  /// The record of that name; nil when there is none. If a damaged row keeps SQLite from the record, the record is read
  /// directly from the file's pages.
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

  /// The first rows of a table with names as keys, in the order of their names, up to `limit`. A row that cannot be
  /// read comes as an error. If SQLite cannot reach all of the rows, they are read directly from the file's pages.
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

  /// The second column of a row in a table with few rows. An error in reading this row is returned, not thrown, so that
  /// the next row can still be read.
  private static func record(_ row: Statement) throws(VaultError) -> Result<[UInt8], VaultError> {
    do throws(VaultError) { return .success(try row.bytes(1, atMost: longestRecord)) } catch .corrupt(let reason) {
      return .failure(.corrupt(reason))
    }
  }

  /// Reads the class record of a class; nil when there is none.
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

  /// Finds rows that are not ours in the tables of facts and of class records, which no hash covers. Each of the two
  /// tables yields one finding for all of its foreign rows, and one finding for each fact that cannot be read.
  func foreignRows() throws(VaultError) -> [Finding] {
    var findings: [Finding] = []
    // Each of our names is accepted once, so that the walk ends even if the pages lead in a circle.
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
      findings.append(Finding(.foreign, "a record of an unknown class was put in by somebody else"))
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

  /// The ids of all slots in ascending order, each with its record or the error in reading it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there are more slots than a vault can have, or they are out of order.
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
  /// - Throws: ``VaultError/corrupt(_:)`` when a slot has that id already.
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
