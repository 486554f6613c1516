import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Rows of the small tables that this program never writes: an unknown class, an invalid identity, more bytes than
/// SQLite reads.
@Suite("A row that cannot be read") struct OddRowTests {
  /// An edit of the store, and the beginning of the single finding that it causes.
  struct Edit: Sendable, CustomTestStringConvertible {
    var sql: String
    var finding: String
    var testDescription: String { sql }

    init(_ sql: String, _ finding: String) { (self.sql, self.finding) = (sql, finding) }
  }

  /// Makes a closed vault with two items, two slots, grants, and deposits that are kept aside.
  private static func fixture() throws -> Fixture {
    let fixture = try Fixture.withItems(2)
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    let grant = Grant(
      subject: try Subject(parsing: "user:7"), pattern: try ItemPattern("folder/*"), rights: Rights(.get), created: 1)
    try keychain.changeGrants(removing: [], adding: [GrantRecord(.grant(grant))], now: 2000)
    keychain.lock(hidingNames: false)
    for text in ["first", "second"] { try keychain.leave(LeftValue(text, "one")) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    _ = try keychain.takeInAll { _, _, _ in .denied }
    try keychain.close()
    return fixture
  }

  /// More bytes than a record has, and more than SQLite reads here. If a table is searched by name, a page with such a
  /// row is kept from SQLite, because it would read the whole row to compare the name.
  private static let (long, longer) = ("zeroblob(1000000)", "zeroblob(3000000)")
  /// A name of as many bytes as the longer row.
  private static let name = "hex(zeroblob(1500000))"

  @Test(
    "is one finding, and nothing else seems to be missing",
    arguments: [
      Edit("UPDATE deposits SET class = 5 WHERE id = 1", "vault.db: a deposit was not written by vault"),
      Edit("UPDATE deposits SET state = 9 WHERE id = 1", "vault.db: a deposit was not written by vault"),
      Edit("UPDATE deposits SET item = x'00' WHERE id = 2", "vault.db: a deposit was not written by vault"),
      Edit("UPDATE deposits SET sealed = \(longer) WHERE id = 2", "vault.db: a record is too long"),
      Edit("UPDATE grants SET class = 9 WHERE id = 1", "vault.db: a grant was not written by vault"),
      Edit("UPDATE grants SET item = zeroblob(15) WHERE id = 2", "vault.db: a grant was not written by vault"),
      Edit("UPDATE grants SET sealed = \(longer) WHERE id = 3", "vault.db: a record is too long"),
      Edit(
        "INSERT INTO grants(item, class, sealed) VALUES(x'', -1, x'')",
        "vault.db: a grant was not written by vault"),
      Edit("UPDATE slots SET record = \(longer) WHERE id = 2", "slot 2 cannot be read"),
      Edit("INSERT INTO slots VALUES(-1, zeroblob(10))", "slot -1 was put in by somebody else"),
      Edit("INSERT INTO slots VALUES(4294967296, zeroblob(10))", "slot 4294967296 was put in by somebody else"),
      Edit("INSERT INTO slots VALUES(77, \(longer))", "slot 77 cannot be read"),
      Edit("UPDATE keys SET sealed = \(long) WHERE name = 'always.boot'", "the wrapped key always.boot cannot be read"),
      Edit("INSERT INTO meta VALUES('stale-slots', \(long))", "the fact stale-slots about the vault is too long"),
      Edit("INSERT INTO meta VALUES('rekeying', \(long))", "vault.db: a record is too long"),
      Edit("INSERT INTO meta VALUES('stale-slots', \(longer))", "the fact stale-slots about the vault is too long"),
      Edit("INSERT INTO meta VALUES('rekeying', \(longer))", "vault.db: a record is too long"),
      Edit("INSERT INTO meta VALUES('aaa', \(longer))", "a fact about the vault was put in by somebody else"),
      Edit("INSERT INTO meta VALUES('zzz', \(longer))", "a fact about the vault was put in by somebody else"),
      Edit("UPDATE keys SET sealed = \(longer) WHERE name = 'always.boot'", "the wrapped key always.boot cannot be"),
      Edit("INSERT INTO keys VALUES('aaa', \(longer))", "the wrapped key of another name cannot be read"),
      Edit("INSERT INTO keys VALUES('zzz', \(longer))", "the wrapped key of another name cannot be read"),
    ])
  func oneFinding(edit: Edit) throws {
    let fixture = try Self.fixture()
    #expect(try fixture.unlocked().verify().isOK)
    try fixture.sql(edit.sql)
    let keychain = try fixture.unlocked()
    let texts = try keychain.verify().findings.map(\.text)
    // The page with a number below zero, and the next key among the facts, are findings as well.
    let rest = texts.filter {
      !$0.hasPrefix(edit.finding) && !$0.hasPrefix("the fact rekeying about") && !$0.hasSuffix("has a row below zero")
    }
    #expect(texts.contains { $0.hasPrefix(edit.finding) } && rest.isEmpty, "\(texts)")
    #expect(keychain.integrity == .failed)
    // Everything else is read as before.
    #expect(keychain.slots.contains { $0.id == 1 })
    #expect(try keychain.names("").count == 2)
  }

  @Test("of a class's grants ends those of that class alone; one of no class ends none") func grants() throws {
    let fixture = try Self.fixture()
    try fixture.sql(
      "UPDATE grants SET sealed = \(Self.longer) WHERE class = 3",
      "INSERT INTO grants(item, class, sealed) VALUES(x'', 8, \(Self.long))")
    let keychain = try fixture.unlocked()
    #expect(try keychain.grants(of: .whenUnlocked).count == 1 && keychain.grants(of: .afterFirstUnlock).count == 1)
    #expect(throws: VaultError.self) { try keychain.grants(of: .always) }
  }

  @Test("keeps no other deposit from being saved", arguments: ["class = class + 4", "sealed = \(longer)", "state = 7"])
  func salvaged(change: String) throws {
    let fixture = try Fixture.withItems(2)
    do {
      let keychain = try fixture.unlocked()
      keychain.lock(hidingNames: false)
      for text in ["first", "second", "third"] { try keychain.leave(LeftValue(text, text)) }
      try keychain.close()
    }
    try fixture.sql("UPDATE deposits SET \(change) WHERE id = 1")
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 100) {}
    #expect(salvage.result.losses.map(\.text) == ["a deposit is lost: it cannot be read"])
    #expect(try salvage.target.takeInAll() == [.stored(version: 1), .stored(version: 1)])
    #expect(try salvage.target.text("second") == "second" && salvage.target.text("third") == "third")
  }

