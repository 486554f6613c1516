import CSQLite
import Foundation
import Testing
import VaultStore

// Edits by an adversary who uses plain SQLite, without a key.
extension Fixture {
  /// Runs statements on the closed vault's database.
  func sql(_ statements: String...) throws {
    for statement in statements { _ = try Self.run(path("vault.db"), statement) }
  }

  /// Returns copies of rows, each as an SQL statement that puts the row back.
  func copied(_ table: String, where condition: String) throws -> [String] {
    // quote() writes numbers and blobs as SQL literals.
    let names = [
      "heads": "id item class revision policy current sealed value", "vals": "item version sealed",
      "tags": "tag item class", "grants": "id item class sealed",
      "deposits": "id item class state depositor sealed",
      "meta": "name value", "slots": "id record", "keys": "name sealed", "hashes": "class record",
    ]
    let list = (names[table] ?? "").split(separator: " ").map { "quote(\($0))" }.joined(separator: " || ',' || ")
    return try texts("SELECT \(list) FROM \(table) WHERE \(condition)").map {
      "INSERT OR REPLACE INTO \(table) VALUES(\($0))"
    }
  }

  /// Returns the first column of each row; there must be at least one row.
  private func texts(_ sql: String) throws -> [String] {
    var connection: OpaquePointer?
    defer { unsafe sqlite3_close(connection) }
    try Self.check(unsafe sqlite3_open_v2(path("vault.db"), &connection, SQLITE_OPEN_READWRITE, nil))
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    try Self.check(unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    var rows: [String] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      rows.append(unsafe String(cString: sqlite3_column_text(statement, 0)))
    }
    if rows.isEmpty { throw RawError(text: "no such rows") }
    return rows
  }

  /// Returns a copy of some columns of an item's row in `heads`, as an SQL statement that restores these and leaves the
  /// others.
  func copied(_ columns: [String], ofItem item: Int) throws -> [String] {
    let list = columns.map { "'\($0) = ' || quote(\($0))" }.joined(separator: " || ', ' || ")
    let sql = "SELECT 'UPDATE heads SET ' || \(list) || ' WHERE id = \(item)' FROM heads WHERE id = \(item)"
    return try texts(sql)
  }

  /// The columns that make up the head, without the value beside it.
  static let headColumns = ["class", "revision", "policy", "current", "sealed"]

  /// Puts back the rows that ``copied(_:where:)`` returned.
  func putBack(_ rows: [String]) throws { for row in rows { try sql(row) } }

  /// Returns the number of rows in a table, also while the vault is open.
  func rows(_ table: String) throws -> Int {
    let copy = try Self.temporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: copy) }
    for name in ["vault.db", "vault.db-wal"] where FileManager.default.fileExists(atPath: path(name)) {
      try FileManager.default.copyItem(atPath: path(name), toPath: copy + "/" + name)
    }
    return try Self.run(copy + "/vault.db", "SELECT count(*) FROM \(table)")
  }

  /// Runs `body` while the database has a log with one statement in it.
  func withOpenLog(after sql: String, _ body: () throws -> Void) throws {
    var connection: OpaquePointer?
    defer { unsafe sqlite3_close(connection) }
    try Self.check(unsafe sqlite3_open_v2(path("vault.db"), &connection, SQLITE_OPEN_READWRITE, nil))
    try Self.check(unsafe sqlite3_exec(connection, sql, nil, nil, nil))
    try body()
  }

  /// Runs one statement and returns the first column of its last row.
  static func run(_ path: String, _ sql: String) throws -> Int {
    var connection: OpaquePointer?
    defer { unsafe sqlite3_close(connection) }
    try check(unsafe sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil))
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    try check(unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    var answer = 0
    var code = SQLITE_ROW
    while code == SQLITE_ROW {
      code = unsafe sqlite3_step(statement)
      if code == SQLITE_ROW { answer = Int(unsafe sqlite3_column_int64(statement, 0)) }
    }
    if code != SQLITE_DONE { try check(code) }
    return answer
  }

  private static func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw RawError(text: unsafe String(cString: sqlite3_errstr(code))) }
  }
}

struct RawError: Error { var text: String }
