import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Forgeries by somebody who has the disk, and with it the boot key, but no secret: everything that the key of `always`
/// can make.
@Suite struct ForgeryTests {
  /// Makes items 1 and 2 of `when-unlocked`, the second of which requires the password; 3 of `after-first-unlock`; 4 of
  /// `always`.
  static func fixture() throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("door", "old", attributes: ["place": "front"])
    try keychain.put("door", "new", update: true)
    try keychain.put("safe", "gold", require: .password)
    try keychain.put("token", "t", accessible: .afterFirstUnlock)
    try keychain.put("boot", "b", accessible: .always)
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    return fixture
  }

  /// Expects that the check of the unlocked vault finds it changed, and that the result stays.
  static func expectFailed(
    _ fixture: Fixture, sourceLocation: SourceLocation = #_sourceLocation, _ look: (Keychain) throws -> Void = { _ in }
  ) throws {
    let keychain = try fixture.open()
    try keychain.openAlways(bootKey: fixture.bootKey)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try look(keychain)
    let result = try keychain.verify()
    #expect(!result.findings.isEmpty, sourceLocation: sourceLocation)
    #expect(keychain.integrity == .failed, sourceLocation: sourceLocation)
    expectCorrupt(sourceLocation: sourceLocation) { try keychain.put("more") }
    expectCorrupt(sourceLocation: sourceLocation) { try keychain.put("boot", accessible: .always, update: true) }
    // No unlock resets the result.
    keychain.lock(hidingNames: true, keepingAfterFirstUnlock: false)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(keychain.integrity == .failed, sourceLocation: sourceLocation)
  }

  @Test(
    "without its class records, or with ones made for what is there, no store is blessed",
    arguments: [
      "DELETE FROM hashes", "DELETE FROM hashes WHERE class = 1", "DELETE FROM hashes WHERE class = 2",
      "DELETE FROM hashes WHERE class = 3", "UPDATE hashes SET record = x''", "UPDATE hashes SET class = class + 10",
    ])
  func noRecords(sql: String) throws {
    let fixture = try Self.fixture()
    try fixture.sql(
      sql, "DELETE FROM heads WHERE id = 1", "DELETE FROM vals WHERE item = 1", "DELETE FROM tags WHERE item = 1")
    for _ in 0..<2 { try Self.expectFailed(fixture) }
  }

  /// An attacker's change of the item, after which the attacker makes the record of `always` anew.
  enum Change: CaseIterable { case rolledBack, revived, removed }

  @Test("a record of always that is made anew covers no change in another class", arguments: Change.allCases)
  func alwaysAnew(change: Change) throws {
    let fixture = try Self.fixture()
    let parts = [("heads", "id"), ("vals", "item"), ("tags", "item")]
    let old = try parts.flatMap { (table, column) in try fixture.copied(table, where: "\(column) = 1") }
    switch change {
    case .rolledBack: do { try fixture.unlocked().put("door", "newer", update: true) }
    case .revived: do { try fixture.unlocked().delete([name("door")]) }
    case .removed: break
    }
    for (table, column) in parts { try fixture.sql("DELETE FROM \(table) WHERE \(column) = 1") }
    if change != .removed { try fixture.putBack(old) }
    try fixture.forgeAlways { _ in }
    try Self.expectFailed(fixture)
  }

  @Test("an item that asks for a password is not replaced by a forged one of always")
  func replaced() throws {
    let fixture = try Self.fixture()
    try fixture.forgeAlways { try $0.put("safe", "tin", accessible: .always) }
    try Self.expectFailed(fixture) { (keychain: Keychain) throws in
      #expect(keychain.integrity == .unchecked)
      #expect(try keychain.text("safe") == "gold")
      #expect(keychain.integrity == .failed)
      #expect(try keychain.item(named: name("safe")).policy.require == .password)
      #expect(try keychain.text("boot") == "b")
    }
    // The check itself finds the row, also while locked.
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    let result = try keychain.verify()
    #expect(result.findings.contains { $0.kind == .foreign && $0.name?.text == "safe" }, "\(result.findings)")
    #expect(keychain.integrity == .failed)
  }

  @Test("nor does one take the place of an item of after-first-unlock, whichever of them is asked for first")
  func replacedInBetween() throws {
    let fixture = try Self.fixture()
    try fixture.forgeAlways { try $0.put("token", "forged", accessible: .always) }
    try Self.expectFailed(fixture) { (keychain: Keychain) throws in
      #expect(try keychain.text("token", version: 1) == "t")
      #expect(keychain.integrity == .failed)
      expectCorrupt { try keychain.put("token", "again", update: true) }
    }
  }

  @Test("a change that comes upon a name in two classes is not kept")
  func changedReplaced() throws {
    let fixture = try Self.fixture()
    try fixture.forgeAlways { try $0.put("safe", "tin", accessible: .always) }
    let keychain = try fixture.unlocked()
    expectCorrupt { try keychain.put("safe", "silver", update: true) }
    #expect(try keychain.text("safe") == "gold")
  }

  @Test("a removed slot that is put back, and counted in a forged record of always, opens nothing")
  func removedSlot() throws {
    let fixture = try Self.fixture()
    let old = try fixture.copied("slots", where: "id = 2")
    let slot: SlotRecord
    do {
      let keychain = try fixture.unlocked()
      slot = try #require(keychain.slots.first { $0.id == 2 })
      try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
    }
    try fixture.putBack(old)
    try fixture.forgeAlways { _ in }
    do {
      let keychain = try fixture.open()
      let key = try slot.openVaultKey(secret: secret("second"), vaultID: fixture.vaultID)
      expectCorrupt { try keychain.check(slot, vaultKey: key) }
      #expect(keychain.integrity == .failed)
      #expect(!keychain.opensValues(of: .always) && !keychain.opensNames(of: .whenUnlocked))
      let good = try #require(keychain.slots.first { $0.id == 1 })
      try keychain.check(good, vaultKey: fixture.vaultKey)
      try keychain.unlock(vaultKey: fixture.vaultKey)
    }
    try Self.expectFailed(fixture)
  }

  @Test(
    "a changed password's old slot opens nothing, and with the record of one class destroyed neither", arguments: 0...3)
  func replacedSlot(destroyed: Int) throws {
    let fixture = try Self.fixture()
    let old = try fixture.copied("slots", where: "id = 2")
    let slot = try #require(try fixture.open().slots.first { $0.id == 2 })
    do { try fixture.unlocked().replaceSlot(fixture.slot(2, "third"), vaultKey: fixture.vaultKey) }
    try fixture.putBack(old)
    if destroyed > 0 { try fixture.sql("UPDATE hashes SET record = x'00' WHERE class = \(destroyed)") }
    let keychain = try fixture.open()
    expectCorrupt { try keychain.check(slot, vaultKey: fixture.vaultKey) }
    #expect(!keychain.opensNames(of: .whenUnlocked))
    #expect(keychain.integrity == .failed)
  }

  @Test("a record of always that denies the slots keeps nobody out, and is found")
  func deniedSlots() throws {
    let fixture = try Self.fixture()
    try fixture.forgeAlways { $0.denySlots() }
    do {
      let keychain = try fixture.open()
      for slot in keychain.slots { try keychain.check(slot, vaultKey: fixture.vaultKey) }
    }
    try Self.expectFailed(fixture)
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    #expect(salvage.target.slots.map(\.id) == [1, 2] && salvage.result.losses.isEmpty)
  }

  @Test("a slot that was replaced while its secret was derived is not taken for a forged one")
  func overtaken() throws {
    let fixture = try Self.fixture()
    let keychain = try fixture.unlocked()
    let slot = try #require(keychain.slots.first { $0.id == 2 })
    try keychain.replaceSlot(fixture.slot(2, "third"), vaultKey: fixture.vaultKey)
    #expect(throws: VaultError.noSuchSlot(2)) { try keychain.check(slot, vaultKey: fixture.vaultKey) }
    #expect(try keychain.verify().isOK)
  }

  @Test("a forged time of always has no say in other classes, and none of theirs in it")
  func times() throws {
    let fixture = try Self.fixture()
    do { try fixture.unlocked().put("pass", "p", expires: 5000, now: 4000) }
    // The forged time is far ahead, but no item of another class expires early.
    try fixture.forgeAlways { try $0.put("boot", "b", update: true, now: .max) }
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("pass", now: 4500) == "p")
    try keychain.put("new", now: 4500)
    #expect(try keychain.item(named: name("new")).created == 4500)
  }

  @Test("nor has it where a deposit is taken in, which is served as long as it should be", arguments: [false, true])
  func timesOfDeposits(waits: Bool) throws {
    let fixture = try Self.fixture()
    do { try fixture.unlocked().put("pass", "p", expires: 5000, now: 4000) }
    try fixture.forgeAlways { try $0.put("boot", "b", update: true, now: .max / 2) }
    let keychain = try fixture.unlocked()
    var left = LeftValue("pass", time: 4400)
    left.kind = nil
    if waits {
      keychain.lock(hidingNames: false)
      try keychain.leave(left)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(try keychain.takeInAll(now: 4500) == [.stored(version: 2)])
    } else {
      #expect(try keychain.takeIn(left, now: 4500) == .stored(version: 2))
    }
    #expect(keychain.newestTime(of: .whenUnlocked, at: 4500) == 4500)
    #expect(try keychain.text("pass", now: 4600) == "left")
    #expect(try keychain.item(named: name("pass")).current.created == 4500)
    try keychain.close()
    #expect(try fixture.unlocked().text("pass", now: 4600) == "left")
  }

  @Test("a head that somebody filled up is refused what does not fit into it, and all others are changed as before")
  func fullHead() throws {
    let fixture = try Self.fixture()
    try fixture.forgeAlways { try $0.fillHead(of: "boot") }
    let keychain = try fixture.unlocked()
    for _ in 0..<2 { expect(\.isStorage) { try keychain.trash([name("boot")], now: 3000) } }
    try keychain.put("boot", "again", update: true, now: 3000)
    try keychain.put("door", "newest", update: true, now: 3000)
    #expect(try keychain.text("boot") == "again")
    try keychain.delete([name("boot")])
    #expect(try keychain.verify().isOK)
  }

  @Test("a forged number of always lets no row or slot be used twice, and an absurd one is found")
  func numbers() throws {
    let fixture = try Self.fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("last")
      try keychain.delete([name("last")])
      try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
    }
    try fixture.forgeAlways { $0.claim(nextRow: 1, nextSlot: 1) }
    let cold = try fixture.open()
    #expect(cold.nextSlotID == 3)
    try cold.unlock(vaultKey: fixture.vaultKey)
    #expect(try cold.nextRow(for: .always) == 6)
    try cold.addSlot(fixture.slot(3, "third"), vaultKey: fixture.vaultKey)
    #expect(cold.nextSlotID == 4)
  }

  @Test("absurd numbers fail the store", arguments: [(Int64.max, UInt32(3)), (6, .max), (-1, 3)])
  func absurd(nextRow: Int64, nextSlot: UInt32) throws {
    let fixture = try Self.fixture()
    try fixture.forgeAlways { $0.claim(nextRow: nextRow, nextSlot: nextSlot) }
    do { #expect(try fixture.open().integrity == .failed) }
    try Self.expectFailed(fixture)
  }

  @Test(
    "the number of items is that of the class records in every state, and is never believed before the key is there")
  func count() throws {
    let fixture = try Self.fixture()
    let keychain = try fixture.open()
    #expect(try keychain.itemCount() == 4)
    try keychain.openAlways(bootKey: fixture.bootKey)
    try keychain.put("boot", accessible: .always, update: true)
    #expect(try keychain.itemCount() == 4)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try keychain.put("another", accessible: .always)
    #expect(try keychain.itemCount() == 5)
    try keychain.delete([name("door"), name("token")])
    #expect(try keychain.itemCount() == 3)
    keychain.wipe()
    #expect(try keychain.itemCount() == 3)
  }

  @Test(
    "what is corrupt where it is met ends all writing at once, and a check that was under way does not say otherwise")
  func met() throws {
    let fixture = try Self.fixture()
    try fixture.sql("UPDATE heads SET value = zeroblob(length(value)) WHERE id = 1")
    for isUnderWay in [false, true] {
      let keychain = try fixture.unlocked()
      if isUnderWay {
        keychain.beginVerification()
        #expect(try keychain.continueVerification(records: 1) == nil)
      }
      try keychain.put("before \(isUnderWay)")
      expectCorrupt { _ = try keychain.text("door") }
      expectCorrupt { try keychain.put("after") }
      var result: Verification?
      while isUnderWay, result == nil { result = try keychain.continueVerification(records: 1) }
      #expect(keychain.integrity == .failed)
    }
  }

  @Test("a single change writes one class record")
  func writes() throws {
    let fixture = try Self.fixture()
    let keychain = try fixture.unlocked()
    let before = try AccessClass.allCases.map { try keychain.database.hashes($0) }
    try keychain.put("door", "newest", update: true, now: 2030)
    let after = try AccessClass.allCases.map { try keychain.database.hashes($0) }
    #expect(zip(before, after).map { $0 == $1 } == [false, true, true])
  }
}
