import VaultCore
import VaultModel

/// A row of the table of grants, sealed.
struct GrantRow {
  let row: Int64
  let id: ItemID
  let accessible: AccessClass
  let sealed: [UInt8]
}

// The table of grants, which has few rows.
extension Database {
  /// The most rows, more than a vault has.
  private static let mostRows = AccessClass.allCases.count * Keychain.mostGrantRecords
  /// The longest record in bytes, with room for what later programs add.
  static let longestGrant = 16 << 10

  /// Walks all rows, ordered by their numbers.
  ///
  /// - Parameter body: gets each row, or the error in reading it: one of no class, say, which is about this row alone.
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` when there are more than there can be, or they are out of
  ///   order.
  func eachGrant(_ body: (Result<GrantRow, VaultError>) throws(VaultError) -> Void) throws(VaultError) {
    var (last, count): (Int64?, Int) = (nil, 0)
    try statements.grants.all.each { (row: Statement) throws(VaultError) in
      let number = try row.integer(0)
      if let last, last >= number { throw Self.outOfOrder("grants") }
      guard count < Self.mostRows else { throw .corrupt("vault.db: there are too many grants") }
      (last, count) = (number, count + 1)
      let found: Result<GrantRow, VaultError>
      do throws(VaultError) { found = .success(try Self.grant(row, number)) } catch .corrupt(let reason) {
        found = .failure(.corrupt(reason))
      }
      try body(found)
      return true
    }
  }

  private static func grant(_ row: Statement, _ number: Int64) throws(VaultError) -> GrantRow {
    let id = row.isNull(1) ? nil : try row.withBlob(1) { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }
    guard let id, let accessible = UInt8(exactly: try row.integer(2)).flatMap(AccessClass.init(rawValue:)) else {
      throw .corrupt("vault.db: a grant is none of ours")
    }
    return GrantRow(row: number, id: id, accessible: accessible, sealed: try row.bytes(3, atMost: longestGrant))
  }

  /// All rows that are grants, ordered by their numbers. Whatever else is there is for a check to report: it counts
  /// towards no hash, and one that did makes the rest differ from that.
  func grants() throws(VaultError) -> [GrantRow] {
    var found: [GrantRow] = []
    try eachGrant { row in if let row = try? row.get() { found.append(row) } }
    return found
  }

  /// Stores a new row.
  func insertGrant(_ id: ItemID, _ accessible: AccessClass, _ sealed: [UInt8]) throws(VaultError) {
    let insert = statements.grants.insert
    try id.withBytes { (bytes: RawSpan) throws(VaultError) in try insert.bind(1, bytes) }
    try insert.bind(2, Int64(accessible.rawValue))
    try insert.bind(3, sealed)
    try runOnOneRow(insert, "a grant")
  }

  /// Removes a row.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is none of that number.
  func deleteGrant(_ row: Int64) throws(VaultError) {
    try statements.grants.delete.bind(1, row)
    try runOnOneRow(statements.grants.delete, "a grant")
  }
}
