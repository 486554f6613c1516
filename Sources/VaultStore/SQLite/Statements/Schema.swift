/// The tables of the one schema that this program reads and writes.
///
/// ``Authenticity`` says for each table how changes to it are noticed.
enum Schema {
  /// The text "vaul" in the header's application id (sqlite.org/fileformat.html §1.3.16), by which `file` and this
  /// program recognize a vault.
  static let applicationID = 0x7661_756C
  /// The database's `user_version`. A file with another version is refused and stays as it is.
  static let version = 6

  /// A tree of pages that holds a table or the index of a table.
  struct Tree {
    /// The name in `sqlite_schema`.
    let name: String
    /// The table that the tree belongs to.
    let table: String
    /// The statement that makes the table; nil for an index, which SQLite makes for a key.
    var sql: String?
    /// True when the tree is ordered by row numbers; otherwise it is ordered by its first columns.
    var isTable = true
    /// The columns of each row or entry, in their order. The column that stands for the row number is NULL.
    let columns: [StoredRecord.Column]
    /// The number of columns that form the key of a tree without row numbers.
    var keys = 0
  }

  /// The tree that describes all others. Its root is page 1 (sqlite.org/fileformat2.html §2.6).
  static let schema = Tree(
    name: "sqlite_schema", table: "sqlite_schema", columns: [.text, .text, .text, .integer, .textOrNull])

  /// The one table that has an index beside it.
  static let vals = "vals"

  static let tables = trees.compactMap(\.sql)

  // The tables whose rows are found by a name.
  static let meta = Tree(
    name: "meta", table: "meta",
    sql: "CREATE TABLE meta(name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
    isTable: false, columns: [.text, .blob], keys: 1)
  static let keys = Tree(
    name: "keys", table: "keys",
    sql: "CREATE TABLE keys(name TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID",
    isTable: false, columns: [.text, .blob], keys: 1)

  static let trees = [
    // Facts about the whole vault: `vault-id` (16 bytes), `stale-slots` (4 bytes each, little-endian), `rekeying` (the
    // next vault key, sealed under the present one), `log` (no bytes; see ``LogMark``), `audit-end` and `audit-anchor`
    // (see ``AuditEnd`` and ``AuditAnchor``).
    meta,
    // Wrapped class keys by name.
    keys,
    Tree(
      name: "slots", table: "slots", sql: "CREATE TABLE slots(id INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
      columns: [.null, .blob]),
    // One row per item: its number in this store, the identity that its records are bound to (16 bytes), its head, and
    // the record of its current value beside the head, so that reading both takes one page.
    Tree(
      name: "heads", table: "heads",
      sql: """
        CREATE TABLE heads(id INTEGER PRIMARY KEY, item BLOB NOT NULL, class INTEGER NOT NULL, revision INTEGER NOT \
        NULL, policy INTEGER NOT NULL, current INTEGER NOT NULL, sealed BLOB NOT NULL, value BLOB NOT NULL) STRICT
        """,
      columns: [.null, .blob, .integer, .integer, .integer, .integer, .blob, .blob]),
    // One row per kept version of a value that is no longer current; `item` is the row of its head.
    Tree(
      name: "vals", table: "vals",
      sql: """
        CREATE TABLE vals(item INTEGER NOT NULL, version INTEGER NOT NULL, sealed BLOB NOT NULL, \
        PRIMARY KEY(item, version)) STRICT
        """,
      columns: [.integer, .integer, .blob]),
    // The key of `vals`, and the number of the row that has it.
    Tree(
      name: "sqlite_autoindex_vals_1", table: "vals", isTable: false, columns: [.integer, .integer, .integer], keys: 2),
    // The rows of `heads` that a blind tag (16 bytes) leads to, with their class, so that the hash over the tags of a
    // class can be computed without reading the heads.
    Tree(
      name: "tags", table: "tags",
      sql: """
        CREATE TABLE tags(tag BLOB NOT NULL, item INTEGER NOT NULL, class INTEGER NOT NULL, PRIMARY KEY(tag, item)) \
        STRICT, WITHOUT ROWID
        """,
      isTable: false, columns: [.blob, .integer, .integer], keys: 2),
    // Grants, with the identity that each is bound to (16 bytes) and the class that each counts for.
    Tree(
      name: "grants", table: "grants",
      sql: """
        CREATE TABLE grants(id INTEGER PRIMARY KEY, item BLOB NOT NULL, class INTEGER NOT NULL, sealed BLOB NOT NULL) \
        STRICT
        """,
      columns: [.null, .blob, .integer, .blob]),
    // The audit log: the beginnings of chains, and the records of each chain. In a record, `chain` is the row of the
    // chain's beginning.
    Tree(
      name: "audit", table: "audit",
      sql: "CREATE TABLE audit(id INTEGER PRIMARY KEY, chain INTEGER NOT NULL, sealed BLOB NOT NULL) STRICT",
      columns: [.null, .integer, .blob]),
    // The deposits left while the vault was locked: the identity that each is bound to (16 bytes), the class that it
    // enters, its state, and the blind tag of the depositor (see ``DepositRow``).
    Tree(
      name: "deposits", table: "deposits",
      sql: """
        CREATE TABLE deposits(id INTEGER PRIMARY KEY, item BLOB NOT NULL, class INTEGER NOT NULL, state INTEGER NOT \
        NULL, depositor BLOB NOT NULL, sealed BLOB NOT NULL) STRICT
        """,
      columns: [.null, .blob, .integer, .integer, .blob, .blob]),
    // The class records.
    Tree(
      name: "hashes", table: "hashes",
      sql: "CREATE TABLE hashes(class INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT", columns: [.null, .blob]),
  ]

