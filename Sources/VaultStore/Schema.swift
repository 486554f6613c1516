/// The tables of the one schema that this program reads and writes.
///
/// ``Authenticity`` says for each of them what keeps it from being changed. The names `grants`, `deposits` and `audit` are
/// kept for tables of later programs.
enum Schema {
  /// "vaul", in the header's application id (sqlite.org/fileformat.html §1.3.16), so that `file` and we know it again.
  static let applicationID = 0x7661_756C
  /// The database's `user_version`. A file of another one is refused as it lies there.
  static let version = 3

  static let tables = [
    // What is said about the whole vault: `vault-id` (16 bytes), `stale-slots` (4 bytes each,
    // little-endian), `rekeying` (the next vault key, sealed under the present one).
    "CREATE TABLE meta(name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
    // Wrapped class keys by name.
    "CREATE TABLE keys(name TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE slots(id INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
    // One row per item: its number in this store, the identity that its records are bound to (16 bytes), its head, and
    // the record of its current value beside it, so that both are one page to read.
    """
    CREATE TABLE heads(id INTEGER PRIMARY KEY, item BLOB NOT NULL, class INTEGER NOT NULL, revision INTEGER NOT NULL, \
    policy INTEGER NOT NULL, current INTEGER NOT NULL, sealed BLOB NOT NULL, value BLOB NOT NULL) STRICT
    """,
    // One row per kept version of a value that is not the current one any more; `item` is the row of its head.
    """
    CREATE TABLE vals(item INTEGER NOT NULL, version INTEGER NOT NULL, sealed BLOB NOT NULL, \
    PRIMARY KEY(item, version)) STRICT
    """,
    // Which rows of `heads` a blind tag (16 bytes) leads to, with the class, so that the hash over a class's tags needs
    // no look at the heads.
    """
    CREATE TABLE tags(tag BLOB NOT NULL, item INTEGER NOT NULL, class INTEGER NOT NULL, PRIMARY KEY(tag, item)) \
    STRICT, WITHOUT ROWID
    """,
    // The class records.
    "CREATE TABLE hashes(class INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
  ]

  /// Makes the tables of a new database.
  static func make(_ connection: Connection) throws(VaultError) {
    try connection.execute("BEGIN IMMEDIATE")
    for table in tables { try connection.execute(table) }
    try connection.execute("PRAGMA user_version = \(version)")
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Checks that the database has exactly our tables, to the letter: nothing more that could act, nothing less. Nothing
  /// else of the file is read before that.
  static func check(_ connection: Connection) throws(VaultError) {
    var expected = Set(tables)
    var indexes = 0
    let statement = try connection.prepare("SELECT type, sql FROM sqlite_schema")
    try statement.each { (row: Statement) throws(VaultError) in
      // Indexes that SQLite makes for keys have no text.
      if try row.text(0) == "index", row.isNull(1), indexes < tables.count {
        indexes += 1
        return true
      }
      guard expected.remove(try row.text(1)) != nil else { throw .corrupt("vault.db: a table is not ours") }
      return true
    }
    if !expected.isEmpty { throw .corrupt("vault.db: a table is missing") }
  }
}
