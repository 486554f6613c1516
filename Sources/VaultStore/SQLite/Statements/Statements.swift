import VaultCore
import VaultModel

/// All statements that the store runs, each compiled once, in one group for each table.
struct Statements {
  let transaction: Transaction
  let meta: Meta
  let keys: Keys
  let slots: Slots
  let tags: Tags
  let heads: Heads
  let values: Values
  let hashes: Hashes
  let grants: Grants
  let audit: Audit
  let deposits: Deposits

  /// The columns of a head that ``Row`` reads.
  static let headColumns = "id, item, class, revision, policy, current, sealed"

  /// An expression for a blob column that yields NULL if the blob has more than `limit` bytes. SQLite then does not
  /// read the blob, so a row that somebody made too long cannot keep a walk from the other rows.
  fileprivate static func bounded(_ column: String, _ limit: Int) -> String {
    "iif(length(\(column)) <= \(limit), \(column), NULL)"
  }

  init(_ connection: SQLiteConnection) throws(VaultError) {
    transaction = try Transaction(connection)
    meta = try Meta(connection)
    keys = try Keys(connection)
    slots = try Slots(connection)
    tags = try Tags(connection)
    heads = try Heads(connection)
    values = try Values(connection)
    hashes = try Hashes(connection)
    grants = try Grants(connection)
    audit = try Audit(connection)
    deposits = try Deposits(connection)
  }

