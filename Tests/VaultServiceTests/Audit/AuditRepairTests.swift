import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

/// A vault whose last rekey was made by an earlier version, which left a chain of the audit log sealed to the old keys.
@Suite("The repair of the audit log") struct AuditRepairTests {
  private static let earlierKey = [UInt8](repeating: 5, count: 32)

  private static func slot(_ key: borrowing SecureBytes, _ vault: [UInt8]) throws -> SlotRecord {
    try SlotRecord.make(
      id: 1, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil, vaultKey: key,
      vaultID: vault)
  }

  private static func seal(_ keychain: Keychain, _ entries: Int) throws {
    var block = AuditBlock()
    for number in 0..<entries { block.add(.get, .ok, time: 1000, caller: nil, item: "lost/\(number)") }
    try keychain.sealAudit(&block, now: 1000)
  }

  /// Makes a vault with the stand's key in which the log's entries 2 to 4 cannot be read.
  private static func harm(_ store: String) throws {
    let id = VaultID.random().bytes
    let earlier = RoomStand.secret(earlierKey)
    let key = RoomStand.vaultKey()
    let bootKey = RandomBytes.secret(count: 32)
    try Keychain.create(
      in: store, slots: [try slot(earlier, id)], vaultID: id, vaultKey: earlier, bootKey: bootKey, now: 1)
    let keychain = try Keychain(opening: store)
    try keychain.unlock(vaultKey: earlier)
    _ = try keychain.joinAudit(rows: .max)
    try keychain.set(ItemChange(name: ItemName("a")), value: RoomStand.secret([1]), now: 1)
    try seal(keychain, 1)
    try keychain.writeAudit(anchored: true)
    let rekey = try Rekey(
      keychain, carrying: keychain.slots, slots: [try slot(key, id)], nextKey: key, vaultKey: earlier,
      bootKey: bootKey, now: 1000)
    _ = try keychain.verify()
    while try !rekey.step(records: 16) {}
    keychain.endAuditChain()
    try seal(keychain, 3)
    // Earlier versions carried the waiting records over unchanged, still sealed to the old keys.
    var waiting = keychain.bound.audit.take()
    try rekey.finish()
    keychain.bound.audit = waiting.take()
    keychain.endAuditChain()
    var block = AuditBlock()
    block.add(.rekey, .ok, time: 1000, caller: nil, item: "done")
    try keychain.sealAudit(&block, now: 1000)
    try keychain.writeAudit(anchored: true)
    try keychain.close()
  }

  private static func harmed(_ mode: AuditSettings.Mode) throws -> RoomStand {
    var settings = VaultSettings()
    settings.audit.mode = mode
    let stand = try RoomStand(settings, prepare: harm)
    try stand.unlock()
    stand.run()
    return stand
  }

  @Test(
    "takes out what cannot be read, for who has shown presence, and the vault serves again without a restart",
    arguments: [AuditSettings.Mode.on, .required])
  func repaired(mode: AuditSettings.Mode) throws {
    let stand = try Self.harmed(mode)
    let (upkeep, administrator) = (stand.rooms.upkeep, stand.administrator)
    let keychain = try stand.vault.keychain()
    #expect(keychain.hasFailed)
    // The check that the unlock began reports the damage and the command that repairs it.
    #expect(stand.journal.value.contains { $0.contains("entries 2 to 4") && $0.contains("`vault audit repair`") })
    // So does the status, which an unlock on a terminal prints.
    func faults() -> [String] { upkeep.status().warnings.filter { $0.topic == .integrity }.map(\.text) }
    #expect(
      faults() == [
        "something is wrong with the store: the entries 2 to 4 of the audit log are sealed to the keys from before a "
          + "rekey, and cannot be read; `vault audit repair` sets them aside"
      ])
    #expect(throws: Refusal.self) { try stand.set("b") }
    #expect(throws: Refusal.self) { try upkeep.repairAudit(for: administrator) }
    stand.access.add(.presence, by: RoomStand.caller(990), with: [])
    #expect(throws: Refusal.self) { try upkeep.repairAudit(for: RoomStand.caller(990)) }
    #expect(keychain.hasFailed)

    stand.access.add(.presence, by: administrator, with: [])
    let aside = try upkeep.repairAudit(for: administrator)
    #expect(aside.count == 1)
    let one = try #require(aside.first)
    #expect(one.first == 2 && one.last == 4 && one.since == 1000 && one.until == 1000)
    stand.run()
    #expect(!keychain.hasFailed && keychain.isVerified && faults() == [])
    try stand.set("b")
    var isServed = false
    #expect(try stand.items.get(ItemName("a"), for: administrator) { _, _, _ in isServed = true } == nil && isServed)

    let told = try AuditTests.told(stand)
    #expect(told.contains { $0.hasPrefix("audit ok entries 2 to 4: set aside") }, "\(told)")
    #expect(told.contains { $0.hasPrefix("audit ok repair") } && !told.contains { $0.contains("lost/1") }, "\(told)")
    #expect(told.count { $0.hasPrefix("audit presence repair") } == 1, "\(told)")
    // A second repair finds nothing, nor does one after a restart.
    #expect(try upkeep.repairAudit(for: administrator).isEmpty)
    try stand.restart(withBootKey: false)
    try stand.unlock()
    stand.run()
    #expect(try !stand.vault.keychain().hasFailed)
    #expect(try AuditTests.told(stand).count { $0.hasPrefix("audit ok entries 2 to 4: set aside") } == 1)
  }
}
