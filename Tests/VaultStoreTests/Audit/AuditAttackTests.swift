import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

/// Attacks on the audit log by somebody who has the files and none of the keys.
@Suite("The audit log under attack") struct AuditAttackTests {
  private static let day: Int64 = 86_400

  /// Makes a log of nine rows. Row 1 begins a chain with records of two entries each; the rows up to the fourth are
  /// anchored, and those up to the seventh were written while locked. Then comes the chain of a cold start.
  private static func log(cold: Bool = true) throws -> Fixture {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(3, to: keychain)
    keychain.lock(hidingNames: false)
    try AuditStoreTests.write(3, to: keychain)
    try keychain.close()
    if cold { try start(fixture) }
    return fixture
  }

  /// Writes as a daemon does that was not unlocked since its start.
  private static func start(_ fixture: Fixture, withBootKey: Bool = true, _ records: Int = 1) throws {
    let keychain = try fixture.open()
    if withBootKey { try keychain.openAlways(bootKey: fixture.bootKey) }
    try AuditStoreTests.write(records, to: keychain)
    try keychain.close()
  }

  /// Returns the position after a row, which everybody can compute.
  private static func position(after last: Int64, _ keychain: Keychain) throws -> AuditPosition {
    var position = AuditPosition.start
    try keychain.database.eachAuditRow(after: 0) { (row: AuditRow) throws(VaultError) in
      guard row.row <= last else { return false }
      if row.isBeginning {
        position.pass(try Keychain.chain(row))
      } else {
        position.pass(row.bytes, entries: 2)
      }
      return true
    }
    return position
  }

  /// Cuts the log behind a row, and forges an end for it.
  private static func cut(_ fixture: Fixture, after row: Int64, chain: Int64) throws {
    let keychain = try fixture.open()
    let end = AuditEnd(try position(after: row, keychain), chain: chain)
    try keychain.database.putMeta(MetaName.auditEnd, end.encoded)
    try keychain.close()
    try fixture.sql("DELETE FROM audit WHERE id > \(row)")
  }

  private static func faults(_ fixture: Fixture, rows: Int = .max) throws -> [AuditWalk.Fault] {
    let keychain = try fixture.unlocked()
    let found = try keychain.joinAudit(rows: rows)
    #expect(found != [] && keychain.integrity == .failed)
    let (_, faults) = try AuditStoreTests.walk(keychain)
    #expect(try !keychain.verify().isOK)
    try keychain.close()
    return faults
  }

  @Test("cut at any record, or emptied, it is found out by number, whatever end is made up", arguments: 0..<9)
  func cutOff(row: Int64) throws {
    for chain in Set([0, 1, row]) where chain <= row {
      let fixture = try Self.log()
      try Self.cut(fixture, after: row, chain: chain)
      let faults = try Self.faults(fixture)
      if row < 4 {
        // The anchor vouches for everything up to the sixth entry.
        let first = max(1, 2 * row - 1)
        #expect(faults.contains { $0.first == first && $0.last == 6 }, "\(row) \(faults)")
      } else {
        #expect(!faults.isEmpty, "\(row)")
      }
    }
  }

  @Test("a cut is found out after another start as well, which has gone on from there", arguments: 0..<7)
  func goneOn(row: Int64) throws {
    for withBootKey in [true, false] {
      let fixture = try Self.log(cold: false)
      try Self.cut(fixture, after: row, chain: min(row, 1))
      try Self.start(fixture, withBootKey: withBootKey, 4)
      #expect(try !Self.faults(fixture).isEmpty, "\(row)")
    }
  }

