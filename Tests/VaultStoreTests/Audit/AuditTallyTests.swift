import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The tally of the audit log") struct AuditTallyTests {
  private static func tally(_ keychain: Keychain, _ items: String...) throws {
    var block = AuditBlock()
    for item in items {
      block.add(.get, .ok, time: 6000, caller: nil, item: item, repeats: AuditEntry.Repeats(of: nil, count: 3))
    }
    try keychain.sealAuditTally(&block, now: 6000)
    try keychain.writeAudit(anchored: false)
  }

  /// Makes a store with a log of one record.
  private static func begun() throws -> (Fixture, Keychain) {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    try AuditStoreTests.write(1, to: keychain)
    return (fixture, keychain)
  }

  private static func told(_ keychain: Keychain) throws -> [String] {
    let (entries, faults) = try AuditStoreTests.walk(keychain)
    #expect(faults == [])
    return entries.sorted { $0.key < $1.key }.map { $0.value.item ?? "" }
  }

  @Test("is there after a kill, and a record like any other then") func killed() throws {
    let (fixture, keychain) = try Self.begun()
    try Self.tally(keychain, "a")
    try Self.tally(keychain, "a", "b")
    try keychain.close()
    let again = try fixture.unlocked()
    #expect(try again.joinAudit(rows: .max) == [])
    #expect(try Self.told(again) == ["item/1", "item/2", "a", "b"])
    try AuditStoreTests.write(1, to: again)
    #expect(try Self.told(again) == ["item/1", "item/2", "a", "b", "item/5", "item/6"])
    #expect(try again.verify().isOK)
  }

  @Test("has its place taken by the next record, and makes the log no longer") func replaced() throws {
    let (fixture, first) = try Self.begun()
    var keychain = first
    let before = keychain.auditFacts
    for _ in 0..<50 { try Self.tally(keychain, "a") }
    #expect(keychain.auditFacts == before && keychain.hasAuditTally)
    #expect(try keychain.database.lastAuditRow() == before.entries + 1)
    // In the process that writes the tally, readers and checks end before it.
    #expect(try Self.told(keychain) == ["item/1", "item/2"])
    #expect(try keychain.verify().isOK)
    try AuditStoreTests.write(1, to: keychain)
    #expect(!keychain.hasAuditTally)
    try keychain.close()
    keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    #expect(try Self.told(keychain) == ["item/1", "item/2", "item/3", "item/4"])
  }

  @Test("hides no record that waits to take its place, from no reader", arguments: [false, true])
  private func behind(isOtherChain: Bool) throws {
    let (fixture, keychain) = try Self.begun()
    defer { withExtendedLifetime(fixture) {} }
    try Self.tally(keychain, "a", "b", "c")
    if isOtherChain { keychain.endAuditChain() }
    for round in 1...3 {
      var block = AuditBlock()
      block.add(.get, .ok, time: 6000, caller: nil, item: "waits \(round)")
      try keychain.sealAudit(&block, now: 6000)
    }
    let walks = [try keychain.auditWalk(), try keychain.auditWalk(from: 3), try keychain.auditWalk(since: 0)]
    for (walk, rows) in zip(walks, [1, 2, .max]) {
      var items: [Int64: String?] = [:]
      while try !walk.step(keychain, rows: rows, { items[$0] = $1.item }) {}
      #expect(walk.faults == [])
      #expect((3...5).map { items[$0] } == ["waits 1", "waits 2", "waits 3"] && items.count <= 5, "\(items)")
    }
    try keychain.writeAudit(anchored: false)
    #expect(try Self.told(keychain) == ["item/1", "item/2", "waits 1", "waits 2", "waits 3"])
  }

  @Test("of a start without an unlock goes on over it, and over another chain") func cold() throws {
    let fixture = try Fixture.withItems(1)
    let cold = try fixture.open()
    try cold.openAlways(bootKey: fixture.bootKey)
    try Self.tally(cold, "a")
    try AuditStoreTests.write(1, to: cold)
    try Self.tally(cold, "b")
    try cold.unlock(vaultKey: fixture.vaultKey)
    #expect(try cold.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(1, to: cold)
    try Self.tally(cold, "c")
    try cold.close()
    let again = try fixture.unlocked()
    #expect(try again.joinAudit(rows: .max) == [])
    #expect(try Self.told(again) == ["item/1", "item/2", "item/3", "item/4", "c"])
    #expect(try again.verify().isOK)
  }

  @Test("is not copied by a change of all keys, and nothing is missed without it") func rekeyed() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    try AuditStoreTests.write(2, to: keychain)
    try Self.tally(keychain, "a")
    let rekey = try fixture.rekey(keychain)
    while try !rekey.step(records: 10) {}
    try rekey.finish()
    try AuditStoreTests.write(1, to: keychain)
    #expect(try Self.told(keychain).count == 6)
    #expect(try keychain.verify().isOK)
  }

  @Test("does not spoil the copy of a log to which records come meanwhile, also in another chain") func busy() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    try AuditStoreTests.write(2, to: keychain)
    let rekey = try fixture.rekey(keychain)
    var isOver = false
    for round in 0..<50 where !isOver {
      try Self.tally(keychain, "a")
      // These records are sealed and not written when the log is copied.
      var block = AuditBlock()
      block.add(.get, .ok, time: 6000, caller: nil, item: "unwritten \(round)")
      try keychain.sealAudit(&block, now: 6000)
      if round % 3 == 2 { keychain.endAuditChain() }
      isOver = try rekey.step(records: 1000)
    }
    #expect(isOver, "\(rekey.stage)")
    try rekey.finish()
    try AuditStoreTests.write(1, to: keychain)
    #expect(try Self.told(keychain).contains("unwritten 0"))
    #expect(try keychain.verify().isOK)
  }

  @Test("comes along in a salvage of a store that has failed, as after a kill") func salvaged() throws {
    let (fixture, keychain) = try Self.begun()
    try Self.tally(keychain, "a")
    keychain.notice(Finding(.damaged, "something was changed"))
    // A tally that cannot be written any more is not part of the salvage.
    #expect(throws: VaultError.self) { try Self.tally(keychain, "a", "b") }
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000)
    while try !salvage.step(items: 1) {}
    #expect(salvage.result.losses == [])
    #expect(try Self.told(salvage.target) == ["item/1", "item/2", "a"])
    #expect(try salvage.target.verify().isOK)
    // A record removed from the end is a loss.
    try keychain.database.dropAudit(keychain.database.lastAuditRow())
    let next = try Salvage(keychain, in: fixture.path("other"), now: 6000)
    while try !next.step(items: 1) {}
    #expect(next.result.losses.count == 2 && next.result.losses.last?.text.hasPrefix("the audit log: ") == true)
    let (entries, _) = try AuditStoreTests.walk(next.target)
    #expect(entries.count == 3 && entries[3]?.action == .salvage)
  }

  @Test("that was put back from before is found out, as any record is") func putBack() throws {
    let (fixture, keychain) = try Self.begun()
    try Self.tally(keychain, "a")
    let old = try #require(try keychain.database.auditRow(keychain.database.lastAuditRow()))
    try Self.tally(keychain, "b")
    try keychain.database.dropAudit(old.row)
    try keychain.database.insertAudit(old)
    try keychain.close()
    let again = try fixture.unlocked()
    #expect(try again.joinAudit(rows: .max) != [])
  }

  @Test("in a new chain leaves the link to note that of the last record, and the chain's own link is as right")
  func noted() throws {
    for isUnlocked in [false, true] {
      let fixture = try Fixture.withItems(1)
      let keychain = try isUnlocked ? fixture.unlocked() : fixture.open()
      if isUnlocked { #expect(try keychain.joinAudit(rows: .max) == []) }
      try AuditStoreTests.write(2, to: keychain)
      let before = keychain.auditFacts
      keychain.endAuditChain()
      try Self.tally(keychain, "a")
      #expect(keychain.auditFacts.entries == before.entries && keychain.auditFacts.link == before.link)
      // Earlier versions noted the link of the beginning.
      let ofBeginning = keychain.auditEnd.link
      #expect(ofBeginning != before.link)
      keychain.endAuditChain()
      try AuditStoreTests.write(1, to: keychain)
      let last = keychain.auditFacts
      try keychain.close()
      let again = try fixture.unlocked()
      #expect(try again.joinAudit(rows: .max) == [])
      for (link, isRight) in [(before.link, true), (ofBeginning, true), (last.link, false)] {
        for isFollowed in [true, false] {
          let others = isFollowed ? [last.entries: last.link] : [:]
          let walk = try again.auditWalk(noted: others.merging([before.entries: link]) { _, new in new })
          while try !walk.step(again, rows: 1) {}
          let fault = "the link noted elsewhere for entry \(before.entries) does not match the log"
          #expect(walk.faults.map(\.text) == (isRight ? [] : [fault]), "\(walk.faults)")
        }
      }
    }
  }
}