  @Test(
    "of the slots or the facts keeps nobody from opening and salvaging the vault",
    arguments: [
      "INSERT INTO slots VALUES(-1, zeroblob(10))", "UPDATE slots SET record = \(longer) WHERE id = 2",
      "INSERT INTO meta VALUES('stale-slots', \(long))", "INSERT INTO meta VALUES('stale-slots', \(longer))",
      "INSERT INTO meta VALUES('aaa', \(longer)), ('bbb', \(longer)), ('ccc', \(longer)), ('w', \(longer))",
      "INSERT INTO keys VALUES('aaa', \(longer)), ('b', \(longer)), ('c', \(longer)), ('w', \(longer))",
      "UPDATE keys SET sealed = \(longer) WHERE name = 'always.boot'", "INSERT INTO keys VALUES(\(name), x'00')",
      "INSERT INTO meta VALUES(\(name), x'00')",
    ])
  func opened(sql: String) throws {
    let fixture = try Self.fixture()
    try fixture.sql(sql)
    let keychain = try fixture.unlocked()
    #expect(keychain.staleSlots.isEmpty)
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 100) {}
    #expect(salvage.result.saved == 2)
    #expect(try salvage.target.verify().isOK)
  }

  @Test("in the place of a wrapped key, or of the vault's identity, is told as what cannot be read") func needed()
    throws
  {
    let fixture = try Self.fixture()
    try fixture.sql("UPDATE keys SET sealed = \(Self.longer) WHERE name = 'when-unlocked'")
    #expect(throws: VaultError.corrupt("the key when-unlocked cannot be read: vault.db: a record is too long")) {
      try fixture.unlocked()
    }
    try fixture.sql("UPDATE meta SET value = \(Self.longer) WHERE name = 'vault-id'")
    #expect(throws: VaultError.corrupt("the vault's identity cannot be read: vault.db: a record is too long")) {
      try fixture.open()
    }
  }

  @Test("of the facts keeps longer ones that are the vault's readable, and ends all writing") func facts() throws {
    let fixture = try Self.fixture()
    // The record is longer than the page of its row.
    try fixture.sql(
      "INSERT OR REPLACE INTO meta VALUES('stale-slots', CAST(zeroblob(5000) || x'02000000' AS BLOB))",
      "INSERT INTO meta VALUES('aaa', \(Self.longer))")
    let keychain = try fixture.unlocked()
    #expect(keychain.staleSlots.contains(2))
    #expect(throws: VaultError.self) { try keychain.put("new", "value") }
    #expect(keychain.integrity == .failed)
  }
}
