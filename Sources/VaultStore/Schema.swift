/// The tables, as the list of steps that made them.
///
/// A database's `user_version` is the number of steps it has gone through. A step is never edited after a release;
/// a change is a new step at the end, which brings the older data along. The names `grants`, `deposits` and `audit` are
/// kept for tables of later steps.
enum Schema {
  /// "vaul", in the header's application id (sqlite.org/fileformat.html §1.3.16), so that `file` and we know it again.
  static let applicationID = 0x7661_756C
  /// The version this program writes.
  static var version: Int { steps.count }

  /// Each step is a list of statements, run in one transaction.
  static let steps: [[String]] = [
    [
      // What is said about the whole vault: `vault-id` (16 bytes), `stale-slots` (4 bytes each,
      // little-endian), `rekeying` (the next vault key, sealed under the present one).
      "CREATE TABLE meta(name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
      // Wrapped class keys by name.
      "CREATE TABLE keys(name TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID",
      "CREATE TABLE slots(id INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
      // One row per item: its head, and the record of its current value beside it, so that both are one page to read.
      // AUTOINCREMENT: an id is never given to a second item, so no old record fits a new item.
      """
      CREATE TABLE heads(id INTEGER PRIMARY KEY AUTOINCREMENT, class INTEGER NOT NULL, revision INTEGER NOT NULL, \
      policy INTEGER NOT NULL, current INTEGER NOT NULL, sealed BLOB NOT NULL, value BLOB NOT NULL) STRICT
      """,
      // One row per kept version of a value that is not the current one any more.
      """
      CREATE TABLE vals(item INTEGER NOT NULL, version INTEGER NOT NULL, sealed BLOB NOT NULL, \
      PRIMARY KEY(item, version)) STRICT
      """,
      // Which items a blind tag (16 bytes) leads to.
      firstTags,
    ],
    [
      // A tag with the class of its item, so that the hash over a class's tags needs no look at the heads.
      "CREATE TEMP TABLE moved AS SELECT tag, item, class FROM tags LEFT JOIN heads ON heads.id = item",
      "DROP TABLE tags",
      """
      CREATE TABLE tags(tag BLOB NOT NULL, item INTEGER NOT NULL, class INTEGER NOT NULL, PRIMARY KEY(tag, item)) \
      STRICT, WITHOUT ROWID
      """,
      "INSERT INTO tags SELECT tag, item, ifnull(class, 0) FROM moved ORDER BY tag, item",
      "DROP TABLE temp.moved",
      // The class records.
      "CREATE TABLE hashes(class INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
    ],
  ]

  private static let firstTags =
    "CREATE TABLE tags(tag BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY(tag, item)) STRICT, WITHOUT ROWID"

  /// The tables that are there after all steps.
  private static var tables: Set<String> {
    Set(steps.joined().filter { $0.hasPrefix("CREATE TABLE") }).subtracting([firstTags])
  }

  /// Brings a database of version `from` to ours, and writes it through to the main file, whose header tells the next
  /// program the version.
  static func migrate(_ connection: Connection, from: Int) throws(VaultError) {
    guard from < version else { return }
    try connection.execute("BEGIN IMMEDIATE")
    for step in steps[from...] {
      for statement in step { try connection.execute(statement) }
    }
    try connection.execute("PRAGMA user_version = \(version)")
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Checks that the database has exactly our tables: nothing more that could act, nothing less.
  static func check(_ connection: Connection) throws(VaultError) {
    var expected = tables
    let statement = try connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    try statement.each { (row: Statement) throws(VaultError) in
      let sql = try row.text(0)
      if expected.remove(sql) == nil, sql != "CREATE TABLE sqlite_sequence(name,seq)" {
        throw .corrupt("vault.db: a table is not ours")
      }
      return true
    }
    if !expected.isEmpty { throw .corrupt("vault.db: a table is missing") }
  }
}
