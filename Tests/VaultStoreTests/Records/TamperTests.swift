import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

/// Edits of the database file: the answer is an error that names the record, never a wrong value.
@Suite struct TamperTests {
  /// Makes items 1 and 2 with two versions each, and item 3 in another class; the vault is closed.
  private func fixture() throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for (text, number) in [("a", 1), ("b", 2)] {
      try keychain.put(text, "value \(number).1", attributes: ["item": text])
      try keychain.put(text, "value \(number).2", update: true)
    }
    try keychain.put("c", "value 3.1", accessible: .always)
    return fixture
  }

  /// Lends `body` a vault that was edited, and expects that everything that can be read is right.
  private func after(_ sql: String..., look body: (Keychain) throws -> Void) throws {
    let fixture = try fixture()
    for statement in sql { try fixture.sql(statement) }
    do { try body(fixture.unlocked()) }
    try expectNothingWrong(fixture)
  }

  /// Expects that everything that can still be read is exactly what was stored.
  private func expectNothingWrong(_ fixture: Fixture) throws {
    let keychain = try fixture.unlocked()
    for (text, number) in [("a", 1), ("b", 2)] {
      for version in [1, 2] {
        if let value = try? keychain.text(text, version: version) { #expect(value == "value \(number).\(version)") }
      }
      if let value = try? keychain.text(text) { #expect(value == "value \(number).2") }
    }
    if let value = try? keychain.text("c") { #expect(value == "value 3.1") }
  }

  @Test(
    "a changed record of item a is corrupt to read",
    arguments: [
      // Values of another item or another version, or damaged ones.
      "UPDATE heads SET value = (SELECT value FROM heads WHERE id = 2) WHERE id = 1",
      "UPDATE heads SET value = (SELECT sealed FROM vals WHERE item = 1) WHERE id = 1",
      "UPDATE heads SET value = zeroblob(length(value)) WHERE id = 1",
      "UPDATE heads SET value = x'' WHERE id = 1",
      "UPDATE heads SET value = CAST(value || x'00' AS BLOB) WHERE id = 1",
      // Heads: another item's, damaged, or with other columns.
      "UPDATE heads SET sealed = (SELECT sealed FROM heads WHERE id = 2) WHERE id = 1",
      "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 1",
      "UPDATE heads SET sealed = x'00' WHERE id = 1",
      "UPDATE heads SET class = 2 WHERE id = 1",
      "UPDATE heads SET class = 3 WHERE id = 1",
      "UPDATE heads SET class = 0 WHERE id = 1",
      "UPDATE heads SET class = 4096 WHERE id = 1",
      "UPDATE heads SET policy = policy + 1 WHERE id = 1",
      "UPDATE heads SET policy = -1 WHERE id = 1",
      "UPDATE heads SET revision = revision + 1 WHERE id = 1",
      "UPDATE heads SET current = 1 WHERE id = 1",
      "UPDATE heads SET current = 9223372036854775807 WHERE id = 1",
      "DELETE FROM heads WHERE id = 1",
      "UPDATE heads SET id = 100 WHERE id = 1",
      "UPDATE heads SET id = -1 WHERE id = 1",
      // The identity of the item.
      "UPDATE heads SET item = (SELECT item FROM heads WHERE id = 2) WHERE id = 1",
      "UPDATE heads SET item = zeroblob(16) WHERE id = 1",
      "UPDATE heads SET item = x'00' WHERE id = 1",
      // Tags that lead elsewhere.
      "UPDATE OR REPLACE tags SET item = 2 WHERE item = 1",
      "UPDATE tags SET item = 100 WHERE item = 1",
      "INSERT OR IGNORE INTO tags SELECT tag, 2, class FROM tags WHERE item = 1",
      "INSERT OR IGNORE INTO tags SELECT tag, 3, class FROM tags WHERE item = 1",
    ])
  func changed(sql: String) throws {
    try after(sql) { (keychain: Keychain) throws in
      expectCorrupt { _ = try keychain.text("a") }
      #expect(try keychain.text("c") == "value 3.1")
    }
  }

  @Test(
    "a changed record of an older value of item a is corrupt to read",
    arguments: [
      "UPDATE vals SET sealed = (SELECT sealed FROM vals WHERE item = 2) WHERE item = 1",
      "UPDATE vals SET sealed = (SELECT value FROM heads WHERE id = 1) WHERE item = 1",
      "UPDATE vals SET sealed = zeroblob(length(sealed)) WHERE item = 1",
      "UPDATE vals SET sealed = x'' WHERE item = 1",
      "UPDATE vals SET sealed = CAST(sealed || x'00' AS BLOB) WHERE item = 1",
      "UPDATE vals SET version = 2 WHERE item = 1",
      "DELETE FROM vals WHERE item = 1",
    ])
  func changedOlder(sql: String) throws {
    try after(sql) { (keychain: Keychain) throws in
      expectCorrupt { _ = try keychain.text("a", version: 1) }
      #expect(try keychain.text("a") == "value 1.2")
      #expect(try keychain.text("c") == "value 3.1")
    }
  }

  @Test("two items' older values or tags that changed places are noticed", arguments: ["vals", "tags"])
  func swapped(table: String) throws {
    // Free numbers serve in between, because the keys must be unique at each step.
    try after(
      "UPDATE \(table) SET item = item + 100 WHERE item < 3", "UPDATE \(table) SET item = 103 - item WHERE item > 100"
    ) { (keychain: Keychain) throws in
      if table == "tags" { expectCorrupt { _ = try keychain.text("a") } }
      expectCorrupt { _ = try keychain.text("a", version: 1) }
      expectCorrupt { _ = try keychain.text("b", version: 1) }
    }
  }

  @Test("two items' values that changed places are noticed") func swappedValues() throws {
    try after(
      "INSERT INTO vals SELECT 100 + id, 1, value FROM heads WHERE id < 3",
      "UPDATE heads SET value = (SELECT sealed FROM vals WHERE item = 103 - id) WHERE id < 3",
      "DELETE FROM vals WHERE item > 100"
    ) { (keychain: Keychain) throws in
      expectCorrupt { _ = try keychain.text("a") }
      expectCorrupt { _ = try keychain.text("b", version: 2) }
      #expect(try keychain.text("b", version: 1) == "value 2.1")
    }
  }

  @Test(
    "an item whose records are not all where they have to be removed is not deleted",
    arguments: [
      "DELETE FROM vals WHERE item = 1", "INSERT INTO vals VALUES(1, 9, x'')",
      "DELETE FROM tags WHERE tag = (SELECT min(tag) FROM tags WHERE item = 1)",
      "DELETE FROM tags WHERE tag = (SELECT max(tag) FROM tags WHERE item = 1)",
      "DELETE FROM tags WHERE tag = (SELECT tag FROM tags WHERE item = 1 ORDER BY tag LIMIT 1 OFFSET 1)",
    ])
  func deleted(sql: String) throws {
    let fixture = try fixture()
    try fixture.sql(sql)
    let keychain = try fixture.unlocked()
    // Without the tag of its name, the item is not found at all.
    guard (try? keychain.item(named: name("a"))) != nil else { return }
    expectCorrupt { try keychain.delete([name("a")]) }
    #expect(keychain.integrity == .failed)
    #expect(try keychain.text("a") == "value 1.2")
    #expect(try keychain.names("item=b") == ["b"])
  }

  @Test("a version that is missing when it is its turn to go, and a tag, keep the change from being made")
  func pruned() throws {
    for sql in ["DELETE FROM vals WHERE item = 1 AND version = 1", "DELETE FROM tags WHERE item = 1 AND tag = ?"] {
      let fixture = try fixture()
      do {
        let keychain = try fixture.unlocked()
        for index in 3...10 { try keychain.put("a", "value 1.\(index)", update: true) }
      }
      let tag = try fixture.attributeTag("item", "a")
      try fixture.sql(sql.replacing("?", with: tag))
      let keychain = try fixture.unlocked()
      expectCorrupt { try keychain.put("a", "value 1.11", attributes: [:], update: true) }
      #expect(keychain.integrity == .failed)
      #expect(try keychain.text("a") == "value 1.10")
    }
  }

  /// A change of an item after its records were copied.
  enum Change: CaseIterable {
    case value, attributes, place, policy, accessible

    func make(_ keychain: Keychain) throws {
      switch self {
      case .value: try keychain.put("a", "value 1.3", update: true, now: 3000)
      case .attributes: try keychain.set(ItemChange(name: name("a"), attributes: [:], update: true), now: 3000)
      case .place: try keychain.move(from: name("a"), to: name("elsewhere"), now: 3000)
      case .policy: try keychain.set(ItemChange(name: name("a"), require: .password, update: true), now: 3000)
      case .accessible: try keychain.set(ItemChange(name: name("a"), accessible: .always, update: true), now: 3000)
      }
    }
  }

  @Test("an old head that is put back does not pass", arguments: Change.allCases)
  func oldHead(change: Change) throws {
    let fixture = try fixture()
    let old = try fixture.copied(Fixture.headColumns, ofItem: 1)
    do { try change.make(fixture.unlocked()) }
    try fixture.putBack(old)
    let keychain = try fixture.unlocked()
    for text in ["a", "elsewhere"] {
      #expect(throws: VaultError.self) { try keychain.text(text) }
      #expect(throws: VaultError.self) { try keychain.text(text, version: 2) }
    }
    #expect(try keychain.text("b") == "value 2.2")
  }

  @Test("an old value that is put back does not pass", arguments: Change.allCases)
  func oldValue(change: Change) throws {
    let fixture = try fixture()
    let old = try fixture.copied(["value"], ofItem: 1)
    do { try change.make(fixture.unlocked()) }
    try fixture.putBack(old)
    // A version that has become an older one is put back in that place, too.
    if change == .value {
      try fixture.sql("UPDATE vals SET sealed = (SELECT value FROM heads WHERE id = 1) WHERE item = 1 AND version = 2")
    }
    let keychain = try fixture.unlocked()
    let text = change == .place ? "elsewhere" : "a"
    expectCorrupt { _ = try keychain.text(text) }
    expectCorrupt { _ = try keychain.text(text, version: 2) }
  }

  @Test("a deleted item that is put back beside its successor of a weaker class is noticed")
  func successor() throws {
    let fixture = try fixture()
    let old = try [
      fixture.copied("heads", where: "id = 1"), fixture.copied("vals", where: "item = 1"),
      fixture.copied("tags", where: "item = 1"),
    ]
    do {
      let keychain = try fixture.unlocked()
      try keychain.delete([name("a")])
      try keychain.put("a", "new", accessible: .always)
    }
    for copy in old { try fixture.putBack(copy) }
    let keychain = try fixture.unlocked()
    #expect(keychain.integrity == .unchecked)
    #expect(try keychain.text("a") == "value 1.2")
    #expect(keychain.integrity == .failed)
    expectCorrupt { try keychain.put("b", update: true) }
  }

  @Test(
    "a search leaves a tampered record out, and the store has failed then",
    arguments: [
      "UPDATE OR REPLACE tags SET item = 2 WHERE item = 1", "UPDATE heads SET sealed = zeroblob(100) WHERE id = 1",
    ])
  func search(sql: String) throws {
    let fixture = try fixture()
    try fixture.sql(sql)
    for query in ["item=a", "name=a"] {
      let keychain = try fixture.unlocked()
      #expect(try keychain.names(query) == [] && keychain.hasFailed)
    }
  }

  @Test("a search is refused where a tag leads to no record") func missingRecord() throws {
    let fixture = try fixture()
    try fixture.sql("DELETE FROM heads WHERE id = 1")
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.names("item=a") }
    expectCorrupt { _ = try keychain.names("name=a") }
  }

  @Test(
    "wrapped keys that changed places, or are gone, open nothing",
    arguments: [
      """
      UPDATE keys SET sealed = (SELECT sealed FROM keys WHERE name = 'always') WHERE name = 'when-unlocked'
      """,
      "UPDATE keys SET sealed = (SELECT sealed FROM keys WHERE name = 'always.boot') WHERE name = 'always'",
      "UPDATE keys SET sealed = zeroblob(72)", "UPDATE keys SET sealed = x'00'", "DELETE FROM keys",
      "UPDATE meta SET value = zeroblob(16) WHERE name = 'vault-id'",
    ])
  func keys(sql: String) throws {
    let fixture = try fixture()
    try fixture.sql(sql)
    let keychain = try fixture.open()
    expectCorrupt { try keychain.unlock(vaultKey: fixture.vaultKey) }
    #expect(throws: VaultError.locked) { try keychain.text("a") }
  }
}

extension Fixture {
  /// Returns the tag of an attribute of a `when-unlocked` item, as an SQL literal.
  fileprivate func attributeTag(_ name: String, _ value: String) throws -> String {
    let tag = try #require(unlocked().tag(.attribute(name, value), .whenUnlocked))
    let digits = tag.withBytes { bytes in
      (0..<bytes.byteCount).map { String(bytes.byte($0) >> 4, radix: 16) + String(bytes.byte($0) & 15, radix: 16) }
    }
    return "x'\(digits.joined())'"
  }
}
