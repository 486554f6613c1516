import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Numbers that nothing authenticates: those of the end of the log, and those of chains that anybody may have begun.
@Suite("A log whose numbers somebody lets jump") struct AuditJumpTests {
  /// A change of the end of the log.
  struct Jump: CustomTestStringConvertible, Sendable {
    var row: Int64 = 0
    var entries: Int64 = 0
    var bytes: Int64 = 0

    func make(_ end: inout AuditPosition) {
      end.row += row
      end.entries += entries
      end.bytes += bytes
    }

    var testDescription: String { "\(row) rows, \(entries) entries, \(bytes) bytes" }
  }

  /// Adds chains of a daemon without the boot key.
  private static func add(_ chains: Int, to fixture: Fixture) throws {
    let cold = try fixture.open()
    for _ in 0..<chains {
      try AuditStoreTests.write(2, to: cold)
      cold.endAuditChain()
    }
    try cold.close()
  }

  static func change(_ fixture: Fixture, _ change: (inout AuditPosition) -> Void) throws {
    let forger = try fixture.open()
    var end = try #require(try forger.storedEnd())
    change(&end.position)
    try forger.database.putMeta(MetaName.auditEnd, end.encoded)
    try forger.close()
  }

  /// Makes a log of four entries that are vouched for, then adds six chains, lets the end jump, and adds more chains.
  private static func flooded(_ jump: Jump, after: Int) throws -> Fixture {
    let fixture = try Fixture.withItems(1)
    let first = try fixture.unlocked()
    #expect(try first.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(2, to: first)
    try first.close()
    try add(6, to: fixture)
    try change(fixture) { jump.make(&$0) }
    try add(after, to: fixture)
    return fixture
  }

  @Test(
    "nothing is removed for what somebody has added, because what would show it might go, and the jump is a fault",
    arguments: [
      Jump(entries: 100_000), Jump(entries: 1 << 51), Jump(row: 1), Jump(row: 1 << 40), Jump(bytes: 1),
      Jump(bytes: 1 << 40), Jump(bytes: -1),
    ], [0, 6])
  func inExcess(jump: Jump, after: Int) throws {
    let fixture = try Self.flooded(jump, after: after)
    let keychain = try fixture.unlocked()
    let rows = try keychain.database.lastAuditRow()
    #expect(try AuditGapTests.drop(keychain, beyond: 1000) == nil)
    let faults = try #require(try keychain.joinAudit(rows: .max))
    #expect(!faults.isEmpty && keychain.hasFailed)
    #expect(try keychain.database.lastAuditRow() == rows && keychain.anchor()?.gaps == [])
    #expect(throws: VaultError.self) { try AuditStoreTests.write(1, to: keychain) }
    // The entries that were vouched for are saved, and those after them get numbers that a log has.
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000, mostEarly: 1000)
    while try !salvage.step(items: 100) {}
    #expect(salvage.target.auditFacts.entries == 5)
    #expect(try salvage.target.verify().isOK)
  }

  @Test("a gap that an earlier program made over such a jump is a fault") func inGap() throws {
    for entries in [100_000, 1 << 51] as [Int64] {
      let fixture = try Self.flooded(Jump(entries: entries), after: 6)
      let keychain = try fixture.unlocked()
      var anchor = try #require(try keychain.anchor())
      var (bytes, last) = (Int64(0), Int64(0))
      try keychain.database.eachAuditRow(after: anchor.joined.row) { (row: AuditRow) throws(VaultError) in
        if row.isBeginning, try Keychain.chain(row).first > entries { return false }
        (bytes, last) = (bytes + Int64(row.bytes.count), row.row)
        return true
      }
      anchor.gaps = [AuditGap(rows: anchor.joined.row + 1...last, bytes: bytes, link: anchor.joined.link)]
      var block = AuditBlock()
      block.add(.audit, .ok, time: 5000, caller: nil)
      try keychain.sealAudit(&block, now: 5000)
      try keychain.writeAudit { () throws(VaultError) in
        try keychain.database.cutAudit(rows: anchor.gaps[0].rows)
        try keychain.put(anchor)
      }
      let faults = try #require(try keychain.joinAudit(rows: .max))
      #expect(faults.contains { $0.hasSuffix("are missing, or not what was written") }, "\(faults)")
      #expect(try !keychain.verify().isOK)
    }
  }

  @Test("near the last number no chain is begun, and the store fails", arguments: [false, true])
  func atTheEnd(withBootKey: Bool) throws {
    let far = AuditPosition.most / 2
    for jump in [Jump(row: far), Jump(entries: far), Jump(bytes: far)] {
      let fixture = try Self.flooded(jump, after: 0)
      let keychain = try fixture.open()
      if withBootKey { try keychain.openAlways(bootKey: fixture.bootKey) }
      let error = #expect(throws: VaultError.self) { try AuditStoreTests.write(1, to: keychain) }
      #expect(error?.text.contains("numbers that no log reaches") == true)
      #expect(keychain.integrity == .failed)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(try AuditGapTests.drop(keychain, beyond: 1000) == nil)
      #expect(try keychain.joinAudit(rows: .max) != [])
    }
  }

  @Test(
    "a number that somebody puts into a chain that was vouched for comes into no anchor",
    arguments: [("0900000000000000", true), ("0300000000000000", false), ("0000000000000400", false)])
  func inCut(number: String, isRight: Bool) throws {
    let fixture = try Fixture.withItems(1)
    let first = try fixture.unlocked()
    #expect(try first.joinAudit(rows: .max) == [])
    for _ in 0..<6 {
      try AuditStoreTests.write(2, to: first)
      first.endAuditChain()
    }
    try first.close()
    // The third chain begins in row 7, and its first entry is the ninth.
    try fixture.sql(
      "UPDATE audit SET sealed = CAST(substr(sealed, 1, 18) || x'\(number)' || substr(sealed, 27) AS BLOB) "
        + "WHERE id = 7")
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [], "only the end of the log is checked at an unlock")
    let gone = try keychain.cutAudit(toBytes: 1, olderThan: nil, now: 6000)
    #expect(isRight ? gone >= 20 : gone == 4)
    #expect(try keychain.storedAnchor()?.cut.entries == gone)
    #expect(try keychain.verify().isOK == isRight)
  }

  @Test("an age that somebody puts into a chain leads to none that cannot be read") func age() throws {
    let fixture = try Fixture.withItems(1)
    try Self.add(1, to: fixture)
    try fixture.sql(
      "UPDATE audit SET sealed = CAST(substr(sealed, 1, 10) || x'0000000000002000' || substr(sealed, 19) AS BLOB) "
        + "WHERE id = 1")
    let cold = try fixture.open()
    var block = AuditBlock()
    block.add(.get, .ok, time: 90_000, caller: nil)
    try cold.sealAudit(&block, now: 90_000)
    try cold.writeAudit(anchored: false)
    let row = try #require(try cold.database.auditRow(4))
    #expect(try row.isBeginning && Keychain.chain(row).age == AuditPosition.most)
  }
}
