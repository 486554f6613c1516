import VaultCore
import VaultModel

/// A row of the table of grants, sealed.
struct GrantRow {
  let row: Int64
  let id: ItemID
  let accessible: AccessClass
  let sealed: [UInt8]
}

// The table of grants.
extension Database {
  /// The most rows that are read: more than a vault has.
  static let mostGrantRows = AccessClass.allCases.count * Keychain.mostGrantRecords
  /// The error for a table with more than ``mostGrantRows`` rows. No row of such a table is examined further.
  static let tooManyGrants = VaultError.corrupt(
    "vault.db has more than \(mostGrantRows) rows of grants, and no vault has as many")
  /// The longest record in bytes, with room for what later versions of the program add.
  static let longestGrant = 16 << 10

  /// Walks the rows after `place`, until `body` returns false. `place` moves along.
  ///
  /// - Parameter body: gets each row, or the error in reading it, such as a row of no known class. An error is about
  ///   that row alone.
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` when there are more rows than a vault can have, or the
  ///   rows are out of order.
  func eachGrant(
    from place: inout RowPlace, _ body: (Result<GrantRow, VaultError>) throws(VaultError) -> Bool
  ) throws(VaultError) {
    guard let first = place.next else { return }
    try statements.grants.from.bind(1, first)
    try statements.grants.from.each { (row: Statement) throws(VaultError) in
      let number = try row.integer(0)
      try place.advance(to: number, in: .grants)
      let found: Result<GrantRow, VaultError>
      do throws(VaultError) { found = .success(try Self.grant(row, number)) } catch .corrupt(let reason) {
        found = .failure(.corrupt(reason))
      }
      return try body(found)
    }
  }

  private static func grant(_ row: Statement, _ number: Int64) throws(VaultError) -> GrantRow {
    let (id, accessible) = try place(row)
    return GrantRow(row: number, id: id, accessible: accessible, sealed: try row.bytes(3, atMost: longestGrant))
  }

  private static func place(_ row: Statement) throws(VaultError) -> (id: ItemID, accessible: AccessClass) {
    let id = row.isNull(1) ? nil : try row.withBlob(1) { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }
    guard let id, let accessible = UInt8(exactly: try row.integer(2)).flatMap(AccessClass.init(rawValue:)) else {
      throw .corrupt("vault.db: a grant was not written by vault")
    }
    return (id, accessible)
  }

  /// The row of that number; nil when there is none. A row that is no grant is left for a check to report: it counts
  /// towards no hash, and if it was a grant before, the remaining rows no longer match the hash.
  func grant(_ number: Int64) throws(VaultError) -> GrantRow? {
    try statements.grants.one.bind(1, number)
    let row = try statements.grants.one.first { (row: Statement) throws(VaultError) in try? Self.grant(row, number) }
    return row ?? nil
  }

  /// The grants whose records have these ids, and the number of the other grants of each class. No other record is
  /// copied, so a change of one grant costs little more than reading the id and the class of each.
  func grants(with ids: Set<ItemID>) throws(VaultError) -> (rows: [GrantRow], others: ByClass<Int>) {
    var (numbers, others): ([Int64], ByClass<Int>) = ([], ByClass(repeating: 0))
    var rowPlace = RowPlace()
    try statements.grants.places.each { (row: Statement) throws(VaultError) in
      let number = try row.integer(0)
      try rowPlace.advance(to: number, in: .grants)
      guard let place = try? Self.place(row) else { return true }
      if ids.contains(place.id) { numbers.append(number) } else { others[place.accessible] += 1 }
      return true
    }
    var rows: [GrantRow] = []
    for number in numbers { if let row = try grant(number) { rows.append(row) } }
    return (rows, others)
  }

  /// Stores a new row, and returns its number.
  ///
  /// - Parameter number: the number of the row; nil for the next one.
  func insertGrant(
    _ id: ItemID, _ accessible: AccessClass, _ sealed: [UInt8], row number: Int64?
  ) throws(VaultError) -> Int64 {
    let insert = statements.grants.insert
    if let number { try insert.bind(1, number) } else { try insert.bindNull(1) }
    try id.withBytes { (bytes: RawSpan) throws(VaultError) in try insert.bind(2, bytes) }
    try insert.bind(3, Int64(accessible.rawValue))
    try insert.bind(4, sealed)
    try runOnOneRow(insert, "a grant")
    return connection.lastInserted
  }

  /// Removes a row.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is no row of that number.
  func deleteGrant(_ row: Int64) throws(VaultError) {
    try statements.grants.delete.bind(1, row)
    try runOnOneRow(statements.grants.delete, "a grant")
  }

  /// Removes the first rows, up to a weight of `records` (``Statement/firstRows(records:)``), and returns their
  /// numbers.
  func deleteGrants(records: Int) throws(VaultError) -> [Int64] {
    let numbers = try statements.grants.sizes.firstRows(records: records)
    for number in numbers { try deleteGrant(number) }
    return numbers
  }
}
