import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

/// The log of a damaged store, and its copy in the store that a salvage makes.
@Suite("The audit log in a salvage") struct AuditSalvageTests {
  static func add(_ records: Int, to fixture: Fixture, chains: Int = 1) throws {
    let cold = try fixture.open()
    for _ in 0..<chains {
      try AuditStoreTests.write(records, to: cold)
      cold.endAuditChain()
    }
    try cold.close()
  }

  /// Unlocks, and writes a record.
  static func vouch(_ fixture: Fixture) throws {
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    try AuditStoreTests.write(1, to: keychain)
    try keychain.close()
  }

  /// Damages of the anchor or of its record.
  private static let losses = [
    "UPDATE meta SET value = CAST(value || x'00' AS BLOB) WHERE name = 'audit-anchor'",
    "DELETE FROM meta WHERE name = 'audit-anchor'",
    "UPDATE hashes SET record = x'00' WHERE class = 1",
  ]

  struct Saved {
    let entries: [Int64: AuditEntry]
    let anchor: AuditAnchor
    let losses: [String]
    /// The number of entries that nothing vouches for, according to a check of what is saved.
    let unvouched: Int64

    /// The log's own entries about losses.
    var notes: [String] {
      entries.sorted { $0.key < $1.key }.map(\.value).filter { $0.action == .salvage }.compactMap(\.item)
    }

    /// The numbers of the entries that the log had before.
    var numbers: [Int64] { entries.filter { $0.value.action != .salvage }.keys.sorted() }
  }

  private static func unvouched(_ keychain: Keychain) throws -> Int64 {
    let walk = try keychain.auditWalk(noted: [:])
    while try !walk.step(keychain, rows: 5) {}
    return walk.unvouched
  }

