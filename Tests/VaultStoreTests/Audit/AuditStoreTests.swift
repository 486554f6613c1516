import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The audit log in the store") struct AuditStoreTests {
  /// Adds records with this many entries each, and writes them.
  static func write(
    _ records: Int, of entries: Int = 2, to keychain: Keychain, anchored: Bool = true, isSynced: Bool = true
  ) throws {
    try seal(records, of: entries, in: keychain)
    try keychain.writeAudit(anchored: anchored, isSynced: isSynced)
  }

  private static func seal(_ records: Int, of entries: Int = 2, in keychain: Keychain) throws {
    var block = AuditBlock()
    for _ in 0..<records {
      let caller = block.add(AuditEntry.Caller(door: "varlink", uid: 1000, pid: 7, unit: "a.service"))
      for _ in 0..<entries {
        let number = keychain.nextAuditEntry + Int64(block.count)
        block.add(.get, .ok, time: 5000 + number, caller: caller, item: "item/\(number)", purpose: "boot")
      }
      try keychain.sealAudit(&block, now: 5000)
    }
  }

  /// Returns everything that a walk over the log reports.
  static func walk(_ keychain: Keychain) throws -> (entries: [Int64: AuditEntry], faults: [AuditWalk.Fault]) {
    let walk = try keychain.auditWalk(noted: [:])
    var entries: [Int64: AuditEntry] = [:]
    while try !walk.step(keychain, rows: 2, { entries[$0] = $1 }) {}
    return (entries, walk.faults)
  }

  private static func joined(_ fixture: Fixture) throws -> Keychain {
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    return keychain
  }

  @Test("is written in every state, and read again when the vault is unlocked") func written() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.open()
    try Self.write(2, to: keychain)
    #expect(throws: VaultError.locked) { _ = try keychain.auditWalk(noted: [:]) }
    try keychain.openAlways(bootKey: fixture.bootKey)
    try Self.write(1, to: keychain)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.joinAudit(rows: .max) == [])
    try Self.write(2, to: keychain)
    keychain.lock(hidingNames: true)
    try Self.write(1, to: keychain)
    try keychain.close()

    let again = try Self.joined(fixture)
    let (entries, faults) = try Self.walk(again)
    #expect(faults == [] && entries.count == 12)
    for (number, entry) in entries {
      #expect(entry.item == "item/\(number)" && entry.time == 5000 + number && entry.purpose == "boot")
      #expect(entry.caller == AuditEntry.Caller(door: "varlink", uid: 1000, pid: 7, unit: "a.service"))
    }
    #expect(try again.verify().isOK)
  }

  @Test("goes on after a long chain, and is read from the middle on") func long() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try Self.joined(fixture)
    try Self.write(2500, of: 1, to: keychain)
    let (entries, faults) = try Self.walk(keychain)
    #expect(faults == [] && entries.count == 2500)
    let tail = try keychain.auditWalk(from: 2400)
    var found: [Int64] = []
    while try !tail.step(keychain, rows: 100, { number, _ in found.append(number) }) {}
    #expect(tail.faults == [] && found.last == 2500 && found.contains(2400) && !found.contains(1))
  }

  @Test(
    "a look since a time finds all that is as late, however often the clock was behind", arguments: [1, 40, 18_000])
  func since(days: Int64) throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try Self.joined(fixture)
    let (day, now) = (86_400 as Int64, 2_000_000_000 as Int64)
    var block = AuditBlock()
    func write(_ times: Int64...) throws {
      for time in times {
        block.add(.get, .ok, time: time, caller: nil)
        try keychain.sealAudit(&block, now: time)
      }
      keychain.endAuditChain()
    }
    try write(now - 90 * day)
    try write(now - 60 * day)
    try write(now - 3600)
    // This chain was begun by a clock five hours behind, as a clock in local time is, and which was then set.
    try write(now - 5 * 3600, now - 1800)
    try write(now - days * day, now - 900)
    try write(now - 4 * 3600, now - 600)
    try keychain.writeAudit(anchored: true)
    for since in [now - 3600, now - 2700, now - 600, now - 50 * day] {
      let walk = try keychain.auditWalk(since: since)
      var times: [Int64] = []
      while try !walk.step(keychain, rows: 2, { _, entry in times.append(entry.time) }) {}
      #expect(walk.faults.isEmpty)
      let late = [now - 3600, now - 1800, now - 900, now - 600].filter { $0 >= since }
      #expect(times.filter { late.contains($0) } == late, "\(since)")
      #expect(!times.contains(now - 90 * day) && !times.contains(now - 60 * day), "what is earlier is left out")
    }
    let walk = try keychain.auditWalk(since: now - 89 * day)
    #expect(walk.position.row == 0)
  }

  @Test("a record that was removed, rewritten, put elsewhere, put in or rolled back shows, by number")
  func edited() throws {
    let edits: [(sql: [String], faults: ClosedRange<Int64>?)] = [
      (["DELETE FROM audit WHERE id = 4"], 5...6),
      (["UPDATE audit SET sealed = CAST(sealed || x'00' AS BLOB) WHERE id = 4"], 5...6),
      (
        [
          "UPDATE audit SET id = 99 WHERE id = 4", "UPDATE audit SET id = 4 WHERE id = 5",
          "UPDATE audit SET id = 5 WHERE id = 99",
        ], 5...8
      ),
      (["UPDATE audit SET sealed = (SELECT sealed FROM audit WHERE id = 3) WHERE id = 4"], 5...6),
      (["DELETE FROM audit WHERE id > 9"], 17...20),
      (["INSERT INTO audit(id, chain, sealed) SELECT 12, chain, sealed FROM audit WHERE id = 11"], nil),
      (["UPDATE audit SET sealed = zeroblob(length(sealed)) WHERE id = 1"], 1...20),
      (["DELETE FROM meta WHERE name = 'audit-anchor'"], nil),
    ]
    for (sql, numbers) in edits {
      let fixture = try Fixture.withItems(1)
      let keychain = try Self.joined(fixture)
      try Self.write(10, to: keychain)
      #expect(try keychain.verify().isOK)
      try keychain.close()
      for statement in sql { try fixture.sql(statement) }
      let again = try fixture.unlocked()
      _ = try again.joinAudit(rows: .max)
      #expect(try !again.verify().isOK, "\(sql)")
      #expect(again.integrity == .failed, "\(sql)")
      guard let numbers else { continue }
      let (entries, faults) = try Self.walk(again)
      #expect(faults.contains { $0.first == numbers.lowerBound && $0.last == numbers.upperBound }, "\(sql) \(faults)")
      #expect(Set(entries.keys).isDisjoint(with: numbers), "\(sql)")
      #expect(entries.count == 20 - numbers.count, "\(sql)")
    }
  }

  @Test("what was written while locked cannot be cut off by who has no earlier copy of the end") func cutOff() throws {
    for anchored in [true, false] {
      let fixture = try Fixture.withItems(1)
      let keychain = try Self.joined(fixture)
      try Self.write(3, to: keychain, anchored: anchored)
      keychain.lock(hidingNames: false)
      try Self.write(3, to: keychain)
      try keychain.close()
      try fixture.sql("DELETE FROM audit WHERE id = 7")
      let again = try fixture.unlocked()
      #expect(try again.joinAudit(rows: .max) != [])
      #expect(again.integrity == .failed)
    }
  }

  @Test("a chain that somebody else began shows, with the boot key as far as it goes") func foreignChain() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try Self.joined(fixture)
    try Self.write(3, to: keychain)
    try keychain.close()
    // Somebody who has only the file can write records, as a daemon without the boot key does: nobody vouches for them.
    let forger = try fixture.open()
    try Self.write(1, to: forger)
    try forger.close()
    let again = try fixture.unlocked()
    #expect(try again.joinAudit(rows: .max) == [])
    let walk = try again.auditWalk(noted: [:])
    while try !walk.step(again, rows: 100) {}
    #expect(walk.faults == [] && walk.entries == 8)
    try again.close()

    // With the boot key, the daemon vouches for its records, and nobody without that key can do so in its place.
    let other = try Fixture.withItems(1)
    try Self.joined(other).close()
    let cold = try other.open()
    try cold.openAlways(bootKey: other.bootKey)
    try Self.write(1, to: cold)
    try cold.close()
    // The MAC stands before the sealed seed.
    let place = AuditChain.encodedCount - 80 - 32
    let forged = "substr(sealed, 1, \(place)) || x'0102' || substr(sealed, \(place + 3))"
    try other.sql("UPDATE audit SET sealed = CAST(\(forged) AS BLOB) WHERE id = 1")
    #expect(
      try other.unlocked().joinAudit(rows: .max) == [
        "the audit log: the entries from 1 on were begun by somebody else"
      ])
  }

  @Test("the oldest chains are taken out whole, and what is left is whole") func cut() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try Self.joined(fixture)
    for _ in 0..<5 {
      try Self.write(4, to: keychain)
      keychain.endAuditChain()
    }
    let size = keychain.auditFacts.bytes
    #expect(try keychain.cutAudit(toBytes: size, olderThan: nil, now: 5000) == 0)
    #expect(try keychain.cutAudit(toBytes: size / 2, olderThan: nil, now: 5000) == 24)
    #expect(keychain.auditFacts.cut == 24 && keychain.auditFacts.entries == 40)
    #expect(keychain.auditFacts.bytes <= size / 2)
    let (entries, faults) = try Self.walk(keychain)
    #expect(faults == [] && Set(entries.keys) == Set(25...40))
    #expect(try keychain.verify().isOK)
    // The cut takes chains older than a time; the chain being written stays.
    #expect(try keychain.cutAudit(toBytes: .max, olderThan: 0, now: 5000) == 8)
    #expect(try keychain.verify().isOK)
    try keychain.close()
    #expect(try Self.walk(Self.joined(fixture)).entries.keys.min() == 33)
  }

  @Test("what stays of a cut is written with it, or not at all: a disk that fills leaves the log as it was")
  func cutOnFullDisk() throws {
    let fixture = try Fixture.withItems(1)
    let disk = try FaultyDisk(fixture)
    var keychain = try Self.joined(fixture)
    for _ in 0..<5 {
      try Self.write(4, to: keychain)
      keychain.endAuditChain()
    }
    let size = keychain.auditFacts.bytes
    func cut() throws -> Int64 {
      try keychain.cutAudit(toBytes: size / 2, olderThan: nil, now: 5000, steps: 1) { entries, _ in
        entries.prefix(2).map { _, entry in
          var entry = entry
          entry.item = "again"
          return entry
        }
      }
    }
    for isWaiting in [false, true] {
      if isWaiting { try Self.seal(1, in: keychain) }
      disk.fail(after: 0, FaultyDisk.Failure.allCases[0])
      let facts = keychain.auditFacts
      for _ in 0..<2 { expect(\.isStorage) { _ = try cut() } }
      #expect(keychain.auditFacts == facts)
      disk.recover()
    }
    // Neither a later write nor a lock that takes away the keys for a cut brings the failed cut into effect.
    keychain.lock(hidingNames: false)
    try Self.write(1, to: keychain)
    try keychain.close()
    keychain = try Self.joined(fixture)
    #expect(try Self.walk(keychain).entries.count == 40 + 2 + 2)
    let gone = try cut()
    let (entries, faults) = try Self.walk(keychain)
    #expect(faults == [] && gone > 0 && entries.keys.min() == gone + 1)
    #expect(entries.values.filter { $0.item == "again" }.count == 2 && entries.count == Int(44 - gone) + 2)
    #expect(try keychain.verify().isOK)
  }

  @Test("what was noted elsewhere is compared") func noted() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try Self.joined(fixture)
    try Self.write(2, to: keychain)
    let facts = keychain.auditFacts
    try Self.write(2, to: keychain)
    for (link, isRight) in [(facts.link, true), (keychain.auditFacts.link, false)] {
      let walk = try keychain.auditWalk(noted: [facts.entries: link])
      while try !walk.step(keychain, rows: 10) {}
      #expect(walk.faults.isEmpty == isRight)
    }
    // In the middle of a record, or behind the end, no link can have been noted: so the log was longer.
    for entry in [3, 100] {
      let walk = try keychain.auditWalk(noted: [Int64(entry): facts.link])
      while try !walk.step(keychain, rows: 10) {}
      #expect(walk.faults.count == 1)
    }
  }

  @Test("a rekey takes it along, under the new keys, and goes on with it") func rekeyed() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try Self.joined(fixture)
    try Self.write(3, to: keychain)
    let rekey = try fixture.rekey(keychain)
    try Self.write(2, to: keychain)
    _ = try keychain.verify()
    while try !rekey.step(records: 1) { if keychain.nextAuditEntry < 15 { try Self.write(1, to: keychain) } }
    try rekey.finish()
    try Self.write(2, to: keychain)
    let (entries, faults) = try Self.walk(keychain)
    #expect(faults == [] && Set(entries.keys) == Set(1..<keychain.nextAuditEntry))
    #expect(try keychain.verify().isOK)
  }
}
