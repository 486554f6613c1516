import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Trees whose pages lead in circles, and tables with far too many rows: nothing runs for ever or fills the memory, and
/// the store is never taken for whole. If the program failed here, these tests would not end.
@Suite struct CircleTests {
  /// Makes a store whose records fill many pages of each table; one tree leads in a circle.
  private static func fixture(_ tree: String, _ circle: Fixture.Circle) throws -> Fixture {
    let fixture = try Fixture()
    do { try fill(fixture.unlocked()) }
    if tree == smallIndex {
      try fixture.sql(
        """
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO vals SELECT 1, 9 + i, x'' \
        FROM n
        """)
    }
    try fixture.lead(tree, in: circle)
    return fixture
  }

  private static func fill(_ keychain: Keychain) throws {
    let attributes = Dictionary(uniqueKeysWithValues: (0..<8).map { ("key\($0)", "same") })
    try keychain.transaction { () throws(VaultError) in
      for index in 0..<60 {
        guard let name = try? ItemName("item \(index)") else { return }
        for version in 1...2 {
          let change = ItemChange(name: name, kind: .note, attributes: attributes, update: version > 1)
          try keychain.set(change, value: secret(String(repeating: "\(version)", count: 900)), now: 2000)
        }
      }
    }
  }

  private static let smallIndex = "sqlite_autoindex_vals_1"
  private static let trees = ["heads", "vals", smallIndex, "tags"]

  @Test(
    "the check ends and finds the store damaged, and nothing is written to it", arguments: trees,
    Fixture.Circle.allCases)
  func check(tree: String, circle: Fixture.Circle) throws {
    let fixture = try Self.fixture(tree, circle)
    for records in [1 << 20, 50] {
      let keychain = try fixture.unlocked()
      keychain.beginVerification()
      var result: Verification?
      while result == nil { result = try keychain.continueVerification(records: records) }
      #expect(result?.isOK == false && result?.findings.isEmpty == false)
      #expect(keychain.integrity == .failed)
      expectCorrupt { try keychain.put("new") }
    }
  }

  @Test("every read ends, with what was stored or as corrupt", arguments: trees, Fixture.Circle.allCases)
  func reads(tree: String, circle: Fixture.Circle) throws {
    let fixture = try Self.fixture(tree, circle)
    let keychain = try fixture.unlocked()
    for index in 0..<60 {
      for version in [1, 2] {
        do {
          let value = try keychain.text("item \(index)", version: version)
          #expect(value == String(repeating: "\(version)", count: 900))
        } catch let error as VaultError { #expect(error.isCorrupt || error == .noSuchItem, "\(error)") }
      }
    }
    for query in ["", "key1=same", "kind=note", "key1=same key2=same key3=other", "name=item 7"] {
      do {
        let names = try keychain.names(query)
        #expect(Set(names).count == names.count && names.count <= 60)
      } catch let error as VaultError { #expect(error.isCorrupt, "\(error)") }
    }
  }

  @Test("every change ends, and one that fails changes nothing", arguments: trees, Fixture.Circle.allCases)
  func changes(tree: String, circle: Fixture.Circle) throws {
    let fixture = try Self.fixture(tree, circle)
    let keychain = try fixture.unlocked()
    let changes: [() throws -> Void] = [
      { try keychain.put("new") }, { try keychain.put("item 3", "other", update: true) },
      { try keychain.move(from: name("item 40"), to: name("moved"), now: 3000) },
      { try keychain.set(ItemChange(name: name("item 50"), accessible: .always, update: true), now: 3000) },
      { try keychain.delete([name("item 20")]) },
    ]
    for change in changes {
      do { try change() } catch let error as VaultError {
        #expect(error.isCorrupt || error == .noSuchItem, "\(error)")
      }
    }
    #expect(try !keychain.verify().isOK)
  }

  @Test("a salvage and a rekey end", arguments: trees, Fixture.Circle.allCases)
  func copies(tree: String, circle: Fixture.Circle) throws {
    let fixture = try Self.fixture(tree, circle)
    do {
      let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 3000)
      while try !salvage.step(items: 7) {}
      #expect(salvage.result.saved <= 60)
      #expect(try salvage.target.verify().isOK)
    }
    let keychain = try fixture.unlocked()
    let rekey = try fixture.rekey(keychain)
    do {
      try rekey.complete()
      // The rekey found every record in other ways, so the new store is whole.
      #expect(try keychain.verify().isOK)
      #expect(try keychain.names("").count == 60)
    } catch let error as VaultError { #expect(error.isCorrupt, "\(error)") }
  }

  @Test("slots that lead in circles keep the vault closed, at once", arguments: Fixture.Circle.allCases)
  func slots(circle: Fixture.Circle) throws {
    let fixture = try Fixture()
    try fixture.sql(
      "WITH n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO slots SELECT i, zeroblob(900) "
        + "FROM n"
    )
    do { #expect(try fixture.open().damagedSlots.count == 39) }
    try fixture.lead("slots", in: circle)
    expectCorrupt { _ = try fixture.open() }
  }

  @Test(
    "a table of few rows that has many, or a long one, is damaged and not read to its end",
    arguments: [
      "INSERT INTO slots SELECT i, zeroblob(9) FROM n WHERE i > 1", "UPDATE slots SET record = zeroblob(1 << 20)",
      "UPDATE meta SET value = zeroblob(1 << 20) WHERE name = 'vault-id'",
    ])
  func opening(sql: String) throws {
    let fixture = try Fixture()
    try fixture.sql("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) \(sql)")
    expectCorrupt { _ = try fixture.open() }
  }

  @Test(
    "too many keys, or too long a record of hashes, fails the check",
    arguments: [
      "INSERT INTO keys SELECT 'key ' || i, x'00' FROM n", "UPDATE hashes SET record = zeroblob(1 << 20)",
    ])
  func fewRows(sql: String) throws {
    let fixture = try IntegrityTests.filled()
    try fixture.sql("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) \(sql)")
    let keychain = try fixture.unlocked()
    // The tables are read no further than their largest allowed number of rows, whatever else is wrong.
    expectCorrupt {
      _ = try keychain.database.keys()
      for accessible in AccessClass.allCases { _ = try keychain.database.hashes(accessible) }
    }
    #expect(try !keychain.verify().isOK)
    #expect(keychain.integrity == .failed)
    expectCorrupt { try keychain.put("new") }
  }

  @Test("a vault takes as many slots as it can hold, and no more")
  func limit() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    func slot(_ id: UInt32) throws -> SlotRecord {
      try SlotRecord.make(
        id: id, kind: .recovery, label: "", created: 1000, secret: RecoveryCode.random().text(), kdf: nil,
        vaultKey: fixture.vaultKey, vaultID: fixture.vaultID)
    }
    for id in UInt32(2)...255 { try keychain.addSlot(slot(id), vaultKey: fixture.vaultKey) }
    expect(\.isInvalidValue) { try keychain.addSlot(slot(256), vaultKey: fixture.vaultKey) }
    #expect(keychain.slots.count == 255)
  }
}
