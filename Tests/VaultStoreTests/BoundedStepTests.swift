import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Records that are longer or more than any of ours, put in so that the daemon takes long over them: no step of a walk
/// does more for them than for others.
@Suite("Work in one step") struct BoundedStepTests {
  // MARK: Searches

  /// Puts long heads in, and has every tag lead to them, under the number of a class that it is not of.
  private static func strays(_ fixture: Fixture, count: Int) throws {
    let n = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
    try fixture.sql(
      "\(n) INSERT INTO heads SELECT 100 + i, randomblob(16), 3, 1, 1, 1, zeroblob(50000), zeroblob(50000) FROM n",
      "\(n) INSERT OR IGNORE INTO tags SELECT DISTINCT tag, 100 + i, 3 FROM tags, n WHERE class = 1",
      "\(n) INSERT OR IGNORE INTO tags SELECT DISTINCT tag, 200 + i, 3 FROM tags, n WHERE class = 1",
      "\(n) INSERT OR IGNORE INTO heads SELECT 200 + i, randomblob(16), 1, 1, 1, 1, zeroblob(50000), x'00' FROM n",
      "INSERT OR IGNORE INTO tags SELECT DISTINCT a.tag, b.item, 3 FROM tags a, tags b WHERE a.class = 1 AND b.item < 9"
    )
  }

  @Test("of the heads that strays lead to nothing is read")
  func unread() throws {
    let fixture = try ForgeryTests.fixture()
    try Self.strays(fixture, count: 8)
    let keychain = try fixture.unlocked()
    let statements = keychain.database.statements
    for (lookup, tags) in [
      (statements.tagged, try keychain.tags(.kind(.note))), (statements.locate, try keychain.tags(.name(name("safe")))),
      (statements.read, try keychain.tags(.name(name("safe")))),
      (statements.readVersion, try keychain.tags(.name(name("safe")))),
    ] {
      try lookup.bind(tags)
      if lookup === statements.tagged || lookup === statements.readVersion { try lookup.statement.bind(4, 0) }
      var strays = 0
      try lookup.statement.each { (row: Statement) throws(VaultError) in
        if try Row.rank(row, tags) == nil {
          strays += 1
          #expect(row.size <= Tag.count)
        }
        return true
      }
      #expect(strays >= 16)
    }
  }

  @Test(
    "a page of a search ends among strays when its time is up, and the next one goes on from there",
    arguments: [false, true])
  func pages(isCounted: Bool) throws {
    let fixture = try ForgeryTests.fixture()
    do { try fixture.unlocked().put("last") }
    try Self.strays(fixture, count: 30)
    let keychain = try fixture.unlocked()
    let query = try Query(parsing: "kind=note")
    var (names, pages): ([String], Int) = ([], 0)
    var after: Int64?
    repeat {
      let page =
        isCounted
        ? try keychain.find(query, limit: 2, after: after, now: 2000, examining: 1)
        : try keychain.find(query, limit: 2, after: after, now: 2000) { true }
      names += page.items.map(\.name.text)
      pages += 1
      if let after, let next = page.next { #expect(next > after) }
      after = page.next
    } while after != nil && pages < 1000
    #expect(names == ["door", "safe", "token", "boot", "last"])
    #expect(pages >= 60)
  }
}
