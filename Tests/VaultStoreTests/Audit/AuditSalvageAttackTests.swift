import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Changes by somebody who has the files and none of the keys, for which a salvage must leave no other entries out.
@Suite("The audit log in a salvage after an attack") struct AuditSalvageAttackTests {
  /// Makes a log of three parts with two entries each: one of the unlocked vault, one of a cold start, and one of the
  /// unlocked vault. The third row begins the chain of the cold start, and the sixth row is the last one.
  private static func log() throws -> Fixture {
    let fixture = try Fixture.withItems(1)
    try AuditSalvageTests.vouch(fixture)
    try AuditSalvageTests.add(1, to: fixture)
    try AuditSalvageTests.vouch(fixture)
    return fixture
  }

  private static let anchorLoss = "DELETE FROM meta WHERE name = 'audit-anchor'"

  // MARK: Beginnings of chains

  /// Puts the beginning of a chain, which no key vouches for, behind the log or in the place of another one.
  private static func forge(
    _ fixture: Fixture, at row: Int64? = nil, _ origin: AuditChain.Origin, isEndMoved: Bool,
    _ change: (inout AuditPosition) throws -> Void
  ) throws {
    let forger = try fixture.open()
    let end = try #require(try forger.storedEnd())
    var (position, ended) = (end.position, end.mac)
    if let row {
      let chain = try Keychain.chain(try #require(try forger.database.auditRow(row)))
      (position, ended) = (AuditPosition(before: chain, in: row), chain.ended)
      try forger.database.dropAudit(row)
    }
    try change(&position)
    let chain = try AuditChain(
      origin: origin, time: 5000, after: position, ended: ended, seed: RandomBytes.secret(count: 32),
      publicKey: try forger.checkedPublicKey())
    let number = position.row + 1
    try forger.database.insertAudit(AuditRow(row: number, chain: number, bytes: chain.encoded))
    position.pass(chain)
    if isEndMoved { try forger.database.putMeta(MetaName.auditEnd, AuditEnd(position, chain: number).encoded) }
    try forger.close()
  }

  private static let changes: [@Sendable (inout AuditPosition) throws -> Void] = [
    { $0.entries += 1000 }, { $0.link = AuditChain.link(1, after: $0.link, [1]) }, { _ in },
  ]

  @Test(
    "a forged beginning of a chain behind the log takes no entry",
    arguments: [.cold, .continued] as [AuditChain.Origin], changes.indices)
  func behind(origin: AuditChain.Origin, change: Int) throws {
    for isEndMoved in [true, false] {
      for losesAnchor in [false, true] {
        let fixture = try Self.log()
        try Self.forge(fixture, origin, isEndMoved: isEndMoved, Self.changes[change])
        if losesAnchor { try fixture.sql(Self.anchorLoss) }
        let saved = try AuditSalvageTests.salvaged(fixture)
        #expect(saved.numbers == Array(1...6), "\(saved.numbers)")
      }
    }
  }

  @Test("a forged beginning of a chain within the log takes no entry before it", arguments: changes.indices)
  func within(change: Int) throws {
    for losesAnchor in [false, true] {
      let fixture = try Self.log()
      try Self.forge(fixture, at: 3, .cold, isEndMoved: false, Self.changes[change])
      if losesAnchor { try fixture.sql(Self.anchorLoss) }
      let saved = try AuditSalvageTests.salvaged(fixture)
      #expect(saved.numbers == [1, 2, 5, 6] && saved.notes.contains("the entries 3 to 4 are lost"), "\(saved.notes)")
    }
  }

  // MARK: Rows that no log has

  @Test("a row that no log has takes no more than a damaged one", arguments: [false, true]) func oddRow(
    losesAnchor: Bool
  ) throws {
    let long = "zeroblob(20000)"
    let edits: [(sql: String, numbers: [Int64])] = [
      ("INSERT INTO audit VALUES(7, 7, \(long))", [1, 2, 3, 4, 5, 6]),
      ("INSERT INTO audit VALUES(1 << 60, 1 << 60, x'00')", [1, 2, 3, 4, 5, 6]),
      ("INSERT INTO audit VALUES((1 << 53) + 1, 1, x'00')", [1, 2, 3, 4, 5, 6]),
      ("INSERT INTO audit VALUES(1 << 53, 1, x'00')", [1, 2, 3, 4, 5, 6]),
      ("INSERT INTO audit VALUES(-5, -5, \(long))", [1, 2, 3, 4, 5, 6]),
      ("UPDATE audit SET sealed = \(long) WHERE id = 4", [1, 2, 5, 6]),
      ("UPDATE audit SET sealed = \(long) WHERE id = 3", [1, 2, 5, 6]),
      ("UPDATE audit SET sealed = \(long) WHERE id = 1", [5, 6]),
      ("UPDATE audit SET sealed = \(long) WHERE id = 6", [1, 2, 3, 4]),
    ]
    for (sql, numbers) in edits {
      let fixture = try Self.log()
      try fixture.sql(sql)
      if losesAnchor { try fixture.sql(Self.anchorLoss) }
      let saved = try AuditSalvageTests.salvaged(fixture)
      #expect(Set(saved.numbers).isSuperset(of: numbers), "\(sql) \(saved.numbers)")
      #expect(!saved.losses.isEmpty && saved.numbers.last == numbers.last, "\(sql) \(saved.numbers)")
    }
  }

  @Test("such a row is a fault, and a reader gets the entries before it and behind it") func oddRowRead() throws {
    for row in [3, 4] {
      let fixture = try Self.log()
      try fixture.sql("UPDATE audit SET sealed = zeroblob(20000) WHERE id = \(row)")
      let keychain = try fixture.unlocked()
      let (entries, faults) = try AuditStoreTests.walk(keychain)
      #expect(entries.keys.sorted() == [1, 2, 5, 6] && !faults.isEmpty, "\(faults)")
    }
  }

  // MARK: The end

  /// Changes of the end of the log, which nothing authenticates.
  private enum FalseEnd: CaseIterable {
    case missing, start, old, unreadable

    func put(_ fixture: Fixture, old: AuditEnd) throws {
      let forger = try fixture.open()
      switch self {
      case .missing: break
      case .start: try forger.database.putMeta(MetaName.auditEnd, AuditEnd(.start, chain: 0).encoded)
      case .old: try forger.database.putMeta(MetaName.auditEnd, old.encoded)
      case .unreadable: try forger.database.putMeta(MetaName.auditEnd, [0])
      }
      try forger.close()
      if self == .missing { try fixture.sql("DELETE FROM meta WHERE name = 'audit-end'") }
    }
  }

  /// Makes the same log with a false end. Another part of the unlocked vault and one of a cold start follow the end
  /// that is put back.
  private static func log(_ false: FalseEnd) throws -> Fixture {
    let fixture = try Self.log()
    let keychain = try fixture.open()
    let old = try #require(try keychain.storedEnd())
    try keychain.close()
    try AuditSalvageTests.vouch(fixture)
    try AuditSalvageTests.add(1, to: fixture)
    try `false`.put(fixture, old: old)
    return fixture
  }

  @Test("a false end of the log takes no entry, and is told", arguments: FalseEnd.allCases)
  private func falseEnd(_ false: FalseEnd) throws {
    for losesAnchor in [false, true] {
      let fixture = try Self.log(`false`)
      if losesAnchor { try fixture.sql(Self.anchorLoss) }
      let saved = try AuditSalvageTests.salvaged(fixture)
      // No key vouches for the last two, which the anchor would show to be new.
      #expect(saved.numbers == Array(1...(losesAnchor ? 8 : 10)) && !saved.losses.isEmpty, "\(saved.numbers)")
      let note = losesAnchor ? "the entries after 8 are lost" : "entries after 10 may be lost"
      #expect(saved.notes == [note], "\(saved.notes)")
    }
  }

  @Test(
    "a reader gets all entries in spite of a false end, also where the daemon tried to write",
    arguments: FalseEnd.allCases)
  private func falseEndRead(_ false: FalseEnd) throws {
    for writes in [false, true] {
      let fixture = try Self.log(`false`)
      let keychain = try fixture.open()
      if writes { #expect(throws: VaultError.self) { try AuditStoreTests.write(1, to: keychain) } }
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(try keychain.joinAudit(rows: .max) != [] && keychain.hasFailed)
      for walk in [try keychain.auditWalk(), try keychain.auditWalk(from: 1), try keychain.auditWalk(noted: [:])] {
        var numbers: [Int64] = []
        while try !walk.step(keychain, rows: 2, { number, _ in numbers.append(number) }) {}
        #expect(Set(numbers).isSuperset(of: 1...10), "\(numbers)")
        #expect(!walk.faults.isEmpty && walk.checked.entries >= 10)
      }
    }
  }

  @Test("a log whose rows and end are gone, but not its anchor, is lost") func gone() throws {
    let fixture = try Self.log()
    try fixture.sql("DELETE FROM meta WHERE name = 'audit-end'", "DELETE FROM audit")
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) != [])
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000)
    while try !salvage.step(items: 3) {}
    #expect(!salvage.result.losses.isEmpty)
    let (entries, _) = try AuditStoreTests.walk(salvage.target)
    #expect(entries.values.map(\.item) == ["all entries are lost"])
  }

  // MARK: Whole chains

  /// Puts a chain with a record of one entry in each row after its beginning in the place of what is there.
  private static func forgeChain(_ fixture: Fixture, at row: Int64, _ origin: AuditChain.Origin, records: Int) throws {
    let forger = try fixture.open()
    let there = try Keychain.chain(try #require(try forger.database.auditRow(row)))
    let position = AuditPosition(before: there, in: row)
    let seed = RandomBytes.secret(count: 32)
    var chain = try AuditChain(
      origin: origin, time: 5000, after: position, ended: there.ended, seed: seed,
      publicKey: try forger.checkedPublicKey())
    let mark = unsafe RecordMark(RandomBytes.array(count: 32).span.bytes)
    if origin != .cold { chain.mac = try #require(mark) }
    var writing = AuditWriting(
      chain, AuditKey(seed: seed), after: position, written: position, unwritten: [], standing: nil,
      isAfterEarly: true, known: nil, lastLink: position.link)
    for _ in 0..<records {
      var block = AuditBlock()
      block.add(.get, .ok, time: 5000, caller: nil, item: "forged")
      writing.seal(&block, forger.vault)
    }
    for row in writing.unwritten {
      if try forger.database.auditRow(row.row) != nil { try forger.database.dropAudit(row.row) }
      try forger.database.insertAudit(row)
    }
    try forger.close()
  }

  /// Makes a log of three chains of the unlocked vault, in the rows from 1, 7 and 9 on, and with ten, two and two
  /// entries. The anchor covers the first two.
  private static func vouchedLog() throws -> Fixture {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(5, to: keychain)
    try keychain.close()
    for _ in 0..<2 { try AuditSalvageTests.vouch(fixture) }
    return fixture
  }

  @Test(
    "a chain that somebody has put in the place of a vouched one is not saved, whoever it says has begun it",
    arguments: [.unlocked, .continued, .cold] as [AuditChain.Origin])
  func replaced(origin: AuditChain.Origin) throws {
    for losesAnchor in [false, true] {
      for (row, records, genuine) in [
        (1, 2, Array(11...14)), (1, 5, Array(11...14)), (7, 1, Array(1...10) + [13, 14]),
      ] as [(Int64, Int, [Int64])] {
        let fixture = try Self.vouchedLog()
        try Self.forgeChain(fixture, at: row, origin, records: records)
        if losesAnchor { try fixture.sql(Self.anchorLoss) }
        let saved = try AuditSalvageTests.salvaged(fixture)
        #expect(saved.numbers == genuine, "\(row) \(records) \(losesAnchor): \(saved.numbers)")
        #expect(!saved.entries.values.contains { $0.item == "forged" } && saved.unvouched == 0)
        if !losesAnchor {
          let lost = row == 1 ? "the entries 1 to 10 are lost" : "the entries 11 to 12 are lost"
          #expect(saved.notes.first == lost, "\(saved.notes)")
        }
      }
    }
  }

  @Test("a log whose beginning and anchor are gone says so") func withoutBeginning() throws {
    let fixture = try Self.vouchedLog()
    try fixture.sql(Self.anchorLoss, "DELETE FROM audit WHERE id <= 6")
    let saved = try AuditSalvageTests.salvaged(fixture)
    #expect(saved.numbers == Array(11...14) && saved.notes.contains("entries before entry 11 may be lost"))
  }

  @Test(
    "a check counts the entries of a replaced chain as unvouched",
    arguments: [.unlocked, .continued, .cold] as [AuditChain.Origin], [(1, 5), (7, 1), (9, 1)] as [(Int64, Int)])
  func counted(origin: AuditChain.Origin, place: (row: Int64, records: Int)) throws {
    let fixture = try Self.vouchedLog()
    try Self.forgeChain(fixture, at: place.row, origin, records: place.records)
    do {
      let keychain = try fixture.unlocked()
      let walk = try keychain.auditWalk(noted: [:])
      var forged: Int64 = 0
      while try !walk.step(keychain, rows: 2, { if $1.item == "forged" { forged += 1 } }) {}
      #expect(!walk.faults.isEmpty && forged == place.records && walk.unvouched == forged, "\(walk.unvouched)")
    }
    // The saved part of it is counted, too.
    let saved = try AuditSalvageTests.salvaged(fixture)
    #expect(saved.entries.values.count { $0.item == "forged" } <= saved.unvouched)
  }

  // MARK: Pages

  @Test("a row that cannot be read, as its record says, costs its chain and no other") func damagedRecord() throws {
    let fixture = try Fixture.withItems(1)
    for _ in 0..<30 { try AuditSalvageTests.vouch(fixture) }
    var whole = try #require(try fixture.files()["vault.db"])
    // The size of a row's record stands before its number, the size of the record's header and the types. Row 20 is the
    // record of the tenth chain.
    let row = try fixture.open().database.auditRow(20)
    let sealed = try #require(row).bytes
    let place = try #require(whole.range(of: Data(sealed))).lowerBound
    whole[place - 5] ^= 0x7F
    try whole.write(to: URL(fileURLWithPath: fixture.path("vault.db")))
    let saved = try AuditSalvageTests.salvaged(fixture)
    #expect(saved.numbers.first == 1 && saved.numbers.last == 60 && saved.numbers.count >= 58, "\(saved.numbers)")
  }

  @Test("a damaged page costs what is on it, and nothing before or behind it") func damagedPage() throws {
    let fixture = try Fixture.withItems(1)
    for _ in 0..<90 { try AuditSalvageTests.vouch(fixture) }
    let last: Int64 = 180
    let whole = try #require(try fixture.files()["vault.db"])
    var (amid, lostAll) = (0, 0)
    for page in 1..<(whole.count / 4096) {
      var damaged = whole
      for offset in 0..<64 { damaged[page * 4096 + offset] ^= 0x55 }
      try damaged.write(to: URL(fileURLWithPath: fixture.path("vault.db")))
      // Without the keys or the clock there is no vault to salvage.
      guard (try? fixture.unlocked()) != nil, let saved = try? AuditSalvageTests.salvaged(fixture) else { continue }
      let numbers = saved.numbers
      guard numbers.count < last else { continue }
      #expect(!saved.notes.isEmpty)
      if numbers.isEmpty {
        lostAll += 1
      } else {
        #expect(numbers.count > last / 2, "page \(page): \(numbers)")
        if numbers.first == 1, numbers.last == last { amid += 1 }
      }
    }
    // Only the root of the log's tree leads to all of it.
    #expect(lostAll <= 1)
    #expect(amid >= 2)
  }
}
