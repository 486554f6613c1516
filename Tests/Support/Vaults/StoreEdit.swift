import CSQLite

// An adversary's edits of a store whose daemon is stopped, through plain SQLite and without a key.
extension Sandbox {
  /// Runs statements on the store's database.
  public func editStore(_ statements: String..., in folder: String = ".") throws {
    var connection: OpaquePointer?
    defer { unsafe sqlite3_close(connection) }
    try Sandbox.check(unsafe sqlite3_open_v2("\(store)/\(folder)/vault.db", &connection, SQLITE_OPEN_READWRITE, nil))
    for statement in statements { try Sandbox.check(unsafe sqlite3_exec(connection, statement, nil, nil, nil)) }
  }

  /// Copies rows of the store's database, each as a statement that puts the row back.
  public func copyRows(_ table: String, where condition: String) throws -> [String] {
    let columns = [
      "heads": "id item class revision policy current sealed value", "vals": "item version sealed",
      "slots": "id record", "keys": "name sealed", "meta": "name value",
    ]
    // quote() writes numbers and blobs as SQL literals.
    let list = (columns[table] ?? "tag item class").split(separator: " ").map { "quote(\($0))" }
    let rows = try Sandbox.query(
      store + "/vault.db", "SELECT \(list.joined(separator: " || ',' || ")) FROM \(table) WHERE \(condition)")
    guard !rows.isEmpty else { throw SandboxError("no such rows") }
    return rows.map { "INSERT OR REPLACE INTO \(table) VALUES(\($0))" }
  }

  /// Runs one statement and returns the first column of each row.
  private static func query(_ path: String, _ sql: String) throws -> [String] {
    var connection: OpaquePointer?
    defer { unsafe sqlite3_close(connection) }
    try check(unsafe sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil))
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    try check(unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    var rows: [String] = []
    while true {
      let code = unsafe sqlite3_step(statement)
      guard code == SQLITE_ROW else {
        if code != SQLITE_DONE { try check(code) }
        return rows
      }
      if let text = unsafe sqlite3_column_text(statement, 0) { unsafe rows.append(String(cString: text)) }
    }
  }

  private static func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw SandboxError(unsafe String(cString: sqlite3_errstr(code))) }
  }
}
