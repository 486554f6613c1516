import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("What is counted beyond the parts of the audit log") struct AuditTallyTests {
  @Test("a read that is only counted is on the disk before its answer, where the log is required") func required()
    throws
  {
    let settings = AuditFilling.small(.required)
    let stand = try AuditFilling.serving(settings)
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    stand.vault.audit.write()
    let keychain = try stand.vault.keychain()
    let size = keychain.auditFacts.bytes
    for _ in 0..<300 {
      try #require(
        try stand.items.get(ItemName("svc/b"), for: caller, Said()) { _, _, _ in #expect(!keychain.hasUnwrittenAudit) }
          == nil)
    }
    #expect(keychain.auditFacts.bytes - size < 8 << 10, "no number of them makes the log longer")
    #expect(try AuditFilling.times(stand, .get, .ok, by: 990) == ["svc/b": 300])
    let next = try AuditPartTests.killed(stand, settings, system: true)
    try next.unlock()
    #expect(try AuditFilling.times(next, .get, .ok, by: 990) == ["svc/b": 300])
    let next2 = try AuditPartTests.killed(next, settings, system: true)
    try next2.unlock()
    #expect(try AuditFilling.times(next2, .get, .ok, by: 990) == ["svc/b": 300])
  }

  @Test("of a copy and a renaming beyond a part both names are counted", arguments: [AuditSettings.Mode.on, .required])
  private func bothNames(mode: AuditSettings.Mode) throws {
    let stand = try AuditFilling.serving(AuditFilling.small(mode))
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("own/**"), try Rights(parsing: "admin,get"), until: nil,
      for: stand.administrator)
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    func copy(_ source: String, _ target: String) throws {
      _ = try stand.items.copy(
        try ItemName(source), to: try ItemName(target), replacing: true, evenExpired: false, for: caller)
    }
    for _ in 0..<2 { try copy("svc/a", "own/copy") }
    for (old, new) in [("copy", "new"), ("new", "last")] {
      try stand.items.move(try ItemName("own/\(old)"), to: try ItemName("own/\(new)"), for: caller)
    }
    // A read with room in its part is an entry; equal reads are told at the end of the minute.
    stand.hands.pass(seconds: 61)
    #expect(try AuditFilling.times(stand, .get, .ok, by: 990) == ["svc/a": 2])
    #expect(try AuditFilling.times(stand, .set, .ok, by: 990) == ["own/copy": 2])
    #expect(try AuditFilling.times(stand, .move, .ok, by: 990) == ["own/copy": 1, "own/new": 2, "own/last": 1])
  }

  @Test("a kill right behind the answer to a read that is only counted loses none, where the log is required")
  func killedBehindAnswer() throws {
    let settings = AuditFilling.small(.required)
    let stand = try AuditFilling.serving(settings)
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    stand.vault.audit.write()
    for count in 1...4 {
      try #require(try stand.items.get(ItemName("svc/b"), for: caller, Said()) { _, _, _ in } == nil)
      // Nobody reads the log of the killed daemon, because reading would write the counts.
      let next = try AuditPartTests.killed(stand, settings, system: true)
      try next.unlock()
      #expect(try AuditFilling.times(next, .get, .ok, by: 990) == ["svc/b": count])
    }
  }

  @Test("a copy of the store has what is counted, and copies make the log no longer", arguments: [false, true])
  func copied(isRequired: Bool) throws {
    let settings = AuditFilling.small(isRequired ? .required : .on)
    let stand = try AuditFilling.serving(settings)
    let (audit, caller) = (stand.vault.audit, RoomStand.caller(990))
    AuditFilling.fill(stand, .use, .ok, caller)
    for number in 0..<300 { AuditTests.get(stand, "svc/b", caller, for: "\(number)") }
    audit.willCopy()
    let keychain = try stand.vault.keychain()
    let size = keychain.auditFacts.bytes
    for copy in 0..<50 {
      for number in 0..<30 { AuditTests.get(stand, "svc/a", caller, for: "\(copy) \(number)") }
      audit.willCopy()
      #expect(keychain.hasAuditTally && !keychain.hasUnwrittenAudit)
    }
    #expect(keychain.auditFacts.bytes - size < 1 << 10)
    let copy = try AuditPartTests.killed(stand, settings, system: true)
    try copy.unlock()
    for one in [copy, stand] {
      #expect(try AuditFilling.times(one, .get, .ok, by: 990) == ["svc/b": 300, "svc/a": 1500])
    }
  }

  @Test("the use of each part is stored as it is before the log is copied") func copiedUse() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    AuditFilling.fill(stand, .use, .ok, RoomStand.caller(990))
    // Nothing is anchored for a minute after that.
    stand.vault.audit.write(anchored: true)
    for number in 0..<300 { AuditTests.get(stand, "svc/b", RoomStand.caller(991), for: "\(number)") }
    stand.vault.audit.willCopy()
    let stored = try stand.vault.keychain().auditUsage()
    #expect(stored?.subjects == stand.vault.audit.usage?.subjects)
  }

  @Test("what is counted comes along in a salvage", arguments: [false, true]) func salvaged(hasFailed: Bool) throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    for number in 0..<300 { AuditTests.get(stand, "svc/b", caller, for: "\(number)") }
    if hasFailed {
      stand.vault.audit.tallyLater()
      stand.vault.audit.write()
      #expect(try stand.vault.keychain().hasAuditTally)
      try stand.vault.keychain().notice(Finding(.damaged, "something was changed"))
    }
    let reader = SalvageWork.Reader(ObjectIdentifier(stand)) {
      true
    } tell: { _ in
    } end: { _ in
    }
    try stand.rooms.upkeep.salvage(reader, for: stand.administrator)
    stand.run()
    let target = try #require(stand.rooms.upkeep.salvage?.target)
    let walk = try target.auditWalk(noted: [:])
    var times = 0
    while try !walk.step(
      target, rows: 8, { _, entry in if entry.item == "svc/b" { times += Int(entry.repeats?.count ?? 1) } })
    {}
    #expect(walk.faults == [] && times == 300 + 1, "\(times)")
  }

  @Test("of a store that has failed nothing is settled, also where nothing waits to be written") func failed() throws {
    let stand = try AuditTests.failed(AuditFilling.small(.required))
    stand.vault.audit.write()
    #expect(throws: Refusal.self) { try stand.vault.audit.settle() }
    AuditFilling.fill(stand, .get, .ok, stand.administrator)
    #expect(throws: Refusal.self) { try stand.vault.audit.settle(.log) }
    #expect(throws: Refusal.self) { try stand.items.get(ItemName("a"), for: stand.administrator) { _, _, _ in } }
  }

  @Test("a kill after a second that was long enough to be written loses no counts") func longWrite() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    for number in 0..<300 { AuditTests.get(stand, "svc/b", caller, for: "\(number)") }
    audit.tallyLater()
    audit.write()
    #expect(keychain.hasAuditTally)
    // No time passes while these entries are added.
    let written = keychain.auditFacts.bytes
    for number in 0..<3000 {
      audit.add(.use, .ok, of: AuditSubject(.user(7)).key, item: "\(number) \(AuditFilling.long)")
    }
    #expect(keychain.auditFacts.bytes > written)
    let next = try AuditPartTests.killed(stand, AuditFilling.small(), system: true)
    try next.unlock()
    let times = try AuditFilling.times(next, .get, .ok, by: 990)
    #expect(times == ["svc/b": 300], "\(times)")
  }

  @Test(
    "an entry of a call that ends with the daemon takes no counts away", arguments: [AuditSettings.Mode.on, .required],
    [false, true])
  private func ending(mode: AuditSettings.Mode, hidesNames: Bool) throws {
    var settings = AuditFilling.small(mode)
    settings.hideNames = hidesNames
    let stand = try AuditFilling.serving(settings)
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, caller)
    AuditFilling.fill(stand, .grant, .ok, caller)
    for number in 0..<50 {
      AuditTests.get(stand, "svc/b", caller, for: "\(number)")
      stand.vault.audit.record(.grant, .ok, caller, item: "svc/a", detail: "\(number) more")
    }
    // Of rights, only the number is told beyond their part.
    func grants() throws -> Int { try AuditFilling.times(stand, .grant, .ok, by: 990).values.reduce(0, +) }
    #expect(try grants() == 250)
    #expect(try AuditFilling.times(stand, .get, .ok, by: 990) == ["svc/b": 50])
    stand.vault.wipe()
    for number in 0..<3 {
      stand.vault.audit.record(.get, .cancelled, RoomStand.caller(UInt32(7000 + number)), item: "svc/a")
    }
    // The last call is itself only counted.
    stand.vault.audit.record(.get, .ok, caller, item: "svc/b", detail: "last")
    stand.vault.closeStore()
    stand.vault.openStore(because: .start)
    try stand.openWithBootKey()
    try stand.unlock()
    #expect(try AuditFilling.times(stand, .get, .ok, by: 990) == ["svc/b": 51])
    #expect(try grants() == 250)
    #expect(try AuditFilling.times(stand, .get, .cancelled, by: 7001) == ["svc/a": 1])
  }

  @Test("counts are written in bounded turns") func turns() throws {
    var settings = VaultSettings()
    settings.audit.size = 64 << 20
    let stand = try AuditFilling.serving(settings)
    let audit = stand.vault.audit
    let subject = audit.subjects.subject(.user(990))
    for number in 0..<500 {
      let kind = AuditCounts.Kind(action: .use, outcome: .ok, door: "varlink", uid: 990, item: "\(number)")
      audit.subjects.count(subject, kind, beyond: .values, at: 5)
    }
    #expect(audit.tellCounts(for: .count, most: 256) && subject.counts.named(.values) == 244)
    #expect(!audit.tellCounts(for: .count, most: 256) && !audit.subjects.isCounting)
    #expect(try AuditFilling.times(stand, .use, .ok, by: 990).count == 500)
  }
}
