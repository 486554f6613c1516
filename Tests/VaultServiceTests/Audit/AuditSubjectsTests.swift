import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("The subjects whose parts of the audit log are used up") struct AuditSubjectsTests {
  @Test("strangers of thousands of users fill no more than their part, and are counted") func strangers() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let before = try stand.vault.keychain().auditFacts.bytes
    let others: UInt32 = 6000
    for uid in 0..<others {
      let caller = RoomStand.caller(100_000 + uid)
      for action in [AuditAction.get, .set, .delete, .move, .use, .find, .deposit, .call] {
        stand.vault.audit.record(action, .denied, caller, item: "n")
      }
    }
    for _ in 0..<4 { stand.hands.pass(seconds: 3600) }
    stand.vault.audit.write()
    #expect(try stand.vault.keychain().auditFacts.bytes - before < 24 << 10)
    var sum = 0
    for uid in [UInt32](100_000..<100_000 + others) + [.max] {
      sum += try uid > 100_300 && uid < .max ? 0 : AuditFilling.times(stand, .get, .denied, by: uid).values.reduce(0, +)
    }
    #expect(sum == Int(others))
  }

  @Test("the members of a group are one subject, of however many users, but for those whom a grant names")
  func groups() throws {
    let stand = try RoomStand.unlocked(system: true)
    for subject in ["group:5555", "group:6000", "user:991", "unit:a.service"] {
      try AuditFilling.give(stand, subject, "a/*")
    }
    func name(_ uid: UInt32, _ groups: [UInt32], _ unit: String? = nil) -> String {
      let caller = Caller(
        door: .varlink, uid: uid, groups: groups, pid: 9, started: nil, unit: unit, session: nil,
        memory: Caller.Memory(executable: { nil }))
      return stand.access.auditName(of: caller).text
    }
    #expect((100_000..<100_080).allSatisfy { name($0, [$0, 5555]) == "group:5555" })
    #expect(name(1, [5555, 6000]) == "group:5555" && name(1, [6000]) == "group:6000")
    #expect(name(991, [5555]) == "user:991" && name(992, [992]) == "strangers")
    #expect((0..<20).allSatisfy { name($0 + 2000, [], "a.service") == "unit:a.service" })
    #expect((100_000..<100_080).allSatisfy { name($0, [RoomStand.administrators]) == "group:900" })
    #expect(name(0, [0]) == "user:0")
    // A caller in the log carries no group.
    let told = AuditEntry.Caller(door: "varlink", uid: 100_001, pid: 5)
    #expect(stand.access.auditName(of: told) == .strangers)
  }

  private static func member(_ uid: UInt32, of group: UInt32) -> Caller {
    var caller = RoomStand.caller(uid)
    caller.groups = [group]
    return caller
  }

  /// Returns the callers whose next use of an item makes an entry of its own instead of a count.
  private static func free(_ stand: RoomStand, _ callers: [String: Caller]) throws -> [String] {
    for (name, caller) in callers { stand.vault.audit.record(.use, .ok, caller, item: "\(name) \(AuditFilling.long)") }
    let told = try AuditTests.told(stand)
    return callers.keys.filter { told.contains("use ok \($0) \(AuditFilling.long)") }.sorted()
  }

  @Test("after a kill each pays for its own noise alone, as a member of a group and without any right")
  func killedGroups() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    for subject in ["group:5555", "group:6000"] { try AuditFilling.give(stand, subject, "svc/*") }
    stand.hands.pass(seconds: 61)
    stand.vault.audit.write(anchored: true)
    func callers() -> [String: Caller] {
      [
        "one": Self.member(100_001, of: 5555), "two": Self.member(100_001, of: 6000),
        "none": RoomStand.caller(100_001), "user": RoomStand.caller(990),
      ]
    }
    for (noisy, caller) in callers() {
      var next = try AuditPartTests.killed(stand, AuditFilling.small(), system: true)
      try next.unlock()
      AuditFilling.fill(next, .use, .ok, caller)
      next.hands.pass(seconds: 2)
      next = try AuditPartTests.killed(next, AuditFilling.small(), system: true)
      try next.unlock()
      #expect(try Self.free(next, callers()) == callers().keys.filter { $0 != noisy }.sorted(), "\(noisy)")
    }
  }

  @Test(
    "noise from before anybody could read the grants is nobody's who has rights", arguments: [5555, 7000 as UInt32])
  func undecided(group: UInt32) throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    try AuditFilling.give(stand, "group:5555", "svc/*")
    stand.hands.pass(seconds: 2)
    let cold = try AuditPartTests.killed(stand, AuditFilling.small(), system: true)
    for number in 0..<200 {
      let caller = Self.member(100_000 + UInt32(number), of: group)
      cold.vault.audit.record(.use, .ok, caller, item: "\(number) \(AuditFilling.long)")
      cold.vault.audit.record(.find, .ok, caller, detail: "\(number) \(AuditFilling.long)")
    }
    cold.hands.pass(seconds: 2)
    let next = try AuditPartTests.killed(cold, AuditFilling.small(), system: true)
    try next.unlock()
    #expect(try Self.free(next, ["member": Self.member(100_001, of: 5555)]) == ["member"])
    next.vault.audit.record(.find, .ok, Self.member(100_001, of: 5555), detail: "free")
    #expect(try AuditTests.told(next).contains("find ok free"))
  }

  @Test("what the daemon does for who left a deposit takes of that one's part after a kill as well") func depositor()
    throws
  {
    let stand = try AuditFilling.serving(AuditFilling.small())
    stand.vault.audit.write(anchored: true)
    let subject = AuditSubject.Name.user(990)
    for number in 0..<200 {
      stand.vault.audit.record(.deposit, .ok, for: subject, item: "svc/a", detail: "\(number) \(AuditFilling.long)")
    }
    stand.hands.pass(seconds: 2)
    let next = try AuditPartTests.killed(stand, AuditFilling.small(), system: true)
    try next.unlock()
    #expect(try Self.free(next, ["user": RoomStand.caller(990)]) == [])
    next.vault.audit.record(.deposit, .ok, nil, item: "of nobody")
    #expect(try AuditTests.told(next).contains("deposit ok of nobody"))
  }

  @Test("where the log is too long, a group that has done little keeps its entries beside others and strangers")
  func cutGroups() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    for subject in ["group:5555", "group:6000"] { try AuditFilling.give(stand, subject, "svc/*") }
    let (quiet, noisy) = (Self.member(100_001, of: 5555), Self.member(100_001, of: 6000))
    let audit = stand.vault.audit
    for number in 0..<20 { audit.record(.use, .ok, quiet, item: "quiet \(number)") }
    stand.hands.pass(seconds: 2)
    for week in 0..<32 {
      for number in 0..<60 {
        audit.record(.use, .ok, noisy, item: "\(week)/\(number) \(AuditFilling.long)")
        audit.record(.use, .ok, RoomStand.caller(100_002), item: "s\(week)/\(number) \(AuditFilling.long)")
      }
      stand.hands.pass(seconds: 7 * 86_400)
    }
    stand.hands.pass(seconds: 61)
    audit.record(.settings, .ok, nil)
    stand.hands.pass(seconds: 61)
    let told = try AuditTests.told(stand)
    #expect(told.contains { $0.hasSuffix("entries were removed") } && !told.contains { $0.hasPrefix("use ok 0/0 ") })
    for number in 0..<20 { #expect(told.contains("use ok quiet \(number)")) }
  }

  /// Makes a daemon that starts after the stand's daemon has ended.
  private static func started(after stand: RoomStand) throws -> RoomStand {
    try stand.restart()
    let next = try AuditPartTests.killed(stand, AuditFilling.small(), system: true)
    try next.openWithBootKey()
    return next
  }

  /// Makes a daemon that starts after the stand's daemon has ended or was killed.
  private static func next(after stand: RoomStand, isKilled: Bool) throws -> RoomStand {
    isKilled ? try AuditPartTests.killed(stand, AuditFilling.small(), system: true) : try started(after: stand)
  }

  @Test("a restart makes the log no longer than the parts allow, and counts events even so", arguments: [false, true])
  func restarts(isKilled: Bool) throws {
    var stand = try AuditFilling.serving(AuditFilling.small())
    var sizes: [Int64] = []
    for round in 0..<6 {
      for number in 0..<400 {
        AuditTests.get(stand, "no/\(round)/\(number)/\(AuditFilling.long)", RoomStand.caller(990))
      }
      stand.hands.pass(seconds: 61)
      stand = try Self.next(after: stand, isKilled: isKilled)
      try stand.unlock()
      sizes.append(try stand.vault.keychain().auditFacts.bytes)
    }
    let growth = zip(sizes.dropFirst(), sizes).map { $0 - $1 }
    #expect(growth.dropFirst().allSatisfy { $0 < 4000 }, "\(sizes)")
    let refused = try AuditFilling.times(stand, .get, .denied, by: 990)
    #expect(refused.values.reduce(0, +) == 6 * 400 && refused.keys.contains(""))
  }

  @Test("the days on which no daemon runs give a subject its parts back, as others do") func daysOff() {
    let (size, now): (Int64, Int64) = (64 << 20, 30 * 86_400 * 1_000_000_000)
    func used(after days: Int64) -> Int {
      let before = AuditSubjects()
      before.strangers.budget.charge(100_000, to: .calls, now: now)
      var after = AuditSubjects()
      after.take(before.usage(size, at: 1000, now: now), passed: days * 86_400, now: now)
      return after.usage(size, at: 1000, now: now).subjects.values.reduce(0) { $0 + $1.reduce(0) { $0 + Int($1) } }
    }
    #expect(used(after: 0) == 100_000 && used(after: 7) == 0)
  }

  @Test(
    "the number of events that were only counted is the one in the log, however the daemon has ended",
    arguments: ["unlocked", "locked", "cold"], [false, true])
  func counted(state: String, isKilled: Bool) throws {
    var stand = try AuditFilling.serving(AuditFilling.small())
    func restart() throws { stand = try Self.next(after: stand, isKilled: isKilled) }
    for round in 0..<3 {
      if state == "locked" { stand.vault.lock(because: .asked) }
      for number in 0..<300 {
        AuditTests.get(stand, "no/\(round)/\(number)/\(AuditFilling.long)", RoomStand.caller(990))
      }
      stand.hands.pass(seconds: 61)
      try restart()
      if state == "cold" {
        try stand.openWithBootKey()
        for number in 0..<300 {
          AuditTests.get(stand, "cold/\(round)/\(number)/\(AuditFilling.long)", RoomStand.caller(990))
        }
        stand.hands.pass(seconds: 61)
        try restart()
      }
      try stand.unlock()
      let counts = try AuditTests.found(stand).compactMap { entry in entry.repeats?.of == nil ? entry.repeats : nil }
      let number = counts.reduce(0) { $0 + Int64($1.count) }
      #expect(number > 100 && stand.vault.audit.counted?.count == number, "\(state), round \(round)")
    }
  }

  @Test("before the first unlock tried secrets and reads are told, whatever strangers do", arguments: [true, false])
  func cold(isStopped: Bool) throws {
    var stand = try Self.started(after: AuditFilling.serving(AuditFilling.small(), accessible: .always))
    for uid: UInt32 in 100_000..<102_000 {
      for item in ["n", "m", AuditFilling.long] { AuditTests.get(stand, item, RoomStand.caller(uid)) }
    }
    stand.hands.pass(seconds: 61)
    for number in 0..<3 {
      stand.vault.audit.record(.unlock, .unproven, stand.administrator, item: "by password \(number)")
    }
    AuditFilling.fill(stand, .get, .ok, RoomStand.caller(990))
    for _ in 0..<5 { AuditTests.get(stand, "svc/b", RoomStand.caller(990)) }
    if isStopped {
      stand = try Self.started(after: stand)
    } else {
      stand.hands.pass(seconds: 3600)
      stand = try AuditPartTests.killed(stand, AuditFilling.small(), system: true)
    }
    try stand.unlock()
    #expect(try AuditFilling.times(stand, .unlock, .unproven, by: 0).count == 3)
    let times = try AuditFilling.times(stand, .get, .ok, by: 990)
    #expect(times == ["svc/a": 200, "svc/b": 5], "\(times)")
  }

  @Test("the noise of one service over starts without an unlock leaves another's reads their items") func starts()
    throws
  {
    var stand = try AuditFilling.serving(AuditFilling.small(), accessible: .always)
    try AuditFilling.give(stand, "user:991", "svc/b")
    for _ in 0..<4 {
      stand = try Self.started(after: stand)
      AuditFilling.fill(stand, .get, .ok, RoomStand.caller(990))
      stand.hands.pass(seconds: 2)
    }
    stand = try Self.started(after: stand)
    for _ in 0..<8 { AuditTests.get(stand, "svc/b", RoomStand.caller(991)) }
    stand = try Self.started(after: stand)
    try stand.unlock()
    #expect(try AuditFilling.times(stand, .get, .ok, by: 991) == ["svc/b": 8])
    #expect(try AuditFilling.times(stand, .get, .ok, by: 990).values.reduce(0, +) == 800)
  }
}