  @Test("a made-up end is found out also when entries come before all of the log was looked at") func inSteps() throws {
    let fixture = try Self.log(cold: false)
    try Self.cut(fixture, after: 6, chain: 1)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: 1) == nil)
    try AuditStoreTests.write(1, to: keychain)
    while true {
      guard let found = try keychain.joinAudit(rows: 1) else { continue }
      #expect(found != [])
      break
    }
  }

  @Test("a made-up end is a fault of every later check as well, after the log has begun to go on behind it")
  func goingOn() throws {
    for isCut in [true, false] {
      let fixture = try Self.log(cold: false)
      if isCut {
        try Self.cut(fixture, after: 6, chain: 1)
      } else {
        let forger = try fixture.open()
        var end = try #require(try forger.database.meta(MetaName.auditEnd))
        end[end.count - 1] ^= 1
        try forger.database.putMeta(MetaName.auditEnd, end)
        try forger.close()
      }
      for _ in 0..<2 {
        let keychain = try fixture.unlocked()
        // The entry of the unlock is made before the end is checked, and the store then takes nothing more.
        var block = AuditBlock()
        block.add(.unlock, .ok, time: 6000, caller: block.add(AuditEntry.Caller(door: "varlink", uid: 0, pid: 1)))
        try keychain.sealAudit(&block, now: 6000)
        #expect(try keychain.joinAudit(rows: .max) != [])
        #expect(throws: VaultError.self) { try keychain.writeAudit(anchored: true) }
        for _ in 0..<2 {
          #expect(try !Self.check(keychain).faults.isEmpty, "\(isCut)")
          keychain.lock(hidingNames: false)
          try keychain.unlock(vaultKey: fixture.vaultKey)
        }
        try keychain.close()
      }
    }
  }

  @Test("an earlier copy of the table and its end, from before it was vouched for, is found out by number")
  func rolledBack() throws {
    for withStart in [false, true] {
      let fixture = try Fixture.withItems(1)
      let keychain = try fixture.unlocked()
      _ = try keychain.joinAudit(rows: .max)
      try AuditStoreTests.write(3, to: keychain)
      let end = try #require(try keychain.database.meta(MetaName.auditEnd))
      try AuditStoreTests.write(3, to: keychain)
      try keychain.close()
      try fixture.sql("DELETE FROM audit WHERE id > 4")
      let forger = try fixture.open()
      try forger.database.putMeta(MetaName.auditEnd, end)
      try forger.close()
      if withStart { try Self.start(fixture) }
      let faults = try Self.faults(fixture)
      let first: Int64 = withStart ? 9 : 7
      #expect(faults.contains { $0.first == first && $0.last == 12 }, "\(faults)")
    }
  }

  @Test("an end that says another size is found out") func size() throws {
    let fixture = try Self.log()
    let forger = try fixture.open()
    var end = try #require(try forger.storedEnd())
    end.position.bytes += 1
    try forger.database.putMeta(MetaName.auditEnd, end.encoded)
    try forger.close()
    #expect(try !Self.faults(fixture).isEmpty)
  }

  @Test(
    "an end that says another size is found out also after a start that has gone on from it",
    arguments: [-1, 1, 1 << 30])
  func sizeGoneOn(more: Int64) throws {
    for withBootKey in [true, false] {
      let fixture = try Self.log(cold: false)
      let forger = try fixture.open()
      var end = try #require(try forger.storedEnd())
      end.position.bytes += more
      try forger.database.putMeta(MetaName.auditEnd, end.encoded)
      try forger.close()
      try Self.start(fixture, withBootKey: withBootKey)
      #expect(try !Self.faults(fixture).isEmpty)
    }
  }

  @Test("with another public key in the store no cold chain is begun where the boot key is there") func swapped() throws
  {
    let fixture = try Self.log(cold: false)
    let other = SealedBox.publicKey(of: SealedBox.secretKey()).hex
    try fixture.sql("UPDATE keys SET sealed = x'\(other)' WHERE name = '\(KeyName.box)'")
    let keychain = try fixture.open()
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(throws: VaultError.corrupt("the public key is not the one that was stored last")) {
      try AuditStoreTests.write(1, to: keychain)
    }
    #expect(try keychain.database.lastAuditRow() == 7 && keychain.integrity == .failed)
    #expect(throws: VaultError.self) { try keychain.writeAudit(anchored: false) }
  }

  private static func check(_ keychain: Keychain) throws -> AuditWalk {
    let walk = try keychain.auditWalk(noted: [:])
    while try !walk.step(keychain, rows: 100) {}
    return walk
  }

  @Test("what nobody vouches for stays so after restarts, a rekey and a cut, and is told where the boot key is there")
  func unvouched() throws {
    let fixture = try Self.log(cold: false)
    // The entries fill more than one chain, and the second chain continues the first.
    try Self.start(fixture, withBootKey: false, 1030)
    for round in 0..<3 {
      let keychain = try fixture.open()
      try keychain.openAlways(bootKey: fixture.bootKey)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(try keychain.joinAudit(rows: .max) == [])
      let note = "nobody vouches for entries 13 to 2072: they were written without the boot key, although there is one"
      #expect(keychain.auditNote == (round == 0 ? note : nil))
      try AuditStoreTests.write(1, to: keychain)
      let walk = try Self.check(keychain)
      #expect(walk.unvouched == 2060 && walk.faults.isEmpty)
      if round == 2 {
        let rekey = try fixture.rekey(keychain)
        while try !rekey.step(records: 100) {}
        try rekey.finish()
        #expect(try Self.check(keychain).unvouched == 2060)
        #expect(try keychain.verify().isOK)
        // All of these chains except the last ones are cut; these stay unchanged.
        let size = keychain.auditFacts.bytes
        var left = size - 2000
        while keychain.auditFacts.cut < 1800 {
          _ = try keychain.cutAudit(toBytes: left, olderThan: nil, now: 5000)
          left -= 2000
        }
        let rest = try Self.check(keychain)
        #expect(rest.faults.isEmpty && rest.unvouched > 0 && rest.unvouched < 272, "\(rest.unvouched)")
      }
      try keychain.close()
    }
  }

  @Test("a MAC cannot be put in later, nor another one after it was vouched for") func macs() throws {
    for (isCold, row) in [(true, 8), (false, 1)] {
      let fixture = try Self.log(cold: false)
      if isCold { try Self.start(fixture, withBootKey: false) }
      let keychain = try fixture.unlocked()
      #expect(try keychain.joinAudit(rows: .max) == [])
      try AuditStoreTests.write(1, to: keychain)
      try keychain.close()
      let place = AuditChain.encodedCount - 80 - 32
      let sealed = "substr(sealed, 1, \(place)) || x'01020304' || substr(sealed, \(place + 5))"
      try fixture.sql("UPDATE audit SET sealed = CAST(\(sealed) AS BLOB) WHERE id = \(row)")
      let again = try fixture.unlocked()
      #expect(try Self.check(again).faults.map(\.text).contains { $0.hasSuffix("were begun by somebody else") })
    }
  }

  @Test("numbers that no log comes to are faults, and neither hang nor end a daemon")
  func numbers() throws {
    let copy = "INSERT INTO audit(id, chain, sealed) SELECT"
    let edits = [
      "UPDATE audit SET id = 1 << 40 WHERE id = 9", "UPDATE audit SET id = 1 << 60 WHERE id = 9",
      "\(copy) -9223372036854775808, -9223372036854775808, sealed FROM audit WHERE id = 8",
      "UPDATE audit SET chain = -9223372036854775808 WHERE id = 9", "UPDATE audit SET chain = 1 << 62 WHERE id = 9",
      "\(copy) 9223372036854775807, 8, sealed FROM audit WHERE id = 9", "\(copy) 0, 0, sealed FROM audit WHERE id = 8",
      "\(copy) 9 + 2000, 8, sealed FROM audit WHERE id = 9",
    ]
    for sql in edits {
      for endRow in [9, 1 << 53] as [Int64] {
        let fixture = try Self.log()
        try fixture.sql(sql)
        let forger = try fixture.open()
        var end = try #require(try forger.storedEnd())
        end.position.row = endRow
        try forger.database.putMeta(MetaName.auditEnd, end.encoded)
        try forger.close()
        #expect(try !Self.faults(fixture).isEmpty, "\(sql)")
        let reader = try fixture.unlocked()
        for walk in [try reader.auditWalk(since: 10), try reader.auditWalk(from: 13), try reader.auditWalk()] {
          while try !walk.step(reader, rows: 100) {}
        }
      }
    }
    var far = AuditPosition.start
    far.row = 1 << 54
    #expect(throws: CryptoError.self) {
      let bytes = AuditEnd(far, chain: 0).encoded
      try bytes.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditEnd(decoding: span) }
    }
  }

  @Test("the look for a chain to begin at ends after many, and the walk begins at the first entry then") func many()
    throws
  {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    _ = try keychain.joinAudit(rows: .max)
    var block = AuditBlock()
    for _ in 0..<1100 {
      block.add(.get, .ok, time: 5000, caller: nil)
      try keychain.sealAudit(&block, now: 5000)
      keychain.endAuditChain()
    }
    try keychain.writeAudit(anchored: true)
    #expect(try keychain.auditWalk(from: 1090).position.row == 2 * 1089)
    #expect(try keychain.auditWalk(from: 3).position.row == 0)
  }

  @Test("a salvage of a damaged log says in it which numbers are given again") func salvaged() throws {
    let fixture = try Self.log()
    try fixture.sql("DELETE FROM audit WHERE id = 6")
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) != [])
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000)
    while try !salvage.step(items: 10) {}
    let (entries, faults) = try AuditStoreTests.walk(salvage.target)
    #expect(faults == [] && entries.count == 9)
    #expect(entries[9]?.action == .salvage && entries[9]?.item == "the entries after 8 are lost")
    #expect(try salvage.target.verify().isOK)
  }
  @Test("without its end, or with one that cannot be read, the log is read and saved to its last row") func endless()
    throws
  {
    for sql in [
      "DELETE FROM meta WHERE name = 'audit-end'", "UPDATE meta SET value = x'00' WHERE name = 'audit-end'",
      "UPDATE meta SET value = zeroblob(length(value)) WHERE name = 'audit-end'",
    ] {
      let fixture = try Self.log()
      try fixture.sql(sql)
      let keychain = try fixture.unlocked()
      #expect(try keychain.joinAudit(rows: .max) == ["the audit log: the end of the audit log cannot be read"])
      let (entries, faults) = try AuditStoreTests.walk(keychain)
      #expect(entries.count == 14 && faults.map(\.text) == ["the end of the audit log cannot be read"])
      let reader = try keychain.auditWalk(from: 13)
      var found: [Int64] = []
      while try !reader.step(keychain, rows: 10, { number, _ in found.append(number) }) {}
      #expect(found == [13, 14])
      let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000)
      while try !salvage.step(items: 10) {}
      #expect(try AuditStoreTests.walk(salvage.target).entries.count == 15)
      #expect(try salvage.target.verify().isOK)
      // Before the unlock nothing is written either, whichever key is there.
      let cold = try Fixture(copying: fixture).open()
      #expect(throws: VaultError.self) { try AuditStoreTests.write(1, to: cold) }
      #expect(throws: VaultError.self) { try cold.writeAudit(anchored: false) }
    }
  }

  /// Adds records of one entry each, in two chains, and then another chain.
  private static func write(_ entries: [AuditEntry], to keychain: Keychain) throws {
    var block = AuditBlock()
    for entry in entries {
      block.add(entry)
      try keychain.sealAudit(&block, now: 5000)
    }
    keychain.endAuditChain()
    try AuditStoreTests.write(1, to: keychain)
  }

  @Test("a record whose texts are longer than any that is written is a fault, and ends no daemon that cuts the log")
  func longTexts() throws {
    let entries = (0..<3).map { number in
      AuditEntry(time: 5000, action: .grant, outcome: .ok, item: String(repeating: "\(number)", count: 9000))
    }
    let fixture = try Self.log()
    do {
      let forger = try fixture.open()
      try Self.write(entries, to: forger)
      try forger.close()
    }
    #expect(try !Self.faults(fixture).isEmpty)
    // The cut itself gets no such text, either.
    let other = try Self.log()
    let keychain = try other.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try Self.write(entries, to: keychain)
    let gone = try keychain.cutAudit(toBytes: 1000, olderThan: nil, now: 5000) { found, _ in
      #expect(found.allSatisfy { $0.entry.item?.utf8.count ?? 0 < 9000 })
      return found.map(\.entry)
    }
    #expect(gone > 0)
  }

  @Test("entries with texts as long as they may be stay of a cut, however many fill a record") func fullTexts() throws {
    let entries = (0..<40).map { number in
      func text(_ kind: String) -> String { String(repeating: "x", count: 1010) + "\(kind) \(number)" }
      let caller = AuditEntry.Caller(
        door: "varlink", uid: 1, pid: 1, unit: text("unit"), executable: text("executable"))
      var entry = AuditEntry(
        time: 5000 + Int64(number), action: .grant, outcome: .ok, caller: caller, item: text("item"),
        detail: text("detail"), purpose: text("purpose"))
      entry.subject = AuditEntry.Subject(first: Int64(number), second: 0)
      // Two long entries and a short one leave a record less room than another long one takes.
      if number % 4 == 2 { (entry.caller, entry.detail, entry.purpose) = (nil, nil, nil) }
      return entry
    }
    let fixture = try Self.log()
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try Self.write(entries, to: keychain)
    let gone = try keychain.cutAudit(toBytes: 1000, olderThan: nil, now: 5000, steps: 9) { found, _ in
      found.map(\.entry).filter { $0.action == .grant }
    }
    #expect(gone > 0)
    let (kept, faults) = try AuditStoreTests.walk(keychain)
    #expect(faults == [])
    for entry in entries { #expect(kept.values.contains(entry)) }
  }

  @Test("without its anchor the log is read and saved from its first row on") func unanchored() throws {
    for isCut in [false, true] {
      let fixture = try Self.log()
      let before = try fixture.unlocked()
      #expect(try before.joinAudit(rows: .max) == [])
      try AuditStoreTests.write(1, to: before)
      if isCut { #expect(try before.cutAudit(toBytes: 1000, olderThan: nil, now: 5000) >= 12) }
      let count = Int(before.auditFacts.entries - before.auditFacts.cut)
      try before.close()
      try fixture.sql("DELETE FROM meta WHERE name = 'audit-anchor'")
      let keychain = try fixture.unlocked()
      let reason = "the anchor of the audit log is not the one that was stored last"
      #expect(try keychain.joinAudit(rows: .max) == ["the audit log: \(reason)"])
      let (entries, faults) = try AuditStoreTests.walk(keychain)
      #expect(entries.count == count && faults.map(\.text) == [reason])
      let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000)
      while try !salvage.step(items: 10) {}
      // One note is about the end, and one about the beginning, if the log does not begin with the first entry.
      #expect(try AuditStoreTests.walk(salvage.target).entries.count == count + (isCut ? 2 : 1))
      #expect(try salvage.target.verify().isOK)
    }
  }
}
