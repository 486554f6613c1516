import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Numbers that somebody writes into the store to leave none for new items and slots, with the boot key or without any
/// key.
@Suite("The numbers of new items and slots") struct NumberTests {
  /// Salvages the store, makes a backup of the result, and restores the backup.
  private func saved(_ fixture: Fixture) throws -> (losses: [Finding], restored: Fixture) {
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 2) {}
    let backup = try BackedUp.backup(salvage.target)
    let restored = try Fixture(create: false)
    _ = try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: restored)
    return (salvage.result.losses, restored)
  }

  /// Expects that a vault repeatedly takes new items of these classes, and new slots.
  private func expectRoom(
    _ keychain: Keychain, _ fixture: Fixture, _ classes: [AccessClass] = AccessClass.allCases,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for round in 0..<3 {
      for accessible in classes {
        try keychain.put("new \(round) of \(accessible.name)", accessible: accessible)
        let next = try #require(keychain.facts[accessible]?.nextRow)
        #expect(next < 100, sourceLocation: sourceLocation)
      }
    }
    for _ in 0..<3 {
      let id = keychain.nextSlotID
      #expect(id < 100, sourceLocation: sourceLocation)
      try keychain.addSlot(fixture.slot(id, "new"), vaultKey: fixture.vaultKey)
    }
    #expect(keychain.facts[.whenUnlocked]?.nextSlot == keychain.nextSlotID, sourceLocation: sourceLocation)
  }

  /// Expects that the salvaged store is an ordinary vault, and returns the losses.
  private func expectSaved(_ fixture: Fixture, sourceLocation: SourceLocation = #_sourceLocation) throws -> [Finding] {
    let (losses, restored) = try saved(fixture)
    let keychain = try restored.unlocked(with: fixture.vaultKey)
    #expect(try keychain.verify().isOK, sourceLocation: sourceLocation)
    for (name, text) in [("door", "new"), ("safe", "gold"), ("token", "t"), ("boot", "b")] {
      #expect(try keychain.text(name) == text, sourceLocation: sourceLocation)
    }
    for round in 0..<3 {
      for accessible in AccessClass.allCases { try keychain.put("new \(round) \(accessible)", accessible: accessible) }
      let slot = try SlotRecord.make(
        id: keychain.nextSlotID, kind: .password, label: "", created: 1, secret: secret("x"), kdf: .floor,
        vaultKey: fixture.vaultKey, vaultID: fixture.vaultID)
      try keychain.addSlot(slot, vaultKey: fixture.vaultKey)
    }
    #expect(keychain.nextSlotID < 100, sourceLocation: sourceLocation)
    for accessible in AccessClass.allCases {
      #expect(try keychain.nextRow(for: accessible) < 100, sourceLocation: sourceLocation)
    }
    #expect(try keychain.verify().isOK, sourceLocation: sourceLocation)
    return losses
  }

  @Test(
    "a record of always with the highest numbers takes none from the other classes, is named, and is not saved",
    arguments: [
      (ClassRecord.lastRow - 1, ClassRecord.lastSlot - 1), (ClassRecord.lastRow, ClassRecord.lastSlot), (1 << 40, 3),
    ] as [(Int64, UInt32)])
  func forgedAlways(nextRow: Int64, nextSlot: UInt32) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.forgeAlways { $0.claim(nextRow: nextRow, nextSlot: nextSlot) }
    do {
      let keychain = try fixture.unlocked()
      try expectRoom(keychain, fixture, [.whenUnlocked, .afterFirstUnlock])
      let result = try keychain.verify()
      let texts = result.findings.map(\.text)
      #expect(
        texts.contains(
          "the class record of always has a far higher number for the next item than that of when-unlocked"),
        "\(texts)")
      #expect(keychain.integrity == .failed)
    }
    #expect(try expectSaved(fixture).isEmpty)
  }

  @Test("class records that disagree on the next slot are found, and the strongest is believed", arguments: [1, 2, 4])
  func disagreement(nextSlot: UInt32) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.forgeAlways { $0.claim(nextRow: 5, nextSlot: nextSlot) }
    let keychain = try fixture.unlocked()
    #expect(keychain.nextSlotID == 3)
    let result = try keychain.verify()
    #expect(
      result.findings.map(\.text)
        == ["the class record of always has a different number for the next slot than that of when-unlocked"])
    #expect(keychain.integrity == .failed)
  }

  @Test("counts that no store comes to stop no check, and are no progress of one", arguments: [false, true])
  func counts(isNegative: Bool) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.forgeAlways { forger in
      for part in 0..<1000 {
        try forger.claim(.init(.values, part: UInt32(part)), power: 40, isNegative: isNegative)
        try forger.claim(.init(.tags, part: UInt32(part)), power: 40, isNegative: isNegative)
      }
      try forger.claim(.init(.heads), power: 40, isNegative: false)
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.itemCount() == (1 << 40) + 3)
    keychain.beginVerification()
    while case .checking(let done, let all) = keychain.integrity {
      #expect(0 <= done && done <= all)
      if let result = try keychain.continueVerification(records: 1) { #expect(!result.isOK) }
    }
    #expect(keychain.integrity == .failed)
  }

  @Test("numbers that were written in the clear come into no other store")
  func inTheClear() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      """
      UPDATE hashes SET record = CAST(substr(record, 1, 41) || x'ffffffffffff1f00ffffff7f' || substr(record, 54) AS \
      BLOB) WHERE class = 1
      """)
    do { #expect(try fixture.unlocked().integrity == .failed) }
    let losses = try expectSaved(fixture)
    #expect(losses.contains { $0.text.hasPrefix("the class record of when-unlocked is lost") })
  }

  @Test(
    "an item in whatever row keeps no new one out, and comes into no other store with its row",
    arguments: [ClassRecord.lastRow - 2, ClassRecord.lastRow, .max, 1 << 40], [false, true])
  func highRow(row: Int64, isForged: Bool) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("UPDATE heads SET id = \(row) WHERE id = 4", "UPDATE tags SET item = \(row) WHERE item = 4")
    if isForged { try fixture.forgeAlways { _ in } }
    do {
      let keychain = try fixture.unlocked()
      try expectRoom(keychain, fixture)
      #expect(try keychain.text("boot") == "b")
      // An item does not carry such a number over to another class.
      expectCorrupt {
        try keychain.set(ItemChange(name: name("boot"), accessible: .whenUnlocked, update: true), now: 3000)
      }
      let result = try keychain.verify()
      #expect(result.findings.contains { $0.item == row && $0.text.hasSuffix("has a number that was never given") })
      #expect(keychain.integrity == .failed)
    }
    #expect(try expectSaved(fixture).isEmpty)
  }

  @Test("an item in the highest row that may have come about keeps no new one out") func edge() throws {
    let fixture = try ForgeryTests.fixture()
    let first = try #require(try fixture.unlocked().facts[.whenUnlocked]?.nextRow)
    let row = first + Keychain.rowsApart - 1
    try fixture.sql("UPDATE heads SET id = \(row) WHERE id = 4", "UPDATE tags SET item = \(row) WHERE item = 4")
    let keychain = try fixture.unlocked()
    // The token has the first of these rows, and another row is free.
    #expect(try (first..<row).contains(keychain.nextRow(for: .whenUnlocked)))
    for index in 0..<3 { try keychain.put("new \(index)") }
    for index in 0..<3 { #expect(try keychain.text("new \(index)") == "value") }
    #expect(try !keychain.verify().isOK)
  }

  @Test("nor do rows that somebody has filled from the lowest free one on, however many: they are not walked over")
  func filled() throws {
    let fixture = try ForgeryTests.fixture()
    let first = try #require(try fixture.unlocked().facts[.whenUnlocked]?.nextRow)
    let rows = "WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
    let columns = "randomblob(16), class, revision, policy, current, sealed, value FROM heads"
    try fixture.sql(
      "\(rows) INSERT INTO heads SELECT i, \(columns), n WHERE id = 4",
      "INSERT INTO heads SELECT \(first + Keychain.rowsApart - 1), \(columns) WHERE id = 4")
    let keychain = try fixture.unlocked()
    let next = try (0..<4).map { _ in try keychain.nextRow(for: .whenUnlocked) }
    #expect(next.allSatisfy { (101..<first + Keychain.rowsApart - 1).contains($0) }, "\(next)")
    // A walk would find the row behind the last one every time.
    #expect(Set(next).count > 1, "\(next)")
  }

  @Test("an item that changes its class counts among the rows of its new one")
  func moved() throws {
    let fixture = try ForgeryTests.fixture()
    let keychain = try fixture.unlocked()
    try keychain.set(ItemChange(name: name("boot"), accessible: .whenUnlocked, update: true), now: 3000)
    #expect(keychain.facts[.whenUnlocked]?.nextRow == 5)
    #expect(try keychain.verify().isOK)
  }

  @Test("an item of always with the name of another does not take its place when the store is saved")
  func namesake() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.forgeAlways { try $0.put("safe", "tin", accessible: .always, now: 9000) }
    let losses = try expectSaved(fixture)
    #expect(losses.map(\.text) == ["item 5 is lost: another item of its name is saved"])
  }

  @Test("a removed slot that a forged record of always alone counts is saved as one that nothing vouches for")
  func removedSlot() throws {
    let fixture = try ForgeryTests.fixture()
    let old = try fixture.copied("slots", where: "id = 2")
    do { try fixture.unlocked().removeSlot(id: 2, vaultKey: fixture.vaultKey) }
    try fixture.putBack(old)
    try fixture.forgeAlways { _ in }
    do {
      let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
      #expect(salvage.target.slots.map(\.id) == [1])
    }
    try fixture.sql("DELETE FROM hashes WHERE class < 3")
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    #expect(salvage.result.losses.contains { $0.text.hasPrefix("the hash over the slots is lost") })
  }

  @Test("an item whose revisions are used up is an error where it is changed, no trap, and no end of all writing")
  func revisions() throws {
    let fixture = try ForgeryTests.fixture()
    let keychain = try fixture.unlocked()
    try keychain.transaction { () throws(VaultError) in
      guard let name = try? name("boot"), let old = try keychain.find(name, marking: true) else { return }
      var head = old.head
      head.nextVersion = HeadRecord.lastNumber
      let value = try secret("b").withBytes { (bytes: RawSpan) throws(VaultError) in
        try keychain.seal(bytes, old.columns, version: old.columns.current)
      }
      try keychain.noteRemoval(of: old.columns.current, old.columns, old.head.digests[0])
      head.digests = [value.digest]
      try keychain.put(old.columns, head, value: value, insteadOf: old)
    }
    #expect(try keychain.text("boot") == "b")
    #expect(try keychain.verify().isOK)
    let refusal = VaultError.storage(
      "item 4 has been changed as often as it can be; copy it to another name, then delete it")
    #expect(throws: refusal) { try keychain.put("boot", "c", update: true) }
    #expect(!keychain.hasFailed)
    try keychain.put("copy", "b")
    try keychain.delete([name("boot")])
    #expect(try keychain.verify().isOK)
  }

  @Test("a slot of the highest number is replaced by none") func highSlot() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("INSERT INTO slots VALUES(\(UInt32.max), x'00')")
    let keychain = try fixture.unlocked()
    #expect(keychain.nextSlotID == 3)
    expectCorrupt { try keychain.replaceSlot(fixture.slot(.max, "x"), vaultKey: fixture.vaultKey) }
  }
}