  struct Transaction {
    let begin, commit, rollback: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      begin = try c.prepare("BEGIN IMMEDIATE")
      commit = try c.prepare("COMMIT")
      rollback = try c.prepare("ROLLBACK")
    }
  }

  struct Meta {
    let all, get, put, delete: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      let value = bounded("value", Database.longestRecord)
      all = try c.prepare("SELECT name, \(value) FROM meta ORDER BY name")
      get = try c.prepare("SELECT \(value) FROM meta WHERE name = ?1")
      put = try c.prepare("INSERT OR REPLACE INTO meta(name, value) VALUES(?1, ?2)")
      delete = try c.prepare("DELETE FROM meta WHERE name = ?1")
    }
  }

  struct Keys {
    let all, get, put: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      let sealed = bounded("sealed", Database.longestRecord)
      all = try c.prepare("SELECT name, \(sealed) FROM keys ORDER BY name")
      get = try c.prepare("SELECT \(sealed) FROM keys WHERE name = ?1")
      put = try c.prepare("INSERT OR REPLACE INTO keys(name, sealed) VALUES(?1, ?2)")
    }
  }

  struct Slots {
    let all, insert, update, delete: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      all = try c.prepare("SELECT id, \(bounded("record", Database.longestRecord)) FROM slots ORDER BY id")
      insert = try c.prepare("INSERT INTO slots(id, record) VALUES(?1, ?2)")
      update = try c.prepare("UPDATE slots SET record = ?2 WHERE id = ?1")
      delete = try c.prepare("DELETE FROM slots WHERE id = ?1")
    }
  }

  struct Hashes {
    let classes, get, put: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      classes = try c.prepare("SELECT class FROM hashes ORDER BY class")
      get = try c.prepare("SELECT \(bounded("record", Database.longestRecord)) FROM hashes WHERE class = ?1")
      put = try c.prepare("INSERT OR REPLACE INTO hashes(class, record) VALUES(?1, ?2)")
    }
  }

  struct Grants {
    let from, places, sizes, one, insert, delete: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      let place = "\(bounded("item", ItemID.count)), class"
      let columns = "\(place), \(bounded("sealed", Database.longestGrant))"
      from = try c.prepare("SELECT id, \(columns) FROM grants WHERE id >= ?1 ORDER BY id")
      places = try c.prepare("SELECT id, \(place) FROM grants ORDER BY id")
      sizes = try c.prepare("SELECT id, length(sealed) FROM grants ORDER BY id")
      one = try c.prepare("SELECT id, \(columns) FROM grants WHERE id = ?1")
      insert = try c.prepare("INSERT INTO grants(id, item, class, sealed) VALUES(?1, ?2, ?3, ?4)")
      delete = try c.prepare("DELETE FROM grants WHERE id = ?1")
    }
  }

  struct Audit {
    let insert, one, after, first, last, drop, cut, cutRows, cutEnd: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      insert = try c.prepare("INSERT INTO audit(id, chain, sealed) VALUES(?1, ?2, ?3)")
      let columns = "id, chain, \(bounded("sealed", Database.longestAudit))"
      one = try c.prepare("SELECT \(columns) FROM audit WHERE id = ?1")
      after = try c.prepare("SELECT \(columns) FROM audit WHERE id >= ?1 AND id <= ?2 ORDER BY id")
      first = try c.prepare("SELECT min(id) FROM audit WHERE id >= ?1")
      last = try c.prepare("SELECT max(id) FROM audit WHERE id <= ?1")
      drop = try c.prepare("DELETE FROM audit WHERE id = ?1")
      cut = try c.prepare("DELETE FROM audit WHERE id <= ?1")
      cutRows = try c.prepare("DELETE FROM audit WHERE id BETWEEN ?1 AND ?2")
      cutEnd = try c.prepare("DELETE FROM audit WHERE id >= ?1")
    }
  }

  struct Deposits {
    let one, from, walked, outline, sizes, insert, update, delete: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      let named =
        "id, \(bounded("item", ItemID.count)), class, state, \(bounded("depositor", DepositorTag.count))"
      let columns = "\(named), \(bounded("sealed", Database.longestDeposit + 1))"
      one = try c.prepare("SELECT \(columns) FROM deposits WHERE id = ?1")
      from = try c.prepare("SELECT \(columns) FROM deposits WHERE id >= ?1 ORDER BY id")
      // The content of a waiting row is read when the row is taken in.
      walked = try c.prepare(
        """
        SELECT \(named), CASE state WHEN \(DepositRow.State.waiting.rawValue) THEN x''
        ELSE \(bounded("sealed", Database.longestDeposit + 1)) END, length(sealed)
        FROM deposits WHERE id >= ?1 ORDER BY id
        """)
      // SQLite knows a blob's length without reading the blob.
      outline = try c.prepare(
        """
        SELECT \(named), CASE state WHEN \(DepositRow.State.seen.rawValue)
        THEN \(bounded("sealed", Database.longestNote)) ELSE x'' END, length(sealed)
        FROM deposits WHERE id >= ?1 ORDER BY id
        """)
      sizes = try c.prepare("SELECT id, length(sealed) FROM deposits ORDER BY id")
      insert = try c.prepare(
        "INSERT INTO deposits(id, item, class, state, depositor, sealed) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
      update = try c.prepare("UPDATE deposits SET state = ?2, depositor = ?3, sealed = ?4 WHERE id = ?1")
      delete = try c.prepare("DELETE FROM deposits WHERE id = ?1")
    }
  }

  struct Heads {
    let all, backwards, withValues: Statement
    let one, classOf, lastRow: Statement
    let insert, update, delete: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      all = try c.prepare("SELECT \(headColumns) FROM heads WHERE id > ?1 ORDER BY id")
      backwards = try c.prepare("SELECT \(headColumns) FROM heads WHERE id < ?1 ORDER BY id DESC")
      // NULL stands in the places where ``Tags/read`` has the tag and its class.
      withValues = try c.prepare(
        "SELECT \(headColumns), NULL, NULL, current, value FROM heads WHERE id > ?1 ORDER BY id")
      one = try c.prepare("SELECT \(headColumns) FROM heads WHERE id = ?1")
      classOf = try c.prepare("SELECT class FROM heads WHERE id = ?1")
      lastRow = try c.prepare("SELECT max(id) FROM heads WHERE id <= ?1")
      // A new head, value or tag never replaces an existing one: the statement fails instead.
      insert = try c.prepare(
        """
        INSERT INTO heads(id, item, class, revision, policy, current, sealed, value)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """)
      update = try c.prepare(
        """
        UPDATE heads SET class = ?3, revision = ?4, policy = ?5, current = ?6, sealed = ?7, value = ?8
        WHERE id = ?1 AND item = ?2
        """)
      delete = try c.prepare("DELETE FROM heads WHERE id = ?1")
    }
  }

  /// The current values, which lie beside their heads, and the older values in a table of their own.
  struct Values {
    let one, insert, update, delete, deleteAll: Statement
    let olderVersions: Statement
    /// A walk over the whole table, for the check of its hashes.
    let allOlder: Statement

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      one = try c.prepare(
        """
        SELECT value FROM heads WHERE id = ?1 AND current = ?2 UNION ALL
        SELECT sealed FROM vals WHERE item = ?1 AND version = ?2
        """)
      insert = try c.prepare("INSERT INTO vals(item, version, sealed) VALUES(?1, ?2, ?3)")
      update = try c.prepare("UPDATE vals SET sealed = ?3 WHERE item = ?1 AND version = ?2")
      delete = try c.prepare("DELETE FROM vals WHERE item = ?1 AND version = ?2")
      deleteAll = try c.prepare("DELETE FROM vals WHERE item = ?1")
      olderVersions = try c.prepare("SELECT version FROM vals WHERE item = ?1 AND version > ?2 ORDER BY version")
      allOlder = try c.prepare(
        """
        SELECT v.item, v.version, v.sealed, h.class, h.policy, h.item FROM vals v LEFT JOIN heads h ON h.id = v.item
        WHERE (v.item, v.version) > (?1, ?2) ORDER BY v.item, v.version
        """)
    }
  }

  struct Tags {
    /// The lookup from tags to heads in one run, for a request for a value.
    let read: TagStatement
    /// The same lookup, with the value of a given version.
    let readVersion: TagStatement
    let locate, tagged, rows, count: TagStatement
    let classOf, insert, delete: Statement
    /// A walk over the whole table, for the check of its hashes.
    let all: Statement

    // The joins are left joins: a tag that leads nowhere must show up, and not look like a missing item.
    private static let foundColumns = "t.item, h.item, h.class, h.revision, h.policy, h.current, h.sealed"

    fileprivate init(_ c: SQLiteConnection) throws(VaultError) {
      let found = Self.foundColumns
      // A head is read only if the tag and the head are of the class under whose key the tag was made. Any other head
      // may be as long as a record can be, and SQLite would read all of it.
      //
      // The lookup equals `tag IN (?1, ?2, ?3)`, for which SQLite would build and drop a temporary index in each run;
      // this form takes half the time. CROSS JOIN keeps the order of the loops.
      let lookup = """
        (SELECT ?1 AS wanted, \(AccessClass.whenUnlocked.rawValue) AS own
        UNION ALL SELECT ?2, \(AccessClass.afterFirstUnlock.rawValue)
        UNION ALL SELECT ?3, \(AccessClass.always.rawValue))
        CROSS JOIN tags t ON t.tag = wanted LEFT JOIN heads h ON h.id = t.item AND t.class = own AND h.class = own
        """
      read = TagStatement(try c.prepare("SELECT \(found), t.tag, t.class, h.current, h.value FROM \(lookup)"))
      readVersion = TagStatement(
        try c.prepare(
          """
          SELECT \(found), t.tag, t.class, iif(h.current = ?4, ?4, v.version),
            iif(h.current = ?4, h.value, v.sealed)
          FROM \(lookup) LEFT JOIN vals v ON v.item = h.id AND v.version = ?4
          """))
      locate = TagStatement(try c.prepare("SELECT \(found), t.tag, t.class FROM \(lookup)"))
      // Three ordered walks, which SQLite merges, so that the first row comes at once however many rows there are.
      let walks = [AccessClass.whenUnlocked, .afterFirstUnlock, .always].enumerated().map { index, own in
        """
        SELECT \(found), t.tag, t.class FROM tags t
        LEFT JOIN heads h ON h.id = t.item AND t.class = \(own.rawValue) AND h.class = \(own.rawValue)
        WHERE t.tag = ?\(index + 1) AND t.item > ?4
        """
      }
      tagged = TagStatement(try c.prepare(walks.joined(separator: " UNION ALL ") + " ORDER BY 1"))
      let bare = (1...3).map { "SELECT item FROM tags WHERE tag = ?\($0) AND item > ?4" }
      rows = TagStatement(try c.prepare(bare.joined(separator: " UNION ALL ") + " ORDER BY 1 LIMIT ?5"))
      let each = (1...3).map { "SELECT 1 FROM tags WHERE tag = ?\($0)" }
      count = TagStatement(
        try c.prepare("SELECT count(*) FROM (\(each.joined(separator: " UNION ALL ")) LIMIT ?4)"))
      classOf = try c.prepare("SELECT class FROM tags WHERE tag = ?1 AND item = ?2")
      insert = try c.prepare("INSERT INTO tags(tag, item, class) VALUES(?1, ?2, ?3)")
      delete = try c.prepare("DELETE FROM tags WHERE tag = ?1 AND item = ?2 AND class = ?3")
      all = try c.prepare("SELECT tag, item, class FROM tags WHERE (tag, item) > (?1, ?2) ORDER BY tag, item")
    }
  }
}