  /// Makes the tables of a new database.
  static func make(_ connection: SQLiteConnection) throws(VaultError) {
    try connection.execute("BEGIN IMMEDIATE")
    for table in tables { try connection.execute(table) }
    try connection.execute("PRAGMA user_version = \(version)")
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.hasOurTables = true
  }

  /// Checks that the database has exactly our tables, to the letter: nothing more, which could act, and nothing less.
  /// No other part of the file is read before this check.
  static func check(_ connection: SQLiteConnection) throws(VaultError) {
    var expected = trees
    let statement = try connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    try statement.each { (row: Statement) throws(VaultError) in
      let found = Row(
        type: try row.text(0), name: try row.text(1), table: try row.text(2), root: 0,
        sql: row.isNull(3) ? nil : try row.text(3))
      guard let place = expected.firstIndex(where: { $0.isIn(found) }) else {
        throw .corrupt("vault.db: a table was not made by vault")
      }
      expected.remove(at: place)
      return true
    }
    if !expected.isEmpty { throw .corrupt("vault.db: a table is missing") }
    connection.hasOurTables = true
  }
}

extension Schema {
  /// A row of `sqlite_schema`.
  struct Row {
    let type, name, table: String
    let root: Int
    let sql: String?
  }
}

extension Schema.Row {
  /// Reads a row of `sqlite_schema` from the file.
  init(_ record: StoredRecord) throws(VaultError) {
    func text(_ column: Int) throws(VaultError) -> String { String(decoding: try record.bytes(column), as: UTF8.self) }
    (type, name, table) = (try text(0), try text(1), try text(2))
    root = Int(try record.integer(3))
    sql = record.isNull(4) ? nil : try text(4)
  }
}

extension Schema.Tree {
  /// True when a row of `sqlite_schema` describes this tree.
  func isIn(_ row: Schema.Row) -> Bool {
    row.type == (sql == nil ? "index" : "table") && row.name == name && row.table == table && row.sql == sql
  }

  /// The name of the tree in a finding.
  var subject: String { name == table ? "the table \(name)" : "the index of \(table)" }

  /// The key that a row or an entry is ordered by.
  func key(_ record: StoredRecord, _ row: Int64) throws(VaultError) -> RowKey {
    if isTable { return RowKey(numbers: (row, 0)) }
    guard columns[0] != .integer else { return RowKey(numbers: (try record.integer(0), try record.integer(1))) }
    return RowKey(bytes: try record.bytes(0), numbers: (keys > 1 ? try record.integer(1) : 0, 0))
  }
}
