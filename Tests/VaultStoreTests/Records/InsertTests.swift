import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Edits of the database file that would make a new record overwrite an old one: the old record always stays.
@Suite struct InsertTests {
  @Test("a lowered high-water mark of rows lets no new item take an old one's place")
  func sequence() throws {
    let fixture = try IntegrityTests.filled()
    // A store without such a mark cannot be misled by it.
    for sql in ["UPDATE sqlite_sequence SET seq = 0", "DELETE FROM sqlite_sequence"] { try? fixture.sql(sql) }
    let keychain = try fixture.unlocked()
    let before = try Contents(keychain)
    for index in 0..<12 { try keychain.put("new \(index)") }
    let after = try Contents(keychain)
    #expect(after.items.count == before.items.count + 12)
    for (name, item) in before.items { #expect(after.items[name] == item) }
    #expect(try keychain.verify().isOK)
  }

  @Test("an item in the last row that there can be keeps no new one out, and is found")
  func lastRow() throws {
    let fixture = try IntegrityTests.filled()
    try fixture.sql("UPDATE heads SET id = \(Int64.max) WHERE id = 12")
    let keychain = try fixture.unlocked()
    try keychain.put("new")
    try keychain.put("another", accessible: .always)
    #expect(try keychain.names("name=new") == ["new"])
    let result = try keychain.verify()
    #expect(result.findings.contains { $0.text == "item \(Int64.max) has a number that was never given" })
  }

  @Test("the highest row is known again after an insert that was taken back, and after a deletion")
  func highestRow() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a")
    try keychain.put("b")
    #expect(try keychain.database.lastRow() == 2)
    #expect(throws: VaultError.noSuchItem) {
      try keychain.transaction { () throws(VaultError) in
        guard let new = try? name("c") else { return }
        try keychain.set(ItemChange(name: new), value: secret("c"), now: 2000)
        #expect(try keychain.database.lastRow() == 3)
        throw .noSuchItem
      }
    }
    #expect(try keychain.database.lastRow() == 2)
    try keychain.put("d")
    #expect(try keychain.database.lastRow() == 3 && keychain.database.lastRow(upTo: 2) == 2)
    try keychain.delete([name("d")])
    #expect(try keychain.database.lastRow() == 2)
  }

  @Test("a version that waits where an older one is to go is not replaced, and the whole change is taken back")
  func olderVersion() throws {
    let fixture = try Fixture()
    do { try fixture.unlocked().put("a", "first", attributes: ["place": "here"]) }
    try fixture.sql("INSERT INTO vals SELECT id, 1, x'00' FROM heads")
    let keychain = try fixture.unlocked()
    expectCorrupt { try keychain.put("a", "second", attributes: ["place": "there"], update: true) }
    expectCorrupt {
      try keychain.transaction { () throws(VaultError) in
        guard let (new, old) = try? (name("b"), name("a")) else { return }
        try keychain.set(ItemChange(name: new), value: secret("b"), now: 2000)
        try keychain.set(ItemChange(name: old, update: true), value: secret("second"), now: 2000)
      }
    }
    #expect(try keychain.names("") == ["a"])
    #expect(try keychain.names("place=here") == ["a"])
    #expect(try keychain.text("a") == "first")
    #expect(try !keychain.verify().isOK)
  }

  @Test("an older version that is gone is not stored anew")
  func missingVersion() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("a", "first")
      try keychain.put("a", "second", update: true)
    }
    try fixture.sql("UPDATE vals SET item = 9")
    let keychain = try fixture.unlocked()
    expectCorrupt { try keychain.set(ItemChange(name: name("a"), accessible: .always, update: true), now: 3000) }
    #expect(try keychain.item(named: name("a")).policy.accessible == .whenUnlocked)
  }

  @Test("neither a head, a value, a tag nor a slot is stored where one is, or changed where none is")
  func statements() throws {
    let database = try IntegrityTests.filled().unlocked().database
    let tag = RandomBytes.secret(count: 32).withBytes { _ in Tag(domain: 9, "tag", key: RandomBytes.secret(count: 32)) }
    func columns(_ row: Int64) -> HeadColumns {
      HeadColumns(row: row, item: .random(), accessible: .always, revision: 1, policyRevision: 1, current: 1)
    }
    expectCorrupt { try database.insertHead(columns(1), sealed: [1], value: [1]) }
    // The row of another item, and a row that belongs to no item.
    expectCorrupt { try database.updateHead(columns(1), sealed: [1], value: [1]) }
    expectCorrupt { try database.updateHead(columns(99), sealed: [1], value: [1]) }
    expectCorrupt { try database.insertValue(row: 3, version: 1, sealed: [1]) }
    expectCorrupt { try database.updateValue(row: 3, version: 7, sealed: [1]) }
    try database.insert(tag, row: 1, .always)
    expectCorrupt { try database.insert(tag, row: 1, .always) }
    expectCorrupt { try database.insertSlot(1, [1]) }
    expectCorrupt { try database.updateSlot(2, [1]) }
  }

  @Test("the records of a deleted item open for no later one that has its row")
  func laterItem() throws {
    let fixture = try Fixture()
    do { try fixture.unlocked().put("a") }
    let old = try fixture.copied(Fixture.headColumns + ["value"], ofItem: 1)
    do {
      let keychain = try fixture.unlocked()
      try keychain.delete([name("a")])
      try keychain.put("b")
    }
    // The old columns go into the new item's row, whatever its number.
    try fixture.putBack(old.map { $0.replacing(" WHERE id = 1", with: "") })
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.text("b") }
    #expect(try keychain.names("") == [] && keychain.hasFailed)
    #expect(try !keychain.verify().isOK)
  }

  @Test("two items that changed rows with all that is theirs are read as they were, and found by the check")
  func swappedRows() throws {
    let fixture = try IntegrityTests.filled()
    let swaps = [("heads", "id"), ("vals", "item"), ("tags", "item")]
    for (table, column) in swaps {
      try fixture.sql("UPDATE \(table) SET \(column) = \(column) + 100 WHERE \(column) IN (3, 4)")
      try fixture.sql("UPDATE \(table) SET \(column) = 107 - \(column) WHERE \(column) IN (103, 104)")
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("room 0/item 2") == "value 0.2 again")
    #expect(try keychain.text("room 0/item 3", version: 1) == "value 0.3")
    let result = try keychain.verify()
    #expect(!result.isOK && result.changed == [.whenUnlocked])
    #expect(keychain.integrity == .failed)
  }

  @Test("two heads that changed rows alone are noticed at once")
  func swappedHeads() throws {
    let fixture = try IntegrityTests.filled()
    try fixture.sql("UPDATE heads SET id = id + 100 WHERE id < 3", "UPDATE heads SET id = 103 - id WHERE id > 100")
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.text("room 0/item 0") }
    expectCorrupt { _ = try keychain.text("room 0/item 1") }
    #expect(try !keychain.verify().isOK)
  }
}
