import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The age of the audit log") struct AuditAgeTests {
  private static let day: Int64 = 86_400
  private static let year = 365 * day

  /// Unlocks the vault, and removes the entries that are older than a year before another entry is written, and after
  /// it.
  private static func unlockAndCut(_ fixture: Fixture, now: Int64, withBootKey: Bool = true) throws -> Int64 {
    let keychain = try fixture.open()
    if withBootKey {
      // A daemon writes as soon as it starts.
      try keychain.openAlways(bootKey: fixture.bootKey)
      try write(to: keychain, at: now)
    }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.joinAudit(rows: .max) == [])
    var gone = try keychain.cutAudit(toBytes: .max, olderThan: year, now: now)
    try write(to: keychain, at: now)
    gone += try keychain.cutAudit(toBytes: .max, olderThan: year, now: now)
    #expect(try AuditStoreTests.walk(keychain).faults == [])
    try keychain.close()
    return gone
  }

  private static func write(to keychain: Keychain, at now: Int64) throws {
    var block = AuditBlock()
    block.add(.get, .ok, time: now, caller: nil)
    try keychain.sealAudit(&block, now: now)
    try keychain.writeAudit(anchored: true)
  }

  @Test("a clock that jumps ages no log, and days do") func ages() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    var block = AuditBlock()
    func write(at now: Int64) throws {
      block.add(.get, .ok, time: now, caller: nil)
      try keychain.sealAudit(&block, now: now)
      try keychain.writeAudit(anchored: true)
    }
    let year = 365 * Self.day
    for _ in 0..<3 { try write(at: 5000) }
    #expect(try keychain.database.lastAuditRow() == 4)
    for now in [5000 + 2 * year, .max, 5000, .min, 6000] {
      try write(at: now)
      #expect(try keychain.cutAudit(toBytes: .max, olderThan: year, now: now) == 0)
    }
    // A jump of the clock begins a chain, and counts as a day if it goes ahead.
    let known = keychain.auditFacts.entries
    for day in 1...363 { try write(at: 6000 + Int64(day) * Self.day) }
    let now = 6000 + 363 * Self.day
    #expect(try keychain.cutAudit(toBytes: .max, olderThan: year + 3 * Self.day, now: now) == 0)
    let gone = try keychain.cutAudit(toBytes: .max, olderThan: 350 * Self.day, now: now)
    #expect(gone >= known && gone < known + 20, "\(gone)")
    // The age is known again after a start.
    try keychain.close()
    let again = try fixture.unlocked()
    #expect(try again.joinAudit(rows: .max) == [])
    #expect(try again.cutAudit(toBytes: .max, olderThan: 349 * Self.day, now: now) == 1)
    #expect(try again.verify().isOK)
  }

  @Test(
    "a cut by age takes whole chains up to a gap, and nothing beyond it, so that the gap is not forgotten",
    arguments: [(3, 0), (6, 0), (8, 8), (11, 8), (13, 16)] as [(Int64, Int64)])
  func gap(row: Int64, gone: Int64) throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    // Each chain has five rows: its beginning, and four records of two entries each.
    for _ in 0..<4 {
      try AuditStoreTests.write(4, to: keychain)
      keychain.endAuditChain()
    }
    #expect(try keychain.database.lastAuditRow() == 20)
    // Somebody takes a row out of the open store.
    try keychain.database.dropAudit(row)
    #expect(try keychain.cutAudit(toBytes: .max, olderThan: 0, now: 5000) == gone)
    #expect(keychain.auditFacts.cut == gone)
    #expect(try keychain.database.firstAuditRow() == 5 * gone / 8 + 1)
    #expect(try !keychain.verify().isOK)
  }

  /// Adds a chain of a cold start to the log, as somebody can who has the file and perhaps the boot key.
  private static func forge(_ fixture: Fixture, time: Int64, age: Int64, withBootKey: Bool) throws {
    let forger = try fixture.open()
    if withBootKey { try forger.openAlways(bootKey: fixture.bootKey) }
    try forge(forger, time: time, age: age, withBootKey: withBootKey)
    try forger.close()
  }

  private static func forge(_ forger: Keychain, time: Int64, age: Int64, withBootKey: Bool) throws {
    let end = try #require(try forger.storedEnd())
    let seed = RandomBytes.secret(count: 32)
    var chain = try AuditChain(
      origin: .cold, time: time, age: age, after: end.position, ended: end.mac, seed: seed,
      publicKey: try forger.checkedPublicKey())
    if withBootKey { forger.mac(&chain, end.position.row + 1, forger.keys.always.audit) }
    var writing = AuditWriting(
      chain, AuditKey(seed: seed), after: end.position, written: end.position, unwritten: [], standing: nil,
      isAfterEarly: true, known: nil, lastLink: end.position.link)
    var block = AuditBlock()
    block.add(.get, .ok, time: time, caller: nil)
    writing.seal(&block, forger.vault)
    for row in writing.unwritten { try forger.database.insertAudit(row) }
    try forger.database.putMeta(MetaName.auditEnd, writing.storedEnd(forger.vault).encoded)
  }

  @Test("an added chain of a cold start removes nothing, whatever age it states", arguments: [true, false])
  func forged(withBootKey: Bool) throws {
    let now: Int64 = 2_000_000_000
    for (time, age) in [(now, 10 * Self.year), (now + Self.year, AuditPosition.most), (0, 0)] {
      let fixture = try Fixture.withItems(1)
      #expect(try Self.unlockAndCut(fixture, now: now) == 0)
      try Self.forge(fixture, time: time, age: age, withBootKey: withBootKey)
      for minutes in 1...3 as ClosedRange<Int64> {
        let gone = try Self.unlockAndCut(fixture, now: now + 60 * minutes, withBootKey: minutes != 2)
        #expect(gone == 0, "\(time) \(age)")
      }
    }
  }

  @Test(
    "an added chain of a cold start keeps nothing beyond its age, whatever age it states", arguments: [true, false])
  func forgedAge(withBootKey: Bool) throws {
    let now: Int64 = 2_000_000_000
    let stated = [(now, 10 * Self.year), (0, AuditPosition.most), (now + Self.year, AuditPosition.most), (now, 0)]
    for (time, age) in stated {
      let fixture = try Fixture.withItems(1)
      #expect(try Self.unlockAndCut(fixture, now: now) == 0)
      try Self.forge(fixture, time: time, age: age, withBootKey: withBootKey)
      let keychain = try fixture.unlocked()
      #expect(try keychain.joinAudit(rows: .max) == [])
      let known = keychain.auditFacts.entries
      for day in 1...25 as ClosedRange<Int64> { try Self.write(to: keychain, at: now + day * Self.day) }
      // All entries from before the unlock are older than twenty days by now, and those from a week after it are not.
      let gone = try keychain.cutAudit(toBytes: .max, olderThan: 20 * Self.day, now: now + 25 * Self.day)
      #expect(gone >= known && gone < known + 8, "\(time) \(age) \(gone) \(known)")
      try keychain.close()
    }
  }

  @Test("many added chains, each a day after the one before, age the log by no more than the time that has passed")
  func forgedDays() throws {
    let now: Int64 = 2_000_000_000
    let fixture = try Fixture.withItems(1)
    #expect(try Self.unlockAndCut(fixture, now: now) == 0)
    let forger = try fixture.open()
    try forger.openAlways(bootKey: fixture.bootKey)
    for day in 1...400 as ClosedRange<Int64> {
      try Self.forge(forger, time: now + day * Self.day, age: day * Self.day, withBootKey: true)
    }
    try forger.close()
    #expect(try Self.unlockAndCut(fixture, now: now + Self.day) == 0)
  }

  @Test(
    "starts with an old clock age no log, with an unlock before the clock is right or after it",
    arguments: [true, false])
  func oldClock(isUnlocked: Bool) throws {
    let now: Int64 = 2_000_000_000
    let fixture = try Fixture.withItems(1)
    #expect(try Self.unlockAndCut(fixture, now: now) == 0)
    for boot in 1...20 as ClosedRange<Int64> {
      let keychain = try fixture.open()
      if isUnlocked {
        try keychain.unlock(vaultKey: fixture.vaultKey)
        #expect(try keychain.joinAudit(rows: .max) == [])
      }
      try Self.write(to: keychain, at: 1_000_000_000)
      if !isUnlocked {
        try keychain.unlock(vaultKey: fixture.vaultKey)
        #expect(try keychain.joinAudit(rows: .max) == [])
      }
      try Self.write(to: keychain, at: now + boot)
      #expect(try keychain.cutAudit(toBytes: .max, olderThan: Self.day, now: now + boot) == 0, "\(boot)")
      try keychain.close()
    }
  }
}
