import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Records that are longer or more numerous than this program ever writes, inserted to keep the daemon busy: no step of
/// a walk does more for them than for other records.
@Suite("Work in one step") struct BoundedStepTests {
  /// Makes items 1 to 4. The last one, `boot` of `always`, claims this many versions; its older value rows do not match
  /// them.
  private static func manyVersions(_ count: Int) throws -> Fixture {
    let fixture = try ForgeryTests.fixture()
    try fixture.forgeAlways { try $0.claimVersions(count, of: "boot", size: 20_000) }
    try fixture.sql(
      """
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
      INSERT INTO vals SELECT 4, i, zeroblob(20016) FROM n
      """)
    try fixture.forgeAlways { _ in }
    return fixture
  }

  /// Checks in steps of as many records as the daemon uses, and returns the findings and records that each step added.
  private static func verify(_ keychain: Keychain) throws -> (Verification, steps: [(findings: Int, records: Int)]) {
    var steps: [(findings: Int, records: Int)] = []
    var before = (findings: 0, records: 0)
    keychain.beginVerification()
    while true {
      let result = try keychain.continueVerification(records: 16)
      guard let current = result ?? keychain.pass?.verification else { throw RawError(text: "no check") }
      let now = (findings: current.findings.count + current.omitted, records: current.records)
      steps.append((now.findings - before.findings, now.records - before.records))
      before = now
      if let result { return (result, steps) }
    }
  }

  // MARK: The check

  @Test("all the versions that a head can name are looked at a few in a step, and each is named")
  func versions() throws {
    let keychain = try Self.manyVersions(HeadRecord.mostVersions).unlocked()
    let (result, steps) = try Self.verify(keychain)
    #expect(steps.allSatisfy { $0.findings <= 16 })
    #expect(result.findings.count { $0.text.hasSuffix("of item 4 is not the one its head names") } == 63)
    #expect(result.harmed == 1 && result.omitted == 0 && result.unharmed == 3)
    #expect(keychain.integrity == .failed)
  }

