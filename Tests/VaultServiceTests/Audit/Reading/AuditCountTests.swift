import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("What the audit log counts") struct AuditCountTests {
  @Test("gets that are equal in all but time are one entry and a count") func coalesced() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    try stand.set("b")
    for _ in 0..<5 { AuditTests.get(stand, "a") }
    for _ in 0..<2 { AuditTests.get(stand, "b") }
    for _ in 0..<2 { AuditTests.get(stand, "a", for: "another purpose") }
    stand.hands.pass(seconds: 61)
    AuditTests.get(stand, "a")
    stand.hands.pass(seconds: 1)
    let gets = try AuditTests.told(stand).filter { $0.hasPrefix("get") }
    #expect(
      gets == ["get ok a", "get ok b", "get ok a", "get ok a ×4", "get ok b ×1", "get ok a ×1", "get ok a"])
  }

  @Test("what is not a get, was refused, or is of a name that only looks the same is told apart") func equal() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("\u{e9}")
    try stand.set("e\u{301}")
    for _ in 0..<2 { AuditTests.get(stand, "nope") }
    for _ in 0..<2 { stand.vault.audit.record(.use, .ok, stand.administrator, item: "a") }
    for name in ["\u{e9}", "e\u{301}"] { AuditTests.get(stand, name) }
    for version in [1, 2, 1] {
      _ = try? stand.items.get(ItemName("\u{e9}"), version: version, for: stand.administrator) { _, _, _ in }
    }
    stand.hands.pass(seconds: 61)
    let told = try AuditTests.told(stand).filter { $0.hasPrefix("get") || $0.hasPrefix("use") }
    #expect(
      told.map { Array($0.unicodeScalars) }
        == [
          "get missing nope", "use ok a", "use ok a", "get ok \u{e9}", "get ok e\u{301}", "get ok \u{e9}",
          "get missing \u{e9}", "get missing nope ×1", "get ok \u{e9} ×1",
        ].map { Array($0.unicodeScalars) }, "\(told)")
    // A count names its own outcome, for a reader who has only the count.
    let keychain = try stand.vault.keychain()
    let walk = try keychain.auditWalk(noted: [:])
    var counts: [AuditEntry] = []
    while try !walk.step(keychain, rows: 8, { _, entry in if entry.repeats != nil { counts.append(entry) } }) {}
    #expect(counts.map(\.outcome) == [.missing, .ok] && counts.allSatisfy { $0.action == .get && $0.item == nil })
  }

  @Test("gets of two versions are two entries") func versions() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    var change = ItemChange(name: try ItemName("a"), update: true)
    change.kind = .note
    _ = try stand.items.set(change, .bytes(count: 1), for: stand.administrator) { _ in true }
    for version in [1, 2, 2, 1] {
      _ = try stand.items.get(ItemName("a"), version: version, for: stand.administrator) { _, _, _ in }
    }
    stand.hands.pass(seconds: 61)
    let gets = try AuditTests.told(stand).filter { $0.hasPrefix("get") }
    #expect(gets == ["get ok a", "get ok a", "get ok a ×1", "get ok a ×1"], "\(gets)")
  }

  @Test("a minute is one by the clock of the log, also over a sleep and a clock that is set back") func minute() throws
  {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    for wall: Int64 in [2000, 2001, 2059, 2060, 9000, 9001, 8000, 8001] {
      stand.hands.wall.value = wall
      AuditTests.get(stand, "a")
    }
    stand.hands.pass(seconds: 60)
    let gets = try AuditTests.told(stand).filter { $0.hasPrefix("get") }
    #expect(
      gets == [
        "get ok a", "get ok a ×2", "get ok a", "get ok a", "get ok a ×1", "get ok a", "get ok a ×1",
      ])
  }

  @Test("what nobody repeats wakes nobody after a second") func asleep() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    AuditTests.get(stand, "a")
    stand.hands.pass(seconds: 2)
    #expect(stand.hands.isAtRest)
    AuditTests.get(stand, "a")
    #expect(!stand.hands.isAtRest)
    stand.hands.pass(seconds: 62)
    #expect(stand.hands.isAtRest)
  }

  @Test("nobody keeps the gets of others from being counted") func flood() throws {
    let stand = try RoomStand.unlocked(system: true)
    for number in 0..<4 * AuditRepeats.most {
      AuditTests.get(stand, "\(number % (2 * AuditRepeats.most))", AuditTests.service)
    }
    for _ in 0..<3 { AuditTests.get(stand, "seen") }
    stand.hands.pass(seconds: 61)
    let told = try AuditTests.told(stand)
    #expect(told.contains("get missing seen ×2"))
    // The first equal refusals are counted; those beyond the room for counts are entries.
    #expect(told.filter { $0 == "get denied 1" } == ["get denied 1"] && told.contains("get denied 1 ×1"))
    let beyond = "get denied \(AuditRepeats.most)"
    #expect(told.filter { $0.hasPrefix(beyond) } == [beyond, beyond])
  }

  /// Fails if a chain has a count of an entry in another chain.
  private static func expectWhole(_ stand: RoomStand) throws {
    stand.vault.audit.write()
    let keychain = try stand.vault.keychain()
    let walk = try keychain.auditWalk(noted: [:])
    var rows: [Int64: Int64] = [:]
    var counts: [(of: Int64, row: Int64)] = []
    while try !walk.step(
      keychain, rows: 1,
      { number, entry in
        rows[number] = walk.position.row + 1
        if let of = entry.repeats?.of { counts.append((of, walk.position.row + 1)) }
      })
    {}
    func chain(_ row: Int64) throws -> Int64? { try keychain.database.auditRow(row)?.chain }
    #expect(walk.faults.isEmpty)
    for (of, row) in counts { #expect(try chain(try #require(rows[of])) == chain(row), "a count of entry \(of)") }
  }

  @Test("an entry and its count are in one chain over an unlock, a long chain, a day and a cut")
  func whole() throws {
    let stand = try RoomStand.unlocked()
    let audit = stand.vault.audit
    for name in ["a", "b"] { try stand.set(name) }
    func again() throws { for name in ["a", "b", "a", "b", "a"] { AuditTests.get(stand, name) } }
    try again()
    audit.write()
    try again()
    stand.vault.lock(because: .asked)
    try stand.unlock()
    try again()
    audit.write()
    try again()
    // The tally may also begin a chain, and so may the record of a flood of entries.
    for number in 0..<40 {
      for one in 0..<100 { audit.record(.use, .ok, stand.administrator, item: "\(number)/\(one) \(Self.long)") }
      try again()
      audit.write()
    }
    stand.hands.wall.value += 2 * 86_400
    try again()
    audit.write()
    stand.hands.wall.value += 30
    try again()
    stand.hands.pass(seconds: 61)
    #expect(try AuditTests.found(stand).contains { $0.repeats?.of != nil })
    try Self.expectWhole(stand)
    let keychain = try stand.vault.keychain()
    var settings = audit.settings
    for quarters: Int64 in [3, 2, 1] {
      try again()
      audit.write(anchored: true)
      settings.size = keychain.auditFacts.bytes / 4 * quarters
      audit.configure(settings)
      audit.cut(keychain)
      try again()
      stand.hands.pass(seconds: 61)
      try Self.expectWhole(stand)
    }
  }

  private static let long = String(repeating: "x", count: 400)

  @Test("where an entry was taken out and written again, what is counted after it is told with its item") func cut()
    throws
  {
    let stand = try RoomStand.unlocked(system: true)
    for name in ["a", "v"] { try stand.set(name) }
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("v"), try Rights(parsing: "get"), until: nil,
      for: stand.administrator)
    let audit = stand.vault.audit
    let keychain = try stand.vault.keychain()
    let caller = RoomStand.caller(990)
    for _ in 0..<50 { AuditTests.get(stand, "v", caller) }
    audit.write(anchored: true)
    keychain.endAuditChain()
    for number in 0..<100 { audit.record(.use, .ok, stand.administrator, item: "\(number) \(Self.long)") }
    audit.write(anchored: true)
    keychain.endAuditChain()
    AuditTests.get(stand, "a")
    audit.write(anchored: true)
    var settings = audit.settings
    settings.size = keychain.auditFacts.bytes / 2
    audit.configure(settings)
    audit.cut(keychain)
    #expect(keychain.auditFacts.cut > 0)
    for _ in 0..<50 { AuditTests.get(stand, "v", caller) }
    stand.hands.pass(seconds: 61)
    let found = try AuditTests.found(stand).filter { $0.caller?.uid == 990 && $0.item == "v" }
    #expect(found.reduce(0) { $0 + Int($1.repeats?.count ?? 1) } == 100, "\(found)")
  }

  @Test("what was counted is written before the store is closed") func closed() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    for _ in 0..<3 { AuditTests.get(stand, "a") }
    stand.vault.closeStore()
    stand.vault.openStore(because: .start)
    try stand.unlock()
    #expect(try AuditTests.told(stand).contains("get ok a ×2"))
  }

  @Test("a count is told with what it is about, also by who reads from after its entry on") func countsAlone() throws {
    let stand = try RoomStand.unlocked()
    for wall: Int64 in [2000, 2030] {
      stand.hands.wall.value = wall
      AuditTests.get(stand, "a")
      // This ends the chain and begins another.
      try stand.vault.keychain().endAuditChain()
    }
    stand.hands.pass(seconds: 61)
    var filter = AuditFilter()
    filter.since = 2001
    filter.items = try ItemPattern("a")
    #expect(try AuditTests.told(stand, filter) == ["get missing a ×1"])
  }

  @Test("beyond its part of the log a subject is counted, and the entries of others and its own earlier ones stay")
  func budgets() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    let stand = try RoomStand.unlocked(settings, system: true)
    let long = String(repeating: "x", count: 500)
    for number in 0..<2000 { AuditTests.get(stand, "\(long)\(number)", AuditTests.service) }
    AuditTests.get(stand, "\(long)seen", RoomStand.caller(991))
    AuditTests.get(stand, "seen", stand.administrator)
    stand.hands.pass(seconds: 3601)
    let told = try AuditTests.told(stand)
    let own = told.filter { $0.hasPrefix("get denied \(long)") }
    let entries = own.filter { !$0.contains("×") }
    #expect(entries.count > 15 && entries.count < 60 && own.first == "get denied \(long)0")
    // All callers without any right share one part, which the flood has used up; the administrator has a part of their
    // own.
    #expect(told.contains("get missing seen") && !told.contains("get denied \(long)seen"))
    // The first item is told at once; if there are too many items to tell apart, the count names none.
    #expect(own.filter { $0.hasSuffix("×1") }.count > 1)
    #expect(told.contains { $0.hasPrefix("get denied  ×") })
  }

  @Test("the first event of an hour beyond a part has an entry at once, also after the clock was set back")
  func setBack() {
    var counts = AuditCounts()
    let times: [Int64] = [5000, 5001, 8599, 8600, 4000, 4001, 7599, 7600]
    let first = times.filter { counts.isFirst(.get, .ok, at: $0) }
    #expect(first == [5000, 8600, 4000, 7600])
    // Events of another sort have an hour of their own.
    #expect(counts.isFirst(.get, .denied, at: 7601) && counts.isFirst(.use, .ok, at: 7601))
  }

  @Test("a caller who connects for each call, and a call a second, have all that they make count as theirs")
  func wholeSize() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    for isAlone in [false, true] {
      let stand = try RoomStand.unlocked(settings, system: true)
      let long = "/" + String(repeating: "d", count: 700)
      let before = try stand.vault.keychain().auditFacts.bytes
      for number in 0..<3000 {
        AuditTests.get(stand, "\(number)", isAlone ? RoomStand.caller(991) : RoomStand.caller(991, executable: long))
        if isAlone { stand.hands.pass(seconds: 1) }
      }
      stand.hands.pass(seconds: 1)
      let taken = try stand.vault.keychain().auditFacts.bytes - before
      #expect(taken > 8 << 10 && taken < 40 << 10, "\(isAlone): \(taken)")
    }
  }
}
