import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite("What is saved of a damaged store") struct SalvageTests {
  /// Salvages the store in steps of this many items.
  private func salvage(_ fixture: Fixture, items: Int = 2) throws -> Salvage {
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    for _ in 0..<10_000 { if try salvage.step(items: items) { return salvage } }
    throw RawError(text: "it does not end")
  }

  /// Returns the existing items, each with everything that can be read of it.
  private func content(_ keychain: Keychain) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for text in try keychain.names("") {
      let item = try keychain.item(named: name(text))
      found[text] = try item.versions.map { version in
        "\(version) \(item.attributes) \(item.policy) \(try keychain.text(text, version: version.number))"
      }
    }
    return found
  }

  @Test("of a whole store it is everything, under the same keys and slots") func whole() throws {
    let fixture = try VerifyTests.fixture()
    let before = try content(fixture.unlocked())
    do {
      let salvage = try salvage(fixture)
      #expect(salvage.result.saved == 3 && salvage.result.losses.isEmpty)
      #expect(salvage.progress.done == 3 && salvage.progress.of == 3)
      #expect(try salvage.target.verify().isOK)
      #expect(try content(salvage.target) == before)
    }
    let again = try Keychain(opening: fixture.path("salvage"))
    #expect(again.slots.map(\.id) == [1, 2] && again.vaultID == fixture.vaultID)
    try again.unlock(vaultKey: fixture.vaultKey)
    #expect(try again.verify().isOK)
    #expect(try content(again) == before)
  }

  @Test("the number of a slot that was removed before is given out no more in what is saved") func slotNumbers() throws
  {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
      try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
      #expect(keychain.nextSlotID == 3)
    }
    #expect(try salvage(fixture).target.nextSlotID == 3)
    #expect(try Keychain(opening: fixture.path("salvage")).nextSlotID == 3)
  }

  @Test("an item that had expired is not served out of what is saved, whatever the clock says by then") func expired()
    throws
  {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("a", expires: 5500)
      try keychain.put("b", now: 7000)
    }
    let target = try salvage(fixture).target
    #expect(throws: VaultError.expired(5500)) { try target.text("a", now: 5000) }
    #expect(target.newestTime == 7000)
  }

  @Test("as soon as all is saved the store is no longer read, and can be given a new key", arguments: [false, true])
  func released(isGivenUp: Bool) throws {
    let fixture = try VerifyTests.fixture()
    let keychain = try fixture.unlocked()
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    #expect(try !salvage.step(items: 1))
    #expect(!keychain.canBeReplaced)
    while try !salvage.step(items: 1) {}
    #expect(keychain.canBeReplaced)
    let second = isGivenUp ? try Salvage(keychain, in: fixture.path("other"), now: 5000) : nil
    #expect(keychain.canBeReplaced == !isGivenUp)
    if second == nil { try fixture.rekey(keychain).complete() }
    #expect(try content(salvage.target).count == 3)
    withExtendedLifetime(second) {}
  }

  struct Damage: CustomTestStringConvertible {
    var sql: [String]
    var saved: Set<String>
    var losses: [String]
    var testDescription: String { sql.joined(separator: "; ") }
  }

  @Test(
    "each damage costs what it hits, and that is said",
    arguments: [
      Damage(
        sql: ["UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 1"], saved: ["folder/b", "c"],
        losses: ["item 1 is lost: the head of item 1 does not open"]),
      Damage(
        sql: ["UPDATE heads SET class = 77 WHERE id = 2"], saved: ["folder/a", "c"],
        losses: ["item 2 is lost: the head of item 2 has an unknown class"]),
      Damage(
        sql: ["UPDATE vals SET sealed = zeroblob(length(sealed)) WHERE item = 2 AND version = 1"],
        saved: ["folder/a", "folder/b", "c"], losses: ["version 1 of item 2 is lost"]),
      Damage(
        sql: ["DELETE FROM vals WHERE item = 2 AND version = 1"], saved: ["folder/a", "folder/b", "c"],
        losses: ["version 1 of item 2 is lost"]),
      Damage(
        sql: ["UPDATE heads SET value = zeroblob(length(value)) WHERE id = 2"],
        saved: ["folder/a", "c"], losses: ["item 2 is lost"]),
      Damage(sql: ["DELETE FROM tags"], saved: ["folder/a", "folder/b", "c"], losses: []),
      Damage(
        sql: ["UPDATE OR REPLACE tags SET item = 2 WHERE item = 1", "INSERT INTO tags VALUES(zeroblob(7), 3, 3)"],
        saved: ["folder/a", "folder/b", "c"], losses: []),
      Damage(
        sql: ["DELETE FROM heads WHERE id = 3"], saved: ["folder/a", "folder/b"],
        losses: ["item 3 is lost: its record is gone"]),
      Damage(
        sql: ["DELETE FROM heads WHERE id IN (1, 3)", "DELETE FROM tags WHERE item = 3"], saved: ["folder/b"],
        losses: ["item 1 is lost: its record is gone", "1 more item is lost without a trace"]),
      Damage(
        sql: ["DELETE FROM hashes"], saved: ["folder/a", "folder/b", "c"],
        losses: [
          "the class record of when-unlocked is lost", "the class record of after-first-unlock is lost",
          "the class record of always is lost, so nobody can tell whether its items are the latest",
          "the hash over the slots is lost, so nobody can tell whether they are the latest",
        ]),
      Damage(
        sql: ["UPDATE hashes SET record = x'00' WHERE class = 3"], saved: ["folder/a", "folder/b", "c"],
        losses: ["the class record of always is lost"]),
      Damage(
        sql: ["UPDATE hashes SET record = x'00' WHERE class = 1"], saved: ["folder/a", "folder/b", "c"],
        losses: ["the class record of when-unlocked is lost", "the hash over the slots is lost"]),
      Damage(
        sql: ["UPDATE slots SET record = zeroblob(length(record)) WHERE id = 2"], saved: ["folder/a", "folder/b", "c"],
        losses: ["slot 2 is lost: it is not the one that was stored last"]),
      Damage(
        sql: ["INSERT INTO slots SELECT 3, record FROM slots WHERE id = 2"], saved: ["folder/a", "folder/b", "c"],
        losses: ["slot 3 is lost: it is not the one that was stored last"]),
      Damage(
        sql: [
          "UPDATE keys SET sealed = zeroblob(72) WHERE name = 'always.boot'", "INSERT INTO keys VALUES('x', x'00')",
        ],
        saved: ["folder/a", "folder/b", "c"],
        losses: ["the wrapped key always.boot is lost", "the wrapped key of another name is lost"]),
      Damage(
        sql: ["UPDATE keys SET sealed = zeroblob(32) WHERE name = 'box'"], saved: ["folder/a", "folder/b", "c"],
        losses: []),
      Damage(sql: ["DELETE FROM keys WHERE name = 'box'"], saved: ["folder/a", "folder/b", "c"], losses: []),
    ])
  func damage(_ damage: Damage) throws {
    let fixture = try VerifyTests.fixture()
    let before = try content(fixture.unlocked())
    for sql in damage.sql { try fixture.sql(sql) }
    let salvage = try salvage(fixture)
    let texts = salvage.result.losses.map(\.text)
    #expect(texts.count == damage.losses.count, "\(texts)")
    for loss in damage.losses { #expect(texts.contains { $0.hasPrefix(loss) }, "\(texts)") }
    #expect(salvage.result.saved == damage.saved.count)
    let after = try content(salvage.target)
    #expect(Set(after.keys) == damage.saved)
    for (name, versions) in after {
      let old = try #require(before[name])
      #expect(versions == Array(old.suffix(versions.count)))
    }
    #expect(try salvage.target.verify().isOK)
  }

  @Test(
    "a deleted item that was put back in whatever row does not take the name of the one that has it now",
    arguments: [2, 90], [2000, 3000] as [Int64])
  func names(row: Int, now: Int64) throws {
    // If both items are of the same second, their rows decide, so the old one must have the lower row.
    guard row == 2 || now > 2000 else { return }
    let fixture = try VerifyTests.fixture()
    let old = try fixture.copied("heads", where: "id = 2") + fixture.copied("vals", where: "item = 2")
    do {
      let keychain = try fixture.unlocked()
      try keychain.delete([name("folder/b")])
      try keychain.put("folder/b", "the new one", now: now)
    }
    try fixture.putBack(old.map { $0.replacing("VALUES(2,", with: "VALUES(\(row),") })
    let salvage = try salvage(fixture, items: 1)
    let loss =
      row == 2
      ? "item 4 is saved, and another item of its name is lost"
      : "item 90 is lost: another item of its name is saved"
    #expect(salvage.result.losses.map(\.text) == [loss])
    #expect(salvage.result.losses.map(\.name?.text) == ["folder/b"])
    #expect(salvage.result.saved == 3)
    #expect(try salvage.target.text("folder/b") == "the new one")
    #expect(try salvage.target.verify().isOK)
  }

  @Test(
    "an item in the trash and the item that has its name now are both saved", arguments: [["x", "a"], ["a", "x"]])
  func trashedNamesake(names: [String]) throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for text in names { try keychain.put(text, "value of \(text)") }
      try keychain.trash([name("a")], now: 3000)
      try keychain.move(from: name("x"), to: name("a"), now: 3000)
    }
    let salvage = try salvage(fixture)
    #expect(salvage.result.saved == 2 && salvage.result.losses.isEmpty)
    let target = salvage.target
    #expect(try target.verify().isOK)
    #expect(try target.text("a") == "value of x")
    try target.delete([name("a")])
    try target.restore(name("a"), now: 4000)
    #expect(try target.text("a") == "value of a")
  }

  @Test("the trash has the age that it had") func trashAge() throws {
    let fixture = try Fixture()
    let day: Int64 = 86_400
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("a", now: day)
      for count in 2...9 { try keychain.put("b \(count)", now: Int64(count) * day) }
      try keychain.trash([name("a")], now: 10 * day)
      try keychain.put("c", now: 11 * day)
    }
    let age = try fixture.unlocked().age(of: .whenUnlocked, at: 11 * day)
    let target = try salvage(fixture).target
    #expect(target.age(of: .whenUnlocked, at: 11 * day) == age && age >= 10 * day)
    var gone = 0
    _ = try target.emptyTrash(ofAge: 2 * day, after: nil, examining: 100, gone: { gone += $0 })
    #expect(gone == 0)
    try target.put("d", now: 12 * day)
    _ = try target.emptyTrash(ofAge: 2 * day, after: nil, examining: 100, gone: { gone += $0 })
    #expect(gone == 1)
  }

  @Test("a later item whose value is lost costs no other one of its name")
  func worthless() throws {
    let fixture = try VerifyTests.fixture()
    let old = try fixture.copied("heads", where: "id = 2") + fixture.copied("vals", where: "item = 2")
    do {
      let keychain = try fixture.unlocked()
      try keychain.delete([name("folder/b")])
      try keychain.put("folder/b", "the new one", now: 3000)
    }
    try fixture.sql("UPDATE heads SET value = zeroblob(length(value)) WHERE id = 4")
    try fixture.putBack(old)
    let salvage = try salvage(fixture)
    #expect(try salvage.target.text("folder/b") == "b 2")
    #expect(salvage.result.saved == 3 && salvage.result.losses.map(\.item) == [4])
    #expect(try salvage.target.verify().isOK)
  }

  @Test(
    "an earlier state of an item that was put in under its old name is not saved as another item", arguments: [0, 90])
  func earlierState(row: Int) throws {
    let fixture = try VerifyTests.fixture()
    let old = try fixture.copied("heads", where: "id = 2") + fixture.copied("vals", where: "item = 2")
    do { try fixture.unlocked().move(from: name("folder/b"), to: name("renamed"), now: 3000) }
    // No item has row 0; here it means that the earlier state comes before the item, which gets a higher row.
    if row == 0 { try fixture.sql("UPDATE heads SET id = 50 WHERE id = 2", "UPDATE vals SET item = 50 WHERE item = 2") }
    try fixture.putBack(old.map { $0.replacing("VALUES(2,", with: "VALUES(\(row == 0 ? 2 : row),") })
    let salvage = try salvage(fixture)
    #expect(Set(try salvage.target.names("")) == ["folder/a", "renamed", "c"])
    #expect(salvage.result.saved == 3 && salvage.result.losses.count == 1)
    #expect(salvage.result.losses.first?.text.contains("another state of it") == true)
    #expect(try salvage.target.text("renamed") == "b 2")
    #expect(try salvage.target.verify().isOK)
  }

  @Test("nothing is saved without all keys, nor without a slot that could open it") func refused() throws {
    let fixture = try VerifyTests.fixture()
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { _ = try Salvage(keychain, in: fixture.path("salvage"), now: 5000) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { _ = try salvage.step(items: 1) }
  }

  @Test("an old slot that was put back does not come along, and without another nothing is saved") func oldSlot() throws
  {
    let fixture = try VerifyTests.fixture()
    let old = try fixture.copied("slots", where: "id = 1")
    try fixture.unlocked().replaceSlot(fixture.slot(1, "changed"), vaultKey: fixture.vaultKey)
    try fixture.putBack(old)
    do {
      let salvage = try salvage(fixture)
      #expect(salvage.target.slots.map(\.id) == [2])
      #expect(salvage.result.losses.map(\.text) == ["slot 1 is lost: it is not the one that was stored last"])
    }
    try fixture.sql("DELETE FROM slots WHERE id = 2")
    let keychain = try fixture.unlocked()
    #expect(throws: VaultError.corrupt("no slot is left that could open what is saved")) {
      _ = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    }
    #expect(!FileManager.default.fileExists(atPath: fixture.path("salvage")))
  }

  @Test("what an earlier attempt left is replaced, and goes") func leftover() throws {
    let fixture = try VerifyTests.fixture()
    do { _ = try salvage(fixture) }
    do { #expect(try salvage(fixture).result.saved == 3) }
    try Salvage.remove(fixture.path("salvage"))
    try Salvage.remove(fixture.path("salvage"))
    #expect(!FileManager.default.fileExists(atPath: fixture.path("salvage")))
    #expect(try fixture.unlocked().verify().isOK)
  }

  @Test("of a store on a disk with a bad sector all that can be read is saved") func badSector() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for index in 0..<150 { try keychain.put("item \(index)", "value \(index)") }
    }
    let pages = try #require(try fixture.files()["vault.db"]).count / 4096
    let disk = try FaultyDisk(fixture)
    var losing = 0
    var roots = 0
    for page in 1..<pages {
      disk.spoil(page: page)
      // Without the keys or the clock there is no vault to salvage.
      guard (try? fixture.unlocked()) != nil, let salvage = try? salvage(fixture, items: 20) else { continue }
      let names = try salvage.target.names("")
      #expect(names.count == salvage.result.saved)
      if names.count < 130 { roots += 1 }
      for name in names { #expect(try salvage.target.text(name) == "value \(name.dropFirst(5))") }
      if salvage.result.losses.contains(where: { $0.text.contains("the disk cannot be read there") }) { losing += 1 }
    }
    #expect(losing > 5)
    // The root of the heads' tree is the only page whose loss makes many heads unreachable.
    #expect(roots <= 1)
    disk.spoil(page: nil)
    #expect(try fixture.unlocked().verify().isOK)
  }

  @Test("of a store with a damaged page all that can be reached is saved, and nothing else") func pages() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for index in 0..<150 { try keychain.put("item \(index)", "value \(index)") }
    }
    let whole = try #require(try fixture.files()["vault.db"])
    var fromBothEnds = 0
    for page in 1..<(whole.count / 4096) {
      var damaged = whole
      for offset in 0..<64 { damaged[page * 4096 + offset] ^= 0x55 }
      try damaged.write(to: URL(fileURLWithPath: fixture.path("vault.db")))
      // Without the keys or the clock there is no vault to salvage.
      guard (try? fixture.unlocked()) != nil, let salvage = try? salvage(fixture, items: 20) else { continue }
      let names = try salvage.target.names("")
      #expect(names.count == salvage.result.saved)
      for name in names { #expect(try salvage.target.text(name) == "value \(name.dropFirst(5))") }
      #expect(try salvage.target.verify().isOK, "page \(page)")
      let isBroken = salvage.result.losses.contains { $0.text.hasPrefix("the table of heads") }
      if isBroken, names.contains("item 0"), names.contains("item 149") { fromBothEnds += 1 }
    }
    #expect(fromBothEnds > 0)
  }
}