  @Test("records of versions that a head does not name are looked at a few in a step")
  func unnamed() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      """
      WITH n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 399) INSERT INTO vals SELECT 4, i, x'00' FROM n
      """)
    try fixture.forgeAlways { _ in }
    let (result, steps) = try Self.verify(fixture.unlocked())
    #expect(steps.allSatisfy { $0.findings <= 16 })
    #expect(result.findings.count { $0.text.hasSuffix("of item 4 is not named by its head") } == 300)
  }

  @Test("where more is wrong with an item than is listed, the rest of it is left, and later items count all the same")
  func full() throws {
    let fixture = try Self.manyVersions(20)
    try fixture.sql(
      """
      WITH n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < \(Finding.limit + 600))
      INSERT INTO vals SELECT 4, i, x'00' FROM n
      """)
    // An item of the strongest class, whose values were not opened before.
    do { try fixture.unlocked().put("late", "l") }
    try fixture.sql("UPDATE heads SET value = zeroblob(30) WHERE id > 4")
    let (result, _) = try Self.verify(fixture.unlocked())
    #expect(result.findings.count == Finding.limit)
    #expect(1..<10 ~= result.omitted)
    #expect(result.harmed == 2 && result.unharmed == 3)
  }

  @Test("an item that is changed while it is looked into is begun anew, and its name is dropped when names are")
  func changed() throws {
    let keychain = try Self.manyVersions(60).unlocked()
    keychain.beginVerification()
    while keychain.pass?.verification.findings.contains(where: { $0.text.hasPrefix("version 3 ") }) != true {
      #expect(try keychain.continueVerification(records: 16) == nil)
    }
    keychain.pass?.forgetNames()
    var changes = RecordChanges(isListing: true)
    guard let found = try keychain.head(inRow: 4), let mark = found.mark else { throw RawError(text: "no head") }
    let change = RecordChanges.Change(
      kind: .insert, accessible: .always, place: .init(.heads), key: .head(4), mark: mark)
    keychain.pass?.forgetNames()
    try #require(try keychain.continueVerification(records: 16) == nil)
    let nameless = keychain.pass?.verification.findings ?? []
    #expect(nameless.allSatisfy { $0.name == nil })
    changes.append(change)
    keychain.pass?.apply(changes, keychain)
    var result: Verification?
    while result == nil { result = try keychain.continueVerification(records: 16) }
    // The check of this item began again, with its name.
    #expect(result?.findings.contains { $0.text.hasPrefix("version 59 ") && $0.name?.text == "boot" } == true)
    #expect(result?.findings.count { $0.text.hasSuffix("is not the one its head names") } == 59)
  }

  @Test("names that a check under way has found go with a lock that hides names, and not with another")
  func hidden() throws {
    let keychain = try Self.manyVersions(60).unlocked()
    keychain.beginVerification()
    func names() -> Int { keychain.pass?.verification.findings.count { $0.name != nil } ?? 0 }
    while names() == 0 { #expect(try keychain.continueVerification(records: 16) == nil) }
    keychain.lock(hidingNames: false)
    #expect(names() > 0)
    keychain.lock(hidingNames: true)
    #expect(keychain.pass?.verification.findings.isEmpty == false)
    #expect(names() == 0)
  }

  @Test(
    "a row that is long counts for many, whatever makes it long",
    arguments: [
      "heads SELECT 100 + i, randomblob(16), 1, 1, 1, 1, zeroblob(400000), x'00'",
      "heads SELECT 100 + i, zeroblob(400000), 1, 1, 1, 1, x'00', x'00'",
      "heads SELECT 100 + i, randomblob(16), 9, 1, 1, 1, x'00', zeroblob(400000)",
      "vals SELECT 1, 100 + i, zeroblob(400000)", "vals SELECT 77, 100 + i, zeroblob(400000)",
      "tags SELECT zeroblob(400000 + i), i, 1",
    ])
  func long(rows: String) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12) INSERT INTO \(rows) FROM n")
    let (result, steps) = try Self.verify(fixture.unlocked())
    #expect(!result.isOK)
    // A few steps suffice for the program's own records.
    #expect(steps.count { $0.records > 0 } >= 12)
  }

  // MARK: Searches

  /// Inserts long heads, counted to another class, to which each tag of `when-unlocked` also leads.
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
      (statements.tags.tagged, try keychain.tags(.kind(.note))),
      (statements.tags.locate, try keychain.tags(.name(name("safe")))),
      (statements.tags.read, try keychain.tags(.name(name("safe")))),
      (statements.tags.readVersion, try keychain.tags(.name(name("safe")))),
    ] {
      try lookup.bind(tags)
      if lookup === statements.tags.tagged || lookup === statements.tags.readVersion { try lookup.statement.bind(4, 0) }
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
        : try keychain.find(query, limit: 2, after: after, now: 2000, isTimeUp: { true })
      names += page.items.map(\.name.text)
      pages += 1
      if let after, let next = page.next { #expect(next > after) }
      after = page.next
    } while after != nil && pages < 1000
    #expect(names == ["door", "safe", "token", "boot", "last"])
    #expect(pages >= 60)
  }

  // MARK: Salvage

  @Test("of an item that claims more versions than an item keeps no more than that are tried")
  func salvage() throws {
    let fixture = try Self.manyVersions(50)
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 8) {}
    #expect(salvage.result.saved == 4)
    #expect(try salvage.target.read("boot").count == 20_000)
    let texts = salvage.result.losses.map(\.text)
    #expect(texts.count == Keychain.keptVersions, "\(texts)")
    #expect(
      texts.contains(
        "the \(50 - Keychain.keptVersions) oldest versions of item 4 are lost: an item keeps only the newest ones"))
  }

  @Test("items with long values are saved one in a step") func salvageLong() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for index in 0..<6 { try keychain.put("\(index)", String(repeating: "v", count: 300_000)) }
    }
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    for saved in 1...6 {
      #expect(try !salvage.step(items: 8))
      #expect(salvage.result.saved == saved)
    }
    // The tags are examined in steps of their own, and a long log is folded in in another one.
    var steps = 1
    while try !salvage.step(items: 8) { steps += 1 }
    #expect(steps <= 3 && salvage.result.saved == 6)
  }
}
