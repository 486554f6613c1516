import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Edits of a closed store: a check names each edit and its item.
@Suite struct VerifyTests {
  /// Makes items 1 to 3: `a` and `b` with two versions each, `c` in another class; and slots 1 and 2.
  static func fixture() throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for text in ["a", "b"] {
      try keychain.put("folder/" + text, "\(text) 1", attributes: ["item": text])
      try keychain.put("folder/" + text, "\(text) 2", update: true)
    }
    try keychain.put("c", "c 1", accessible: .always)
    let terms = try PresenceTerms(keystore: "memory", locator: [], users: [0], fingers: [])
    try keychain.addSlot(
      SlotRecord.make(
        id: 2, kind: .pam, label: "", created: 1, secret: RandomBytes.secret(count: 32), kdf: nil, terms: terms,
        vaultKey: fixture.vaultKey, vaultID: fixture.vaultID), vaultKey: fixture.vaultKey)
    return fixture
  }

  private func verify(_ fixture: Fixture) throws -> Verification {
    let keychain = try fixture.unlocked()
    let result = try keychain.verify()
    #expect(keychain.integrity == (result.findings.isEmpty ? .ok : .failed))
    return result
  }

  /// An edit, the finding that it causes, and the affected items.
  struct Edit: CustomTestStringConvertible {
    var sql: [String]
    var kind: Finding.Kind
    var text: String
    var items: Set<Int64> = []
    var testDescription: String { sql.joined(separator: "; ") }

    init(_ sql: String..., kind: Finding.Kind, _ text: String, items: Set<Int64> = []) {
      (self.sql, self.kind, self.text, self.items) = (sql, kind, text, items)
    }
  }

  @Test("from the first thing on that it finds nothing is written, however long the rest of it takes")
  func atOnce() throws {
    let fixture = try Self.fixture()
    try fixture.sql("UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 1")
    let keychain = try fixture.unlocked()
    keychain.beginVerification()
    while !keychain.hasFailed { try #require(try keychain.continueVerification(records: 1) == nil) }
    expectCorrupt { try keychain.put("new") }
    var result: Verification?
    while result == nil { result = try keychain.continueVerification(records: 1) }
    #expect(result?.isOK == false)
  }

  @Test(
    "each edit is named, with the items that it harms and no others",
    arguments: [
      Edit(
        "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 1", kind: .damaged,
        "head of item "
          + "1", items: [1]),
      Edit("UPDATE heads SET class = 3 WHERE id = 1", kind: .damaged, "head of item 1", items: [1]),
      Edit("UPDATE heads SET class = 77 WHERE id = 1", kind: .damaged, "head of item 1", items: [1]),
      Edit("UPDATE heads SET policy = policy + 1 WHERE id = 2", kind: .damaged, "head of item 2", items: [2]),
      Edit(
        "UPDATE heads SET sealed = (SELECT sealed FROM heads WHERE id = 2) WHERE id = 1", kind: .damaged,
        "head of item 1", items: [1]),
      Edit("DELETE FROM heads WHERE id = 1", kind: .missing, "item 1, which has no head", items: [1]),
      Edit(
        "UPDATE vals SET sealed = zeroblob(length(sealed)) WHERE item = 2 AND version = 1", kind: .damaged,
        "version 1 of item 2", items: [2]),
      Edit("DELETE FROM vals WHERE item = 2", kind: .missing, "version 1 of item 2", items: [2]),
      Edit(
        "UPDATE vals SET item = 3 WHERE item = 2", kind: .foreign, "version 1 of item 3", items: [2, 3]),
      Edit(
        "UPDATE vals SET item = 99 WHERE item = 2", kind: .foreign, "version 1 of item 99",
        items: [2, 99]),
      Edit(
        "INSERT INTO vals SELECT item, 9, sealed FROM vals WHERE item = 1 AND version = 1", kind: .foreign,
        "version 9 of item 1", items: [1]),
      Edit(
        "UPDATE vals SET sealed = (SELECT value FROM heads WHERE id = 1) WHERE item = 1", kind: .damaged,
        "version 1 of item 1", items: [1]),
      Edit(
        "UPDATE heads SET value = (SELECT sealed FROM vals WHERE item = 1) WHERE id = 1", kind: .damaged,
        "version 2 of item 1", items: [1]),
      Edit(
        "UPDATE heads SET value = (SELECT value FROM heads WHERE id = 1) WHERE id = 2", kind: .damaged,
        "version 2 of item 2", items: [2]),
      Edit("UPDATE heads SET value = x'' WHERE id = 3", kind: .damaged, "version 1 of item 3", items: [3]),
      Edit(
        "INSERT INTO vals SELECT id, current, value FROM heads WHERE id = 3", kind: .foreign, "version 1 of item 3",
        items: [3]),
      Edit("DELETE FROM tags WHERE item = 3", kind: .missing, "item 3 is found by its name", items: [3]),
      Edit("UPDATE OR REPLACE tags SET item = 2 WHERE item = 1", kind: .foreign, "leads to item 2", items: [1, 2]),
      Edit("UPDATE tags SET item = 99 WHERE item = 1", kind: .missing, "item 99, which has no head", items: [1, 99]),
      Edit("UPDATE tags SET class = 3 WHERE item = 1", kind: .foreign, "leads to item 1", items: [1]),
      Edit("UPDATE tags SET class = 0 WHERE item = 1", kind: .damaged, "leads to item 1", items: [1]),
      Edit("INSERT INTO tags VALUES(zeroblob(16), 3, 3)", kind: .foreign, "leads to item 3", items: [3]),
      Edit("INSERT INTO tags VALUES(zeroblob(7), 3, 3)", kind: .damaged, "leads to item 3", items: [3]),
      Edit("DELETE FROM slots WHERE id = 2", kind: .missing, "slot 2"),
      Edit("UPDATE slots SET record = zeroblob(length(record)) WHERE id = 2", kind: .damaged, "slot 2"),
      Edit("INSERT INTO slots SELECT 3, record FROM slots WHERE id = 1", kind: .foreign, "slot 3"),
      Edit("UPDATE keys SET sealed = zeroblob(72) WHERE name = 'always.boot'", kind: .damaged, "key always.boot"),
      Edit("DELETE FROM keys WHERE name = 'always.boot'", kind: .missing, "key always.boot"),
      Edit("INSERT INTO keys VALUES('spare', zeroblob(72))", kind: .foreign, "key of another name"),
      Edit("DELETE FROM hashes WHERE class = 1", kind: .damaged, "record of when-unlocked"),
      Edit("DELETE FROM hashes", kind: .damaged, "record of always"),
      Edit(
        "UPDATE hashes SET record = zeroblob(length(record)) WHERE class = 2", kind: .damaged,
        "record of after-first-unlock"),
      Edit(
        "UPDATE hashes SET record = (SELECT record FROM hashes WHERE class = 2) WHERE class = 1", kind: .damaged,
        "record of when-unlocked"),
      Edit(
        "DELETE FROM heads WHERE id = 2", "DELETE FROM vals WHERE item = 2", "DELETE FROM tags WHERE item = 2",
        kind: .missing, "class when-unlocked is missing 1 head"),
      Edit("DELETE FROM heads", "DELETE FROM vals", "DELETE FROM tags", kind: .missing, "is missing 2 "),
    ])
  func named(edit: Edit) throws {
    let fixture = try Self.fixture()
    for sql in edit.sql { try fixture.sql(sql) }
    let result = try verify(fixture)
    let texts = result.findings.map { "\($0.kind): \($0.text)" }
    #expect(result.findings.contains { $0.kind == edit.kind && $0.text.contains(edit.text) }, "\(texts)")
    #expect(Set(result.findings.compactMap(\.item)) == edit.items, "\(texts)")
    for finding in result.findings {
      if let name = finding.name { #expect(name.text == ["folder/a", "folder/b", "c"][Int(finding.item ?? 0) - 1]) }
    }
  }

  @Test("a slot whose parameters were weakened is named")
  func weakened() throws {
    let fixture = try Self.fixture()
    try fixture.unlocked().addSlot(fixture.slot(3, "third"), vaultKey: fixture.vaultKey)
    // The passes begin at byte 23, behind the eight bytes of the memory.
    try fixture.sql(
      "UPDATE slots SET record = CAST(substr(record, 1, 23) || x'03' || substr(record, 25) AS BLOB) WHERE id = 3")
    let texts = try verify(fixture).findings.map(\.text)
    #expect(texts == ["slot 3 is not the one that was stored last"])
  }

  @Test("a slot's old record that is put back is named: the old password would open the vault again")
  func oldPassword() throws {
    let fixture = try Self.fixture()
    let old = try fixture.copied("slots", where: "id = 1")
    try fixture.unlocked().replaceSlot(fixture.slot(1, "changed"), vaultKey: fixture.vaultKey)
    try fixture.putBack(old)
    #expect(try verify(fixture).findings.map(\.text) == ["slot 1 is not the one that was stored last"])
  }

  private func copy(_ item: Int64, of fixture: Fixture) throws -> [[String]] {
    try [
      fixture.copied("heads", where: "id = \(item)"), fixture.copied("vals", where: "item = \(item)"),
      fixture.copied("tags", where: "item = \(item)"),
    ]
  }

  @Test(
    "an old head, or an old value, that is put back is named as such", arguments: [Fixture.headColumns, ["value"]])
  func replayed(columns: [String]) throws {
    let fixture = try Self.fixture()
    let old = try fixture.copied(columns, ofItem: 1)
    do {
      try fixture.unlocked().set(ItemChange(name: name("folder/a"), attributes: [:], update: true), now: 3000)
    }
    try fixture.putBack(old)
    let result = try verify(fixture)
    #expect(
      result.findings.contains { $0.kind == .replayed && $0.item == 1 && $0.name?.text == "folder/a" },
      "\(result.findings)")
    #expect(Set(result.findings.compactMap(\.item)) == [1])
  }

  @Test("an item that is put back as a whole, as it was before, is noticed")
  func replayedWhole() throws {
    let fixture = try Self.fixture()
    let old = try copy(1, of: fixture)
    do { try fixture.unlocked().put("folder/a", "a 2 again", update: true) }
    try fixture.sql("DELETE FROM vals WHERE item = 1", "DELETE FROM tags WHERE item = 1")
    for rows in old { try fixture.putBack(rows) }
    let result = try verify(fixture)
    #expect(result.changed == [.whenUnlocked])
    #expect(
      result.findings.contains { $0.kind == .replayed && $0.text.contains("when-unlocked") }, "\(result.findings)")
  }

  @Test("an item that was deleted, and is put back, is named")
  func restored() throws {
    let fixture = try Self.fixture()
    let old = try copy(2, of: fixture)
    do { try fixture.unlocked().delete([name("folder/b")]) }
    for rows in old { try fixture.putBack(rows) }
    let result = try verify(fixture)
    #expect(
      result.findings.contains { $0.kind == .foreign && $0.item == 2 && $0.name?.text == "folder/b" },
      "\(result.findings)")
    #expect(Set(result.findings.compactMap(\.item)) == [2])
  }

  @Test("an old class record that is put back without the records of its time does not fit them")
  func oldHashes() throws {
    let fixture = try Self.fixture()
    let old = try fixture.copied("hashes", where: "class = 3")
    do { try fixture.unlocked().put("d", accessible: .always, now: 9000) }
    try fixture.putBack(old)
    let texts = try verify(fixture).findings.map(\.text)
    #expect(texts.contains("class always has 1 head too many"), "\(texts)")
  }

  @Test("the values of another vault are noticed at each of its records")
  func otherVault() throws {
    let (fixture, other) = (try Self.fixture(), try Self.fixture())
    let rows = try other.copied("vals", where: "1") + (1...3).flatMap { try other.copied(["value"], ofItem: $0) }
    try fixture.putBack(rows)
    let result = try verify(fixture)
    #expect(result.findings.filter { $0.kind == .damaged && $0.text.hasPrefix("version") }.count == rows.count)
    #expect(Set(result.findings.compactMap(\.item)) == [1, 2, 3])
  }

  @Test("while locked, what the names' keys show is named all the same")
  func lockedNames() throws {
    let fixture = try Self.fixture()
    try fixture.sql("DELETE FROM vals WHERE item = 1", "DELETE FROM tags WHERE item = 2")
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    let result = try keychain.verify()
    #expect(Set(result.findings.compactMap(\.item)) == [1, 2])
    #expect(result.unchecked == [.whenUnlocked])
    #expect(keychain.integrity == .failed)
  }

  @Test("a store with damaged pages is checked to its end, in steps too", arguments: [3, 1000])
  func pages(records: Int) throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for index in 0..<100 { try keychain.put("item \(index)", String(repeating: "x", count: 500)) }
    }
    let whole = try #require(try fixture.files()["vault.db"])
    var found = 0
    for page in 1..<(whole.count / 4096) {
      var damaged = whole
      for offset in 0..<64 { damaged[page * 4096 + offset] ^= 0x55 }
      try damaged.write(to: URL(fileURLWithPath: fixture.path("vault.db")))
      guard let keychain = try? fixture.unlocked() else {
        found += 1
        continue
      }
      let result = try keychain.verify(inStepsOf: records, atMost: 10_000)
      #expect(result != nil, "page \(page)")
      if result?.findings.isEmpty == false { found += 1 }
    }
    #expect(found > whole.count / 4096 / 2)
  }

  @Test("of a small store everything is known after one step, also where something is wrong with it")
  func oneStep() throws {
    let fixture = try IntegrityTests.filled()
    do { #expect(try fixture.unlocked().verifyOnce()?.isOK == true) }
    try fixture.sql("UPDATE heads SET value = zeroblob(length(value)) WHERE id = 1")
    let keychain = try fixture.unlocked()
    #expect(try keychain.verifyOnce()?.harmed == 1)
    #expect(keychain.integrity == .failed)
  }
}

extension Keychain {
  /// Begins a check and continues it as far as the daemon does before it answers an unlock.
  fileprivate func verifyOnce() throws -> Verification? {
    beginVerification()
    return try continueVerification(records: 1024)
  }

  /// Checks the store in steps of this many records; returns nil if the check does not end within this many steps.
  func verify(inStepsOf records: Int, atMost steps: Int) throws -> Verification? {
    beginVerification()
    for _ in 0..<steps { if let result = try continueVerification(records: records) { return result } }
    return nil
  }
}
