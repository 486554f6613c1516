import VaultCore
import VaultModel

/// A row of the audit log: the first row of a chain (its beginning), or a sealed record of a chain.
struct AuditRow {
  let row: Int64
  /// The row of the beginning of this row's chain. A beginning has its own row here. 0 if the file names a row that
  /// cannot be that beginning.
  let chain: Int64
  let bytes: [UInt8]
  /// False if the row is none that a log can have, because its record is too long, for example. It then has no bytes.
  var isReadable = true

  var isBeginning: Bool { chain == row }
}

// The table of the audit log.
extension Database {
  /// The longest record in bytes.
  static let longestAudit = AuditBlock.largest + AEAD.overhead

  /// Stores a new row.
  func insertAudit(_ row: AuditRow) throws(VaultError) {
    let insert = statements.audit.insert
    try insert.bind(1, row.row)
    try insert.bind(2, row.chain)
    try insert.bind(3, row.bytes)
    try runOnOneRow(insert, "an audit record")
  }

  /// The row of that number; nil when there is none.
  func auditRow(_ number: Int64) throws(VaultError) -> AuditRow? {
    try statements.audit.one.bind(1, number)
    return try statements.audit.one.first { (row: Statement) throws(VaultError) in try Self.auditRow(row) }
  }

  /// Walks the rows above `after` up to `end`, until `body` returns false.
  ///
  /// - Parameter passesDamage: true to pass on rows that no log can have, as rows of no chain without bytes. Such a row
  ///   also stands for all rows on damaged pages before the next row that can be read.
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` when a row is none that a log can have, or the rows are
  ///   out of order.
  func eachAuditRow(
    after: Int64, upTo end: Int64 = AuditPosition.most, passesDamage: Bool = false,
    _ body: (AuditRow) throws(VaultError) -> Bool
  ) throws(VaultError) {
    var last = after
    var isAtDamage: Bool
    repeat {
      isAtDamage = false
      // An error of `body` is none of a page.
      var isOfPages = passesDamage
      do throws(VaultError) {
        try eachRow(after: last, upTo: end, passesDamage: passesDamage) { (row: AuditRow) throws(VaultError) in
          last = row.row
          isOfPages = false
          let goesOn = try body(row)
          isOfPages = passesDamage
          return goesOn
        }
      } catch {
        guard isOfPages, case .corrupt = error, let next = firstRow(behindDamageAfter: last, upTo: end) else {
          throw error
        }
        isAtDamage = true
        // Only the row itself may be damaged, such as the size that it states; then its number can be read.
        last = max(last + 1, next - 1)
        guard try body(AuditRow(row: last, chain: 0, bytes: [], isReadable: false)) else { return }
      }
    } while isAtDamage
  }

  private func eachRow(
    after: Int64, upTo end: Int64, passesDamage: Bool, _ body: (AuditRow) throws(VaultError) -> Bool
  ) throws(VaultError) {
    guard after < end else { return }
    // A search for `after` itself would meet the damaged page on which that row may lie.
    try statements.audit.after.bind(1, after + 1)
    try statements.audit.after.bind(2, min(end, AuditPosition.most))
    var last = after
    try statements.audit.after.each { (row: Statement) throws(VaultError) in
      let number = try row.integer(0)
      guard number > last else { throw Self.outOfOrder("audit") }
      last = number
      // The statement is not asked for another row after the last one, so damage behind that row has no effect.
      return try body(try Self.auditRow(row, passesDamage: passesDamage)) && number < end
    }
  }

  /// The number of the first row above `after` whose number can be read, for a walk that has met damage there. Nil if
  /// there is none up to `end`.
  ///
  /// A page has few rows, so the search goes from number to number first. Then its steps grow, and it may miss a page
  /// between damaged ones.
  private func firstRow(behindDamageAfter after: Int64, upTo end: Int64) -> Int64? {
    let end = min(end, AuditPosition.most)
    var (number, step) = (after + 1, Int64(1))
    while number <= end {
      if let found = try? firstAuditRow(from: number) { return found <= end ? found : nil }
      guard number < end else { return nil }
      if number - after >= Self.singleSteps { step *= 2 }
      number = min(end, number + step)
    }
    return nil
  }

  /// The number of rows that are tried one by one behind damage.
  private static let singleSteps: Int64 = 1024

  private static func auditRow(_ row: Statement, passesDamage: Bool = false) throws(VaultError) -> AuditRow {
    let number = try row.integer(0)
    guard (1...AuditPosition.most).contains(number) else {
      throw .corrupt("row \(number) of the audit log has a number that no log reaches")
    }
    do throws(VaultError) {
      let chain = try row.integer(1)
      return AuditRow(
        row: number, chain: (1...number).contains(chain) ? chain : 0, bytes: try row.bytes(2, atMost: longestAudit))
    } catch {
      guard passesDamage, case .corrupt = error else { throw error }
      return AuditRow(row: number, chain: 0, bytes: [], isReadable: false)
    }
  }

  /// The number of the first row from `start` on; nil when there is none.
  func firstAuditRow(from start: Int64 = .min) throws(VaultError) -> Int64? {
    try statements.audit.first.bind(1, start)
    return try statements.audit.first.first { (row: Statement) throws(VaultError) -> Int64? in
      row.isNull(0) ? nil : try row.integer(0)
    } ?? nil
  }

  /// The number of the last row up to `end`; 0 when there is none.
  func lastAuditRow(upTo end: Int64 = .max) throws(VaultError) -> Int64 {
    try statements.audit.last.bind(1, end)
    return try statements.audit.last.first { (row: Statement) throws(VaultError) in
      row.isNull(0) ? 0 : try row.integer(0)
    } ?? 0
  }

  /// Removes one row.
  func dropAudit(_ row: Int64) throws(VaultError) {
    try statements.audit.drop.bind(1, row)
    try runOnOneRow(statements.audit.drop, "an audit record")
  }

  /// Removes all rows up to this one.
  func cutAudit(upTo row: Int64) throws(VaultError) {
    try statements.audit.cut.bind(1, row)
    try statements.audit.cut.run()
  }

  /// Removes these rows.
  func cutAudit(rows: ClosedRange<Int64>) throws(VaultError) {
    try statements.audit.cutRows.bind(1, rows.lowerBound)
    try statements.audit.cutRows.bind(2, rows.upperBound)
    try statements.audit.cutRows.run()
  }

  /// Removes all rows from this one on.
  func cutAudit(from row: Int64) throws(VaultError) {
    try statements.audit.cutEnd.bind(1, row)
    try statements.audit.cutEnd.run()
  }
}
