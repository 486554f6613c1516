import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("A log from within which entries were removed") struct AuditGapTests {
  private static let told = "removed"

  /// Removes what is beyond `most` bytes from before the unlock.
  static func drop(_ keychain: Keychain, beyond most: Int64, atLeast least: Int64 = 1) throws -> Int64? {
    var entries: Int64?
    let isDone = try keychain.dropExcessAudit(beyond: most, atLeast: least, now: 5000) { gone in
      entries = gone
      return AuditEntry(time: 5000, action: .audit, outcome: .failed, item: told)
    }
    #expect(isDone)
    return entries
  }

  /// Makes a vault whose log has four entries, then forty in ten chains of a locked daemon, of which some were removed
  /// at the unlock.
  ///
  /// - Parameter isBeginning: true to have nothing before these chains.
  private static func withGap(isBeginning: Bool = false) throws -> (fixture: Fixture, keychain: Keychain, gone: Int64) {
    let fixture = try Fixture.withItems(2)
    if !isBeginning {
      let first = try fixture.unlocked()
      #expect(try first.joinAudit(rows: .max) == [])
      try AuditStoreTests.write(2, to: first)
      try first.close()
    }
    let cold = try fixture.open()
    for _ in 0..<10 {
      try AuditStoreTests.write(2, to: cold)
      cold.endAuditChain()
    }
    try cold.close()
    let keychain = try fixture.unlocked()
    let bytes = try #require(keychain.unjoinedAuditBytes)
    let gone = try #require(try drop(keychain, beyond: bytes / 2))
    #expect(try keychain.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(1, to: keychain)
    return (fixture, keychain, gone)
  }

  private static func expectWhole(_ keychain: Keychain, gone: Int64, first: Int64 = 5) throws {
    let (entries, faults) = try AuditStoreTests.walk(keychain)
    #expect(faults == [])
    let last = keychain.nextAuditEntry - 1
    let expected = (1...last).filter { !(first..<first + gone).contains($0) }
    #expect(entries.keys.sorted() == expected)
    #expect(try keychain.verify().isOK)
  }

  @Test("keeps the numbers of all others, the newest of them, and is whole", arguments: [false, true])
  func whole(isBeginning: Bool) throws {
    let (fixture, keychain, gone) = try Self.withGap(isBeginning: isBeginning)
    #expect(gone >= 16 && gone <= 24)
    let first: Int64 = isBeginning ? 1 : 5
    try Self.expectWhole(keychain, gone: gone, first: first)
    let (entries, _) = try AuditStoreTests.walk(keychain)
    #expect(entries.values.contains { $0.item == Self.told })
    try keychain.close()
    let again = try fixture.unlocked()
    #expect(try Self.drop(again, beyond: 0) == nil, "all of it is vouched for")
    #expect(try again.joinAudit(rows: .max) == [])
    try Self.expectWhole(again, gone: gone, first: first)
  }

  @Test("is read from any entry on") func readers() throws {
    let (_, keychain, gone) = try Self.withGap()
    for start in 1..<keychain.nextAuditEntry {
      let walk = try keychain.auditWalk(from: start)
      var found: Set<Int64> = []
      while try !walk.step(keychain, rows: 1, { number, _ in found.insert(number) }) {}
      #expect(walk.faults.isEmpty)
      let expected = (start..<keychain.nextAuditEntry).filter { !(5..<5 + gone).contains($0) }
      #expect(found.isSuperset(of: expected) && found.isDisjoint(with: Array(5..<5 + gone)))
    }
  }

  @Test("grows by another gap before the first one is vouched for, which are one then") func twice() throws {
    let (fixture, keychain, gone) = try Self.withGap()
    try keychain.close()
    let cold = try fixture.open()
    for _ in 0..<6 {
      try AuditStoreTests.write(2, to: cold)
      cold.endAuditChain()
    }
    try cold.close()
    let second = try fixture.unlocked()
    let bytes = try #require(second.unjoinedAuditBytes)
    let more = try #require(try Self.drop(second, beyond: bytes * 3 / 4))
    // The process ends before it has vouched for anything.
    try second.close()
    let third = try fixture.unlocked()
    let last = try #require(try Self.drop(third, beyond: 1))
    #expect(last > 0)
    #expect(try third.joinAudit(rows: .max) == [])
    let (entries, faults) = try AuditStoreTests.walk(third)
    #expect(faults == [] && Int64(entries.count) == third.nextAuditEntry - 1 - gone - more - last)
    #expect(try third.anchor()?.gaps.count == 2 && third.verify().isOK)
  }

  @Test("is carried by a rekey and a salvage, and forgotten by a cut") func carried() throws {
    let (fixture, keychain, gone) = try Self.withGap()
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000)
    while try !salvage.step(items: 100) {}
    #expect(try salvage.result.losses == [] && salvage.target.verify().isOK)
    let rekey = try fixture.rekey(keychain)
    while try !rekey.step(records: 16) {}
    try rekey.finish()
    try Self.expectWhole(keychain, gone: gone)
    let bytes = keychain.auditFacts.bytes
    _ = try keychain.cutAudit(toBytes: bytes / 4, olderThan: nil, now: 6000)
    #expect(keychain.auditFacts.bytes < bytes / 2)
    #expect(try keychain.anchor()?.gaps == [] && keychain.verify().isOK)
  }

  @Test("hides nothing else: what is removed before the gap, behind it or beside it is a fault") func attacked() throws
  {
    let (fixture, keychain, gone) = try Self.withGap()
    let rows = try #require(try keychain.anchor()?.gaps.first?.rows)
    try keychain.close()
    for row in [rows.lowerBound - 1, rows.upperBound + 1, rows.upperBound + 2] {
      let copy = try Fixture(copying: fixture)
      let attacked = try copy.unlocked()
      try attacked.database.cutAudit(rows: row...row)
      try attacked.close()
      let again = try copy.unlocked()
      _ = try again.joinAudit(rows: .max)
      #expect(try !again.verify().isOK, "row \(row), \(gone) entries are gone")
    }
  }

  @Test("is told where a link was noted for one of its entries, and the others are compared") func noted() throws {
    let fixture = try Fixture.withItems(1)
    let cold = try fixture.open()
    var noted: [Int64: Digest] = [:]
    for _ in 0..<10 {
      try AuditStoreTests.write(2, to: cold)
      noted[cold.auditFacts.entries] = cold.auditFacts.link
      cold.endAuditChain()
    }
    try cold.close()
    let keychain = try fixture.unlocked()
    let bytes = try #require(keychain.unjoinedAuditBytes)
    let gone = try #require(try Self.drop(keychain, beyond: bytes / 2))
    #expect(try keychain.joinAudit(rows: .max) == [])
    let walk = try keychain.auditWalk(noted: noted)
    while try !walk.step(keychain, rows: 3) {}
    let told = noted.keys.filter { $0 <= gone }.sorted().map { entry in
      "the link noted elsewhere for entry \(entry) is about entries that were removed at an unlock"
    }
    #expect(walk.faults.map(\.text) == told && !told.isEmpty && told.count < noted.count && walk.uncompared == 0)
    #expect(try keychain.verify().isOK)
  }

  // MARK: As much as there is no room for

  /// Opens a vault whose boot key may be there.
  private static func opened(_ fixture: Fixture, withBootKey: Bool) throws -> Keychain {
    let keychain = try fixture.open()
    if withBootKey { try keychain.openAlways(bootKey: fixture.bootKey) }
    return keychain
  }

  @Test("takes of one daemon's entries the oldest, as far as these have no room", arguments: [false, true])
  func oneDaemon(withBootKey: Bool) throws {
    let fixture = try Fixture.withItems(1)
    let first = try fixture.unlocked()
    #expect(try first.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(2, to: first)
    try first.close()
    let cold = try Self.opened(fixture, withBootKey: withBootKey)
    try AuditStoreTests.write(1000, to: cold)
    try cold.close()
    let keychain = try Self.opened(fixture, withBootKey: withBootKey)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    let bytes = try #require(keychain.unjoinedAuditBytes)
    let gone = try #require(try Self.drop(keychain, beyond: bytes / 2))
    let left = try #require(keychain.unjoinedAuditBytes)
    #expect(left < bytes / 2 + 1024 && left > bytes / 2 - AuditWriting.longestEarly - 1024, "\(left) of \(bytes)")
    #expect(try keychain.joinAudit(rows: .max) == [])
    #expect(keychain.auditNote == nil)
    try AuditStoreTests.write(1, to: keychain)
    try Self.expectWhole(keychain, gone: gone)
    let walk = try keychain.auditWalk(noted: [:])
    while try !walk.step(keychain, rows: .max) {}
    #expect(walk.unvouched == (withBootKey ? 0 : 2000 - gone))
  }

  @Test("is made however little is added before each unlock, if all of it together has no room") func littleByLittle()
    throws
  {
    let (most, least): (Int64, Int64) = (20 << 10, 8 << 10)
    let fixture = try Fixture.withItems(1)
    var gone: Int64 = 0
    for _ in 0..<12 {
      let cold = try fixture.open()
      try AuditStoreTests.write(30, to: cold)
      try cold.close()
      let keychain = try fixture.unlocked()
      let early = try keychain.anchor()?.early ?? 0
      #expect(try #require(keychain.unjoinedAuditBytes) < early + least)
      gone += try Self.drop(keychain, beyond: most, atLeast: least) ?? 0
      #expect(try keychain.joinAudit(rows: .max) == [])
      try AuditStoreTests.write(1, to: keychain)
      #expect(try #require(try keychain.anchor()).early < most + least)
      #expect(try keychain.verify().isOK)
      try keychain.close()
    }
    #expect(gone > 0)
  }

  @Test("where the anchor has no place for it, is a fault, and all entries stay", arguments: [0, 1])
  func tooMany(places: Int) throws {
    let fixture = try Fixture.withItems(1)
    let first = try fixture.unlocked()
    #expect(try first.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(2 * AuditAnchor.mostGaps, of: 1, to: first)
    var anchor = try #require(try first.anchor())
    anchor.gaps = (1...Int64(AuditAnchor.mostGaps - places)).map { number in
      AuditGap(rows: 2 * number...2 * number, bytes: 0, link: AuditChain.beginning)
    }
    try first.writeAudit { () throws(VaultError) in try first.put(anchor) }
    try first.close()
    let cold = try fixture.open()
    for _ in 0..<10 {
      try AuditStoreTests.write(2, to: cold)
      cold.endAuditChain()
    }
    try cold.close()
    let keychain = try fixture.unlocked()
    let rows = try keychain.database.lastAuditRow()
    let gone = try Self.drop(keychain, beyond: 1000)
    #expect((gone == nil) == (places == 0))
    guard places == 0 else {
      #expect(try keychain.anchor()?.gaps.count == AuditAnchor.mostGaps)
      return
    }
    let reason = "more was written into the audit log before an unlock than has room"
    let found = try #require(try keychain.joinAudit(rows: .max))
    #expect(found == ["\(reason), and such entries were removed 1024 times already"])
    // Nothing is written any more, so nothing is removed for what was added.
    #expect(keychain.hasFailed)
    #expect(try keychain.database.lastAuditRow() == rows)
    #expect(throws: VaultError.self) { try AuditStoreTests.write(1, to: keychain) }
    #expect(try keychain.cutAudit(toBytes: 1, olderThan: nil, now: 6000) == 0)
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000, mostEarly: 1000)
    while try !salvage.step(items: 100) {}
    #expect(salvage.target.auditFacts.entries == anchor.joined.entries + 1)
  }

  @Test("is not made in a damaged log, and the damage is named like any other") func damaged() throws {
    let fixture = try Fixture.withItems(1)
    let first = try fixture.unlocked()
    #expect(try first.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(2, to: first)
    try first.close()
    let cold = try fixture.open()
    for _ in 0..<10 {
      try AuditStoreTests.write(2, to: cold)
      cold.endAuditChain()
    }
    try cold.close()
    // The ninth chain of the locked daemon begins in this row.
    try fixture.sql("UPDATE audit SET sealed = zeroblob(length(sealed)) WHERE id = 28 AND chain = 28")
    let keychain = try fixture.unlocked()
    #expect(try Self.drop(keychain, beyond: 100) == nil)
    let found = try #require(try keychain.joinAudit(rows: .max))
    #expect(found.contains("the entries 37 to 40 of the audit log are missing, or not what was written"), "\(found)")
    #expect(keychain.hasFailed)
    #expect(try !keychain.verify().isOK)
  }
}
