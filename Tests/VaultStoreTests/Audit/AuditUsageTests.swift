import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("What was used of the audit log") struct AuditUsageTests {
  private static let usage = AuditUsage(
    time: 5000, counted: AuditUsage.Counted(count: 7, since: 4000, last: 4900),
    subjects: [AuditUsage.Key(of: "user:1000"): [1, 2, 3, 4], AuditUsage.Key(of: "strangers"): [0, 0, .max, 0]])

  private static func write(to keychain: Keychain, _ usage: AuditUsage?) throws {
    try AuditStoreTests.write(1, to: keychain, anchored: false)
    try keychain.writeAudit(anchored: true, usage: usage)
  }

  @Test("is kept with what is vouched for, and not told to who has the disk") func kept() throws {
    let fixture = try Fixture.withItems(1)
    var keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    try Self.write(to: keychain, nil)
    // Earlier programs stored the anchor in this form.
    #expect(try keychain.storedAnchor()?.encoded.first == 1)
    #expect(try keychain.auditUsage() == nil)
    try Self.write(to: keychain, Self.usage)
    #expect(try keychain.storedAnchor()?.encoded.first == 2)
    // A write without new usage leaves the stored usage unchanged.
    try Self.write(to: keychain, nil)
    try keychain.close()
    keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    #expect(try keychain.auditUsage() == Self.usage)
    let key = AuditUsage.Key(of: "user:1000")
    let sealed = try #require(try keychain.storedAnchor()?.usage)
    #expect(
      sealed.indices.dropLast(8).allSatisfy { start in
        (0..<8).contains { sealed[start + $0] != UInt8(truncatingIfNeeded: key.first >> (8 * Int64($0))) }
      })
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { _ = try keychain.auditUsage() }
    try keychain.close()
    #expect(try fixture.unlocked().verify().isOK)
  }

  @Test("is kept over a change of all keys") func rekeyed() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    try Self.write(to: keychain, Self.usage)
    let rekey = try fixture.rekey(keychain)
    while try !rekey.step(records: 10) {}
    try rekey.finish()
    #expect(try keychain.auditUsage() == Self.usage)
    #expect(try keychain.verify().isOK)
  }

  @Test("what was written before first unlocks is counted over all of them, and less with each day") func early()
    throws
  {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    try Self.write(to: keychain, Self.usage)
    try keychain.close()
    var before: Int64 = 0
    for _ in 0..<3 {
      let cold = try fixture.open()
      #expect(cold.unjoinedAuditBytes == before)
      try AuditStoreTests.write(4, to: cold, anchored: false)
      let after = try #require(cold.unjoinedAuditBytes)
      #expect(after > before + 500)
      before = after
      try cold.unlock(vaultKey: fixture.vaultKey)
      #expect(try cold.joinAudit(rows: .max) == [])
      #expect(cold.unjoinedAuditBytes == nil)
      try cold.writeAudit(anchored: true, usage: Self.usage)
      try cold.close()
    }
    let last = try fixture.unlocked()
    _ = try last.joinAudit(rows: .max)
    for day: Int64 in 1...7 {
      try Self.write(to: last, AuditUsage(time: 5000 + day * 86_400))
    }
    #expect(try #require(try last.storedAnchor()).early < before / 2)
  }

  @Test("what was written before first unlocks still counts after a salvage and a change of all keys") func earlyKept()
    throws
  {
    let fixture = try Fixture.withItems(1)
    var keychain = try fixture.open()
    try AuditStoreTests.write(4, to: keychain)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.joinAudit(rows: .max) == [])
    // The bytes count even if the use of the log is not known.
    try AuditStoreTests.write(1, to: keychain)
    let first = try #require(try keychain.anchor()).early
    #expect(first > 500)
    try Self.write(to: keychain, Self.usage)
    try keychain.close()
    keychain = try fixture.open()
    try AuditStoreTests.write(4, to: keychain)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    let both = try #require(keychain.unjoinedAuditBytes)
    #expect(both > first + 500)
    func salvaged(_ name: String, mostEarly: Int64) throws -> AuditAnchor {
      let salvage = try Salvage(keychain, in: fixture.path(name), now: 6000, mostEarly: mostEarly)
      while try !salvage.step(items: 100) {}
      #expect(try salvage.target.verify().isOK)
      return try #require(try salvage.target.anchor())
    }
    // The part that is not vouched for yet is copied if all of it together has room.
    #expect(try salvaged("fits", mostEarly: both).early == both)
    #expect(try salvaged("more", mostEarly: both - 1).early == keychain.anchor()?.early)
    #expect(try keychain.joinAudit(rows: .max) == [])
    try Self.write(to: keychain, Self.usage)
    #expect(try keychain.anchor()?.early == both)
    #expect(try salvaged("joined", mostEarly: both).early == both)
    let rekey = try fixture.rekey(keychain)
    while try !rekey.step(records: 10) {}
    try rekey.finish()
    #expect(try keychain.anchor()?.early == both)
    #expect(try keychain.verify().isOK)
    try keychain.close()
    // If the anchor is lost, all that the log has from before unlocks counts, as far as there is room.
    try fixture.sql("DELETE FROM meta WHERE name = 'audit-anchor'")
    keychain = try fixture.open()
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(try salvaged("lost", mostEarly: .max).early >= both)
    #expect(try salvaged("bounded", mostEarly: 600).early == 600)
  }
}