  /// Salvages the store, and expects what is saved to be whole, and to stay so.
  static func salvaged(_ fixture: Fixture, mostEarly: Int64 = .max) throws -> Saved {
    let saved: Saved
    do {
      let keychain = try fixture.unlocked()
      _ = try keychain.joinAudit(rows: .max)
      let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000, mostEarly: mostEarly)
      while try !salvage.step(items: 3) {}
      let (entries, faults) = try AuditStoreTests.walk(salvage.target)
      #expect(faults == [])
      #expect(try salvage.target.verify().isOK)
      saved = Saved(
        entries: entries, anchor: try #require(try salvage.target.anchor()),
        losses: salvage.result.losses.map(\.text), unvouched: try unvouched(salvage.target))
    }
    for note in saved.notes where note != "all entries are lost" {
      #expect(saved.losses.contains("the audit log: \(note)"), "\(saved.losses)")
    }
    let again = try Keychain(opening: fixture.path("salvage"))
    try again.unlock(vaultKey: fixture.vaultKey)
    #expect(try again.joinAudit(rows: .max) == [])
    again.endAuditChain()
    try AuditStoreTests.write(1, to: again)
    #expect(try again.verify().isOK)
    let facts = again.auditFacts
    let stored = try again.database.eachLength()
    #expect(facts.bytes == stored, "the size of the log is that of its rows")
    #expect(try again.cutAudit(toBytes: 1, olderThan: nil, now: 6000) > 0)
    #expect(try again.verify().isOK && again.anchor()?.gaps == [])
    return saved
  }

  @Test("where the anchor is lost, what somebody has added makes no vouched entry go", arguments: losses)
  func anchorLost(loss: String) throws {
    let fixture = try Fixture.withItems(2)
    try Self.vouch(fixture)
    try Self.add(20, to: fixture)
    try Self.vouch(fixture)
    try Self.add(400, to: fixture, chains: 2)
    try fixture.sql(loss)
    // The chains that somebody has added have no room. What was written before the earlier unlock is vouched for, and
    // counts.
    let saved = try Self.salvaged(fixture, mostEarly: 6000)
    #expect(saved.numbers == Array(1...44) && saved.notes == ["the entries after 44 are lost"], "\(saved.notes)")
    #expect(saved.anchor.early > 2000 && saved.anchor.early <= 6000)
    let leftOut = "the entries 45 to 1644 of the audit log are left out"
    #expect(saved.losses.contains("\(leftOut): no key vouches for what stands there"), "\(saved.losses)")
    // Room does not make them stay, because they may stand in the place of vouched ones.
    let all = try Self.salvaged(fixture)
    #expect(all.numbers == Array(1...44) && all.notes == ["the entries after 44 are lost"], "\(all.notes)")
    // Vouched entries stay even where there is no room at all.
    let least = try Self.salvaged(fixture, mostEarly: 500)
    #expect(least.numbers == Array(1...44) && least.anchor.early == 500)
  }

  @Test("where the anchor is lost, what was written before unlocks counts less with each day") func aged() throws {
    let fixture = try Fixture.withItems(1)
    try Self.vouch(fixture)
    try Self.add(20, to: fixture)
    try Self.vouch(fixture)
    try fixture.sql(Self.losses[0])
    let first = try Self.salvaged(fixture).anchor.early
    #expect(first > 2000)
    let other = try Fixture.withItems(1)
    try Self.vouch(other)
    try Self.add(20, to: other)
    try Self.vouch(other)
    let keychain = try other.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    for day: Int64 in 0..<7 {
      var block = AuditBlock()
      block.add(.get, .ok, time: 5000, caller: nil)
      try keychain.sealAudit(&block, now: 5000 + day * 86_400)
      try keychain.writeAudit(anchored: true)
    }
    try keychain.close()
    try other.sql(Self.losses[0])
    let last = try Self.salvaged(other).anchor.early
    #expect(last < first / 2 && last > first / 4, "\(first) \(last)")
  }

  /// Makes a log with three gaps, of which each has entries of a locked daemon before it and after it, and then those
  /// of an unlocked one.
  private static func withGaps() throws -> (fixture: Fixture, gaps: [AuditGap], entries: [Int64]) {
    let fixture = try Fixture.withItems(2)
    try vouch(fixture)
    var gaps: [AuditGap] = []
    var entries: [Int64] = []
    for round in 1...3 {
      try add(2, to: fixture, chains: 10)
      let keychain = try fixture.unlocked()
      let early = try keychain.anchor()?.early ?? 0
      let bytes = try #require(keychain.unjoinedAuditBytes)
      #expect(try AuditGapTests.drop(keychain, beyond: early + (bytes - early) / 2) ?? 0 > 10)
      #expect(try keychain.joinAudit(rows: .max) == [])
      try AuditStoreTests.write(2, to: keychain)
      gaps = try #require(try keychain.anchor()).gaps
      #expect(gaps.count == round)
      entries = try AuditStoreTests.walk(keychain).entries.keys.sorted()
      try keychain.close()
    }
    return (fixture, gaps, entries)
  }

  /// The ranges that numbers leave out.
  private static func missing(_ numbers: [Int64]) -> [String] {
    zip(numbers, numbers.dropFirst()).filter { $1 > $0 + 1 }.map { one, next in
      next == one + 2 ? "entry \(one + 1) is lost" : "the entries \(one + 1) to \(next - 1) are lost"
    }
  }

  @Test("where the anchor of a log with gaps is lost, all entries are saved, and the log says which are missing")
  func gapsLost() throws {
    for loss in Self.losses {
      let (fixture, _, entries) = try Self.withGaps()
      try fixture.sql(loss)
      let saved = try Self.salvaged(fixture)
      #expect(saved.numbers == entries && saved.anchor.gaps.count == 3)
      let last = try #require(entries.last)
      #expect(saved.notes == Self.missing(entries) + ["entries after \(last) may be lost"])
    }
  }

  @Test("after damage, the next chain that an unlocked vault has vouched for goes on", arguments: 0..<6)
  func goingOn(kind: Int) throws {
    let (fixture, gaps, entries) = try Self.withGaps()
    let after = gaps[1].rows.upperBound + 1
    let number = "CAST(substr(sealed, 1, 18) || x'%' || substr(sealed, 27) AS BLOB)"
    let sql = [
      "UPDATE audit SET sealed = zeroblob(length(sealed)) WHERE id = \(after)",
      "DELETE FROM audit WHERE id = \(after)",
      "DELETE FROM audit WHERE id = \(after + 1)",
      "UPDATE audit SET sealed = \(number.replacing("%", with: "0000010000000000")) WHERE id = \(after)",
      "UPDATE audit SET sealed = \(number.replacing("%", with: "0000000000000400")) WHERE id = \(after)",
      "DELETE FROM audit WHERE id BETWEEN \(gaps[1].rows.lowerBound - 2) AND \(gaps[1].rows.lowerBound - 1)",
    ]
    try fixture.sql(sql[kind])
    let saved = try Self.salvaged(fixture)
    // No more than the chain that was hit is lost.
    #expect(saved.numbers.count >= entries.count - 6 && Set(saved.numbers).isSubset(of: entries), "\(saved.numbers)")
    #expect(saved.numbers.last == entries.last)
    #expect(!saved.notes.isEmpty && Set(saved.notes).isSubset(of: Self.missing(saved.numbers)), "\(saved.notes)")
  }

  @Test("what no unlocked vault has vouched for is not saved behind damage, whatever numbers it has") func forged()
    throws
  {
    for entries in [0, 1000, 1 << 50] as [Int64] {
      let fixture = try Fixture.withItems(1)
      try Self.vouch(fixture)
      try fixture.sql("DELETE FROM audit WHERE id = 2")
      try AuditJumpTests.change(fixture) { $0.entries += entries }
      try Self.add(3, to: fixture)
      let saved = try Self.salvaged(fixture)
      #expect(saved.numbers == [] && saved.notes == ["all entries are lost"], "\(saved.notes)")
    }
  }

  @Test("a log that begins with what somebody has put there is saved from the first vouched chain on") func atStart()
    throws
  {
    for number in ["0000000000000400", "0000000000001F00", "0000000000010000"] {
      let fixture = try Fixture.withItems(1)
      for _ in 0..<4 { try Self.vouch(fixture) }
      try fixture.sql(
        Self.losses[0],
        "UPDATE audit SET sealed = CAST(substr(sealed, 1, 18) || x'\(number)' || substr(sealed, 27) AS BLOB) "
          + "WHERE id = 1")
      let saved = try Self.salvaged(fixture)
      #expect(saved.numbers == [3, 4, 5, 6, 7, 8])
      #expect(saved.notes == ["entries before entry 3 may be lost", "entries after 8 may be lost"], "\(saved.notes)")
    }
    // Without any such chain, the items are saved all the same.
    let fixture = try Fixture.withItems(1)
    try Self.add(2, to: fixture)
    try fixture.sql(
      "INSERT INTO meta(name, value) VALUES('audit-anchor', x'00')",
      "UPDATE audit SET sealed = CAST(substr(sealed, 1, 18) || x'0000000000001F00' || substr(sealed, 27) AS BLOB)"
        + " WHERE id = 1")
    let saved = try Self.salvaged(fixture)
    #expect(saved.numbers == [] && saved.notes == ["all entries are lost"], "\(saved.notes)")
  }

  @Test("a log that is salvaged while it is too long is cut later") func uncut() throws {
    let fixture = try Fixture.withItems(1)
    for _ in 0..<4 { try Self.vouch(fixture) }
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 6000)
    repeat {
      #expect(try keychain.cutAudit(toBytes: 1, olderThan: nil, now: 6000) == 0)
    } while try !salvage.step(items: 1)
    #expect(try salvage.target.verify().isOK && AuditStoreTests.walk(salvage.target).entries.count == 8)
    #expect(try keychain.cutAudit(toBytes: 1, olderThan: nil, now: 6000) > 0)
  }
}

extension Database {
  /// The bytes of all rows of the audit log.
  fileprivate func eachLength() throws -> Int64 {
    var bytes: Int64 = 0
    try eachAuditRow(after: 0) { (row: AuditRow) throws(VaultError) in
      bytes += Int64(row.bytes.count)
      return true
    }
    return bytes
  }
}
