import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("What is counted when the audit log is cut") struct AuditCutTests {
  @Test("a kill after a cut of the log loses no counts") func cut() throws {
    let settings = AuditFilling.small(.required)
    let stand = try AuditFilling.serving(settings)
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    for number in 0..<4 {
      for name in 0..<10 {
        audit.record(.use, .ok, for: .user(0), item: "\(name) \(number) \(AuditFilling.long)", detail: "")
      }
      audit.write()
      keychain.endAuditChain()
    }
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    for _ in 0..<300 { AuditTests.get(stand, "svc/b", caller) }
    audit.write(anchored: true)
    #expect(keychain.hasAuditTally && !keychain.hasUnwrittenAudit)
    var smaller = settings.audit
    smaller.size = keychain.auditFacts.bytes - 1
    audit.configure(smaller)
    let entries = keychain.auditFacts.entries
    audit.cut(keychain)
    #expect(keychain.auditFacts.cut > 0 && keychain.auditFacts.entries > entries, "some of them were written again")
    let next = try AuditPartTests.killed(stand, settings, system: true)
    try next.unlock()
    #expect(try AuditFilling.times(next, .get, .ok, by: 990) == ["svc/b": 300])
  }

  @Test("however much a cut takes out, the newest entries stay where they are") func largeCut() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    var settings = audit.settings
    settings.size = 8 << 20
    audit.configure(settings)
    for number in 0..<40 {
      // Each user has so few entries that it is among the users with the fewest.
      for name in 0..<10 {
        audit.record(.use, .ok, for: .user(UInt32(number)), item: "\(name) \(AuditFilling.long)", detail: "")
      }
      audit.write()
      keychain.endAuditChain()
    }
    let newest = keychain.nextAuditEntry
    for name in 0..<10 { audit.record(.use, .ok, for: .user(500), item: "\(name) \(AuditFilling.long)", detail: "") }
    audit.write(anchored: true)
    keychain.endAuditChain()
    settings.size = keychain.auditFacts.bytes / 8
    audit.configure(settings)
    for _ in 0..<20 { audit.cut(keychain) }
    audit.write()
    #expect(keychain.auditFacts.cut > 0 && keychain.auditFacts.cut < newest, "\(keychain.auditFacts) \(newest)")
  }

  @Test("cuts that write nothing again leave the tally on the disk, and each tells what is gone") func cutWithoutRest()
    throws
  {
    let settings = AuditFilling.small(.required)
    let stand = try AuditFilling.serving(settings)
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    for number in 0..<8 {
      for name in 0..<10 { audit.add(.find, .denied, item: "\(name) \(number) \(AuditFilling.long)") }
      audit.write()
      keychain.endAuditChain()
    }
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    for _ in 0..<300 { AuditTests.get(stand, "svc/b", caller) }
    audit.write(anchored: true)
    #expect(keychain.hasAuditTally)
    var smaller = settings.audit
    for _ in 0..<3 {
      smaller.size = keychain.auditFacts.bytes - 1
      audit.configure(smaller)
      audit.cut(keychain)
      #expect(keychain.hasAuditTally && !keychain.hasUnwrittenAudit)
    }
    let facts = keychain.auditFacts
    let next = try AuditPartTests.killed(stand, settings, system: true)
    try next.unlock()
    #expect(try AuditFilling.times(next, .get, .ok, by: 990) == ["svc/b": 300])
    let told = try AuditTests.told(next).compactMap { line in
      line.hasSuffix("entries were removed") ? Int64(line.split(separator: " ")[2]) : nil
    }
    #expect(told.reduce(0, +) == facts.cut && told.count >= 3, "\(told) \(facts)")
  }

  @Test("however much a cut takes out, changes of rights in it stay before the values that are older")
  func laterRights() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    var settings = audit.settings
    settings.size = 8 << 20
    audit.configure(settings)
    for number in 0..<80 {
      for name in 0..<10 {
        audit.record(.use, .ok, for: .user(UInt32(number)), item: "\(name) \(AuditFilling.long)", detail: "")
      }
      if number == 40 {
        for name in 0..<30 { audit.record(.grant, .ok, for: .user(0), item: "given \(name)", detail: "") }
      }
      audit.write()
      keychain.endAuditChain()
    }
    settings.size = keychain.auditFacts.bytes / 8
    audit.configure(settings)
    for _ in 0..<40 { audit.cut(keychain) }
    audit.write()
    let told = try AuditTests.told(stand)
    for name in 0..<30 { #expect(told.contains("grant ok given \(name)")) }
  }

  @Test("cuts that follow each other carry a quarter of what is to stay, in all, and the next ones as much again")
  func longCut() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    var settings = audit.settings
    settings.size = 64 << 20
    audit.configure(settings)
    /// Writes a log several times as long as one cut takes out, by so many users that each is among those with the
    /// fewest entries.
    func fill(_ users: Range<UInt32>) {
      for user in users {
        for name in 0..<10 {
          audit.record(.use, .ok, for: .user(user), item: "\(name) \(AuditFilling.long)", detail: "")
        }
        if user % 20 == 0 {
          audit.write()
          keychain.endAuditChain()
        }
      }
    }
    func cut() {
      settings.size = 256 << 10
      audit.configure(settings)
      for _ in 0..<20 { audit.cut(keychain) }
      audit.write()
      settings.size = 64 << 20
      audit.configure(settings)
    }
    for first: UInt32 in [0, 1000] {
      audit.record(.grant, .ok, for: .user(first + 900), item: "kept \(first)", detail: "")
      fill(first..<first + 400)
      let newest = keychain.nextAuditEntry
      audit.record(.use, .ok, for: .user(first + 901), item: "newest", detail: "")
      audit.write(anchored: true)
      keychain.endAuditChain()
      let size = keychain.auditFacts.bytes
      #expect(size > 6 * 256 << 10, "\(size)")
      cut()
      let facts = keychain.auditFacts
      #expect(facts.cut > 0 && facts.cut < newest && facts.bytes < 320 << 10, "\(facts) \(newest)")
      let told = try AuditTests.told(stand)
      #expect(told.contains("grant ok kept \(first)"), "what fills least is written again")
    }
  }

  @Test("what a cut writes again of a count is whose the entry was that it was counted after") func carriedSubject() {
    let (group, other) = (AuditSubject(.group(7)).key, AuditSubject.Name.strangers)
    var first = AuditEntry(
      time: 5, action: .get, outcome: .ok, caller: AuditEntry.Caller(door: "varlink", uid: 1, pid: 9), item: "a")
    (first.isCounted, first.subject) = (true, group)
    let more = AuditEntry(time: 6, action: .get, outcome: .ok, repeats: AuditEntry.Repeats(of: 10, count: 3))
    let kept = AuditCarry.kept(
      of: [(10, first), (11, more)], room: .init(all: 10_000, rights: 10_000, values: 10_000), since: 0
    ) {
      $0.subject ?? AuditSubject(other).key
    }
    #expect(kept.map(\.subject) == [group, group] && kept.map(\.item) == ["a", "a"])
    #expect(kept.last?.repeats == AuditEntry.Repeats(of: nil, count: 3))
  }
}
