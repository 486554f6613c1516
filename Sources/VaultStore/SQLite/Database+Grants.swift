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
  private static let longestGrant = 16 << 10

  /// All rows, ordered by their numbers.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` also when there are more than there can be, they are out of order, or one is of no
  ///   class.
  func grants() throws(VaultError) -> [GrantRow] {
    var found: [GrantRow] = []
    try statements.grants.all.each { (row: Statement) throws(VaultError) in
      let number = try row.integer(0)
      if let last = found.last?.row, last >= number { throw Self.outOfOrder("grants") }
      guard found.count < Self.mostRows else { throw .corrupt("vault.db: there are too many grants") }
      let id = try row.withBlob(1) { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }
      guard let id, let accessible = UInt8(exactly: try row.integer(2)).flatMap(AccessClass.init(rawValue:)) else {
        throw .corrupt("vault.db: a grant is none of ours")
      }
      let sealed = try row.bytes(3, atMost: Self.longestGrant)
      found.append(GrantRow(row: number, id: id, accessible: accessible, sealed: sealed))
      return true
    }
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
