import VaultModel

/// Every statement the store runs, compiled once.
struct Statements {
  let begin, commit, rollback: Statement
  let getMeta, putMeta, deleteMeta, getKey, putKey: Statement
  let slots, insertSlot, updateSlot, deleteSlot: Statement
  /// tags → heads in one run: what a request for a value needs.
  let read: TagStatement
  /// The same with the value of a version that is named.
  let readVersion: TagStatement
  let locate, tagged, countTagged: TagStatement
  let heads, headsBackwards, headsWithValues: Statement
  let lastRow, insertHead, updateHead, deleteHead: Statement
  let value, insertValue, updateValue, deleteValue, deleteValues: Statement
  let insertTag, deleteTag: Statement
  let getHashes, putHashes: Statement
  let metaNames, hashClasses: Statement
  let keys, head, headClass, olderVersions, tagClass: Statement
  /// Walks over whole tables, for the check of their hashes.
  let olderValues, allTags: Statement

  /// What ``Row`` reads of a head.
  static let headColumns = "id, item, class, revision, policy, current, sealed"

  init(_ c: Connection) throws(VaultError) {
    begin = try c.prepare("BEGIN IMMEDIATE")
    commit = try c.prepare("COMMIT")
    rollback = try c.prepare("ROLLBACK")
    getMeta = try c.prepare("SELECT value FROM meta WHERE name = ?1")
    putMeta = try c.prepare("INSERT OR REPLACE INTO meta(name, value) VALUES(?1, ?2)")
    deleteMeta = try c.prepare("DELETE FROM meta WHERE name = ?1")
    getKey = try c.prepare("SELECT sealed FROM keys WHERE name = ?1")
    putKey = try c.prepare("INSERT OR REPLACE INTO keys(name, sealed) VALUES(?1, ?2)")
    slots = try c.prepare("SELECT id, record FROM slots ORDER BY id")
    insertSlot = try c.prepare("INSERT INTO slots(id, record) VALUES(?1, ?2)")
    updateSlot = try c.prepare("UPDATE slots SET record = ?2 WHERE id = ?1")
    deleteSlot = try c.prepare("DELETE FROM slots WHERE id = ?1")
    // Left joins: a tag that leads nowhere must show, not look like no item.
    let foundColumns = "t.item, h.item, h.class, h.revision, h.policy, h.current, h.sealed"
    // A head comes along only where the tag and the head are of the class under whose key the tag was made. Any other head
    // may be as long as a record can be, and SQLite would read all of it.
    // Equal to `tag IN (?1, ?2, ?3)`, for which SQLite would build and drop a temporary index in each run: this takes
    // half the time. CROSS JOIN keeps the order of the loops.
    let lookup = """
      (SELECT ?1 AS wanted, \(AccessClass.whenUnlocked.rawValue) AS own
      UNION ALL SELECT ?2, \(AccessClass.afterFirstUnlock.rawValue) UNION ALL SELECT ?3, \(AccessClass.always.rawValue))
      CROSS JOIN tags t ON t.tag = wanted LEFT JOIN heads h ON h.id = t.item AND t.class = own AND h.class = own
      """
    read = TagStatement(try c.prepare("SELECT \(foundColumns), t.tag, t.class, h.current, h.value FROM \(lookup)"))
    readVersion = TagStatement(
      try c.prepare(
        """
        SELECT \(foundColumns), t.tag, t.class, iif(h.current = ?4, ?4, v.version),
          iif(h.current = ?4, h.value, v.sealed)
        FROM \(lookup) LEFT JOIN vals v ON v.item = h.id AND v.version = ?4
        """))
    locate = TagStatement(try c.prepare("SELECT \(foundColumns), t.tag, t.class FROM \(lookup)"))
    heads = try c.prepare("SELECT \(Self.headColumns) FROM heads WHERE id > ?1 ORDER BY id")
    headsBackwards = try c.prepare("SELECT \(Self.headColumns) FROM heads WHERE id < ?1 ORDER BY id DESC")
    // With no tag and none of its class where `read` has one.
    headsWithValues = try c.prepare(
      "SELECT \(Self.headColumns), NULL, NULL, current, value FROM heads WHERE id > ?1 ORDER BY id")
    // Three ordered walks that SQLite merges, so the first row comes at once however many there are.
    let walk = { (tag: Int, own: AccessClass) in
      """
      SELECT \(foundColumns), t.tag, t.class FROM tags t
      LEFT JOIN heads h ON h.id = t.item AND t.class = \(own.rawValue) AND h.class = \(own.rawValue)
      WHERE t.tag = ?\(tag) AND t.item > ?4
      """
    }
    tagged = TagStatement(
      try c.prepare(
        "\(walk(1, .whenUnlocked)) UNION ALL \(walk(2, .afterFirstUnlock)) UNION ALL \(walk(3, .always)) ORDER BY 1"))
    countTagged = TagStatement(
      try c.prepare("SELECT count(*) FROM (SELECT 1 FROM tags WHERE tag IN (?1, ?2, ?3) LIMIT ?4)"))
    // What is new is never put in the place of a row that is there: that is an error of the statement.
    lastRow = try c.prepare("SELECT max(id) FROM heads WHERE id <= ?1")
    insertHead = try c.prepare(
      """
      INSERT INTO heads(id, item, class, revision, policy, current, sealed, value)
      VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """)
    updateHead = try c.prepare(
      """
      UPDATE heads SET class = ?3, revision = ?4, policy = ?5, current = ?6, sealed = ?7, value = ?8
      WHERE id = ?1 AND item = ?2
      """)
    deleteHead = try c.prepare("DELETE FROM heads WHERE id = ?1")
    value = try c.prepare(
      """
      SELECT value FROM heads WHERE id = ?1 AND current = ?2 UNION ALL
      SELECT sealed FROM vals WHERE item = ?1 AND version = ?2
      """)
    insertValue = try c.prepare("INSERT INTO vals(item, version, sealed) VALUES(?1, ?2, ?3)")
    updateValue = try c.prepare("UPDATE vals SET sealed = ?3 WHERE item = ?1 AND version = ?2")
    deleteValue = try c.prepare("DELETE FROM vals WHERE item = ?1 AND version = ?2")
    deleteValues = try c.prepare("DELETE FROM vals WHERE item = ?1")
    insertTag = try c.prepare("INSERT INTO tags(tag, item, class) VALUES(?1, ?2, ?3)")
    deleteTag = try c.prepare("DELETE FROM tags WHERE tag = ?1 AND item = ?2")
    getHashes = try c.prepare("SELECT record FROM hashes WHERE class = ?1")
    putHashes = try c.prepare("INSERT OR REPLACE INTO hashes(class, record) VALUES(?1, ?2)")
    metaNames = try c.prepare("SELECT name FROM meta ORDER BY name")
    hashClasses = try c.prepare("SELECT class FROM hashes ORDER BY class")
    keys = try c.prepare("SELECT name, sealed FROM keys ORDER BY name")
    head = try c.prepare("SELECT \(Self.headColumns) FROM heads WHERE id = ?1")
    headClass = try c.prepare("SELECT class FROM heads WHERE id = ?1")
    olderVersions = try c.prepare("SELECT version FROM vals WHERE item = ?1 AND version > ?2 ORDER BY version")
    tagClass = try c.prepare("SELECT class FROM tags WHERE tag = ?1 AND item = ?2")
    olderValues = try c.prepare(
      """
      SELECT v.item, v.version, v.sealed, h.class, h.policy, h.item FROM vals v LEFT JOIN heads h ON h.id = v.item
      WHERE (v.item, v.version) > (?1, ?2) ORDER BY v.item, v.version
      """)
    allTags = try c.prepare("SELECT tag, item, class FROM tags WHERE (tag, item) > (?1, ?2) ORDER BY tag, item")
  }
}
