import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite struct SlotTests {
  @Test("slots are added, replaced and removed, and open the vault after reopening")
  func lifecycle() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.open()
      #expect(keychain.vaultID == fixture.vaultID)
      #expect(keychain.slots.map(\.id) == [1] && keychain.nextSlotID == 2)
      try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
      try keychain.replaceSlot(fixture.slot(1, "changed"), vaultKey: fixture.vaultKey)
      #expect(keychain.slots.map(\.id) == [1, 2])
      #expect(throws: VaultError.alreadyExists) {
        try keychain.addSlot(fixture.slot(2, "again"), vaultKey: fixture.vaultKey)
      }
      #expect(throws: VaultError.noSuchSlot(9)) {
        try keychain.replaceSlot(fixture.slot(9, "x"), vaultKey: fixture.vaultKey)
      }
      #expect(throws: VaultError.noSuchSlot(9)) { try keychain.removeSlot(id: 9, vaultKey: fixture.vaultKey) }
    }
    let keychain = try fixture.open()
    #expect(throws: CryptoError.authenticationFailed) {
      _ = try keychain.slots[0].openVaultKey(secret: secret("second"), vaultID: keychain.vaultID)
    }
    for (slot, password) in zip(keychain.slots, ["changed", "second"]) {
      let key = try slot.openVaultKey(secret: secret(password), vaultID: keychain.vaultID)
      try keychain.unlock(vaultKey: key)
    }
  }

  @Test("the slots of a kind are marked as stale beside those of another kind, also after reopening, until they go")
  func stale() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for id: UInt32 in [2, 3] { try keychain.addSlot(fixture.slot(id, "password"), vaultKey: fixture.vaultKey) }
      try keychain.markStale(.recovery)
      #expect(keychain.staleSlots == [1])
      for kind in [SlotKind.password, .recovery, .pam] {
        try keychain.markStale(kind)
        #expect(keychain.staleSlots == [1, 2, 3])
      }
      try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
      #expect(keychain.staleSlots == [1, 3])
      // A slot that was added since is not stale.
      try keychain.addSlot(fixture.slot(4, "password"), vaultKey: fixture.vaultKey)
    }
    let keychain = try fixture.open()
    #expect(keychain.staleSlots == [1, 3] && keychain.slots.map(\.id) == [1, 3, 4])
  }

  @Test("the last slot stays")
  func last() throws {
    let fixture = try Fixture()
    let keychain = try fixture.open()
    #expect(throws: VaultError.lastSlot) { try keychain.removeSlot(id: 1, vaultKey: fixture.vaultKey) }
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    try keychain.removeSlot(id: 1, vaultKey: fixture.vaultKey)
    #expect(throws: VaultError.lastSlot) { try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey) }
    #expect(keychain.slots.map(\.id) == [2])
  }

  /// Makes a slot of a kind that may stop opening the vault by itself.
  private func passing(_ fixture: Fixture, _ id: UInt32, _ kind: SlotKind) throws -> SlotRecord {
    try SlotRecord.make(
      id: id, kind: kind, label: "", created: 1000, secret: secret([UInt8](repeating: 5, count: 32)),
      kdf: kind == .login ? .floor : nil,
      terms: kind == .pam ? PresenceTerms(keystore: "memory", locator: [], users: [1], fingers: []) : nil,
      vaultKey: fixture.vaultKey, vaultID: fixture.vaultID)
  }

  @Test("the last slot that lasts stays, however many others there are", arguments: [SlotKind.login, .pam])
  func lasting(kind: SlotKind) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for id in UInt32(2)...3 { try keychain.addSlot(passing(fixture, id, kind), vaultKey: fixture.vaultKey) }
    #expect(throws: VaultError.lastSlot) { try keychain.removeSlot(id: 1, vaultKey: fixture.vaultKey) }
    #expect(throws: VaultError.lastSlot) {
      try keychain.replaceSlot(passing(fixture, 1, kind), vaultKey: fixture.vaultKey)
    }
    #expect(throws: VaultError.lastSlot) {
      _ = try Rekey(
        keychain, carrying: keychain.slots, slots: [passing(fixture, 2, kind)], nextKey: fixture.vaultKey,
        vaultKey: fixture.vaultKey, bootKey: fixture.bootKey, now: 2000)
    }
    #expect(!keychain.isRekeying && keychain.slots.map(\.id) == [1, 2, 3])
    #expect(try keychain.verify().isOK)
    try keychain.removeSlot(id: 3, vaultKey: fixture.vaultKey)
    try keychain.addSlot(fixture.slot(4, "fourth"), vaultKey: fixture.vaultKey)
    try keychain.removeSlot(id: 1, vaultKey: fixture.vaultKey)
    #expect(throws: VaultError.lastSlot) { try keychain.removeSlot(id: 4, vaultKey: fixture.vaultKey) }
  }

  @Test("a slot's number is not given out again")
  func numbers() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.open()
      try keychain.addSlot(fixture.slot(keychain.nextSlotID, "second"), vaultKey: fixture.vaultKey)
      try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
      #expect(keychain.nextSlotID == 3)
    }
    #expect(try fixture.open().nextSlotID == 3)
  }

  @Test("a change that was decided on other slots than are stored is refused, and changes nothing")
  func overtaken() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    // The given slots were replaced, removed, or never stored.
    let seen = keychain.slots
    try keychain.replaceSlot(fixture.slot(2, "changed"), vaultKey: fixture.vaultKey)
    try keychain.addSlot(fixture.slot(3, "third"), vaultKey: fixture.vaultKey)
    let removed = try #require(keychain.slots.last)
    try keychain.removeSlot(id: 3, vaultKey: fixture.vaultKey)
    let stored = keychain.slots
    for old in [seen[1], removed, try fixture.slot(9, "never stored")] {
      for given in [[old], [stored[0], old], [old, stored[0]]] {
        #expect(throws: VaultError.overtaken) {
          try keychain.addSlot(fixture.slot(4, "fourth"), given: given, vaultKey: fixture.vaultKey)
        }
        #expect(throws: VaultError.overtaken) {
          try keychain.replaceSlot(fixture.slot(1, "x"), given: given, vaultKey: fixture.vaultKey)
        }
        #expect(throws: VaultError.overtaken) {
          try keychain.removeSlot(id: 1, given: given, vaultKey: fixture.vaultKey)
        }
      }
    }
    #expect(keychain.slots == stored)
    #expect(try keychain.verify().isOK)
    try keychain.removeSlot(id: 2, given: stored, vaultKey: fixture.vaultKey)
  }

  @Test("a slot that was removed does not come back under its number")
  func reused() throws {
    let fixture = try Fixture()
    let keychain = try fixture.open()
    let number = keychain.nextSlotID
    try keychain.addSlot(fixture.slot(number, "second"), vaultKey: fixture.vaultKey)
    try keychain.removeSlot(id: number, vaultKey: fixture.vaultKey)
    #expect(throws: VaultError.alreadyExists) {
      try keychain.addSlot(fixture.slot(number, "again"), vaultKey: fixture.vaultKey)
    }
    #expect(keychain.slots.map(\.id) == [1] && keychain.nextSlotID == number + 1)
  }

  @Test(
    "a slot that cannot be read is told and can be removed; the others still open the vault",
    arguments: [
      "UPDATE slots SET record = x'00' WHERE id = 2", "UPDATE slots SET record = substr(record, 1, 40) WHERE id = 2",
      "UPDATE slots SET record = (SELECT record FROM slots WHERE id = 1) WHERE id = 2",
    ])
  func damaged(sql: String) throws {
    let fixture = try Fixture()
    do { try fixture.open().addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey) }
    try fixture.sql(sql)
    let keychain = try fixture.open()
    #expect(keychain.slots.map(\.id) == [1] && keychain.damagedSlots == [2])
    #expect(keychain.nextSlotID == 3)
    #expect(throws: VaultError.lastSlot) { try keychain.removeSlot(id: 1, vaultKey: fixture.vaultKey) }
    try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
    #expect(keychain.damagedSlots.isEmpty)
  }

  @Test("a slot with the number 0, which none was ever given, comes before none") func zero() throws {
    let fixture = try Fixture()
    let record = try fixture.slot(0, "first").encoded().map { String(format: "%02x", $0) }.joined()
    try fixture.sql("INSERT INTO slots VALUES(0, x'\(record)')")
    let keychain = try fixture.unlocked()
    #expect(keychain.slots.map(\.id) == [1] && keychain.damagedSlots == [0])
    try keychain.removeSlot(id: 0, vaultKey: fixture.vaultKey)
    #expect(keychain.damagedSlots.isEmpty)
  }

  @Test("slots that cannot be read count to the most that may be there")
  func most() throws {
    let fixture = try Fixture()
    try fixture.sql(
      "WITH n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 255) INSERT INTO slots SELECT i, x'00' FROM n")
    let keychain = try fixture.unlocked()
    #expect(keychain.slots.map(\.id) == [1] && keychain.damagedSlots == Array(2...255))
    #expect(throws: VaultError.invalidValue("a vault has at most 255 slots")) {
      try keychain.addSlot(fixture.slot(keychain.nextSlotID, "one more"), vaultKey: fixture.vaultKey)
    }
    // With one slot less there is room again.
    try keychain.removeSlot(id: 255, vaultKey: fixture.vaultKey)
    try keychain.addSlot(fixture.slot(keychain.nextSlotID, "one more"), vaultKey: fixture.vaultKey)
    #expect(keychain.slots.count == 2)
  }

  @Test(
    "a vault without a readable slot is corrupt", arguments: ["DELETE FROM slots", "UPDATE slots SET record = x''"])
  func noSlots(sql: String) throws {
    let fixture = try Fixture()
    try fixture.sql(sql)
    expectCorrupt { _ = try fixture.open() }
  }

  @Test("a vault is not made without a slot that lasts, or with two of one number")
  func creation() throws {
    let fixture = try Fixture(create: false)
    let passing = [try passing(fixture, 1, .login), try passing(fixture, 2, .pam)]
    for slots in [[], passing, [try fixture.slot(1, "a"), try fixture.slot(1, "b")]] {
      #expect(throws: VaultError.lastSlot) {
        try Keychain.create(
          in: fixture.directory, slots: slots, vaultID: fixture.vaultID, vaultKey: fixture.vaultKey,
          bootKey: fixture.bootKey, now: 1)
      }
    }
    #expect(throws: VaultError.noVault) { try fixture.open() }
  }

  @Test("a change that lacks the key of one class leaves none of the others in memory") func lent() throws {
    let fixture = try Fixture()
    try fixture.sql(
      "UPDATE keys SET sealed = zeroblob(length(sealed)) WHERE name = '\(KeyName.vault(.afterFirstUnlock))'")
    let keychain = try fixture.open()
    expectCorrupt { try keychain.change(vaultKey: fixture.vaultKey) {} }
    #expect(throws: VaultError.locked) {
      try keychain.withIntegrityKey(.whenUnlocked) { (_: borrowing SecureBytes) throws(VaultError) in }
    }
  }
}
