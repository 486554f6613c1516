import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The parts of the audit log") struct AuditPartTests {
  /// The smallest allowed log, so that a test fills it soon.
  private static var small: VaultSettings {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    return settings
  }

  private static let long = String(repeating: "x", count: 400)

  /// Makes a process of the user, in a unit of the user's own service manager.
  private static func process(_ number: Int32, unit: String? = nil, executable: String? = nil) -> Caller {
    Caller(
      door: .varlink, uid: RoomStand.owner, groups: [RoomStand.owner], pid: number, started: nil, unit: nil,
      userUnit: unit, session: AuthenticationSession(uid: RoomStand.owner, scope: .session, pid: 100, started: 1),
      memory: Caller.Memory(executable: { executable }))
  }

  /// Makes a daemon that starts after the stand's daemon was killed: it finds the files as they are, and nothing else.
  static func killed(_ stand: RoomStand, _ settings: VaultSettings, system: Bool = false) throws -> RoomStand {
    let from = stand.vault.directory
    let next = try RoomStand(settings, system: system) { store in
      try FileManager.default.createDirectory(
        atPath: store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for name in ["vault.db", "vault.db-wal"] where FileManager.default.fileExists(atPath: "\(from)/\(name)") {
        try FileManager.default.copyItem(atPath: "\(from)/\(name)", toPath: "\(store)/\(name)")
      }
    }
    next.hands.wall.value = stand.hands.wall.value
    next.hands.pass(stand.hands.now - next.hands.now)
    return next
  }

  private static func size(_ stand: RoomStand) throws -> Int64 {
    stand.vault.audit.write()
    return try stand.vault.keychain().auditFacts.bytes
  }

  private static func search(_ stand: RoomStand, _ count: Int, by caller: Caller) {
    for number in 0..<count {
      stand.vault.audit.record(.find, .ok, caller, detail: "\(number) \(long)\(long)")
    }
  }

  @Test("searches keep no grants, ways in, backups, tried secrets and values of the same user from being entries")
  func searches() throws {
    for system in [false, true] {
      let stand = try RoomStand.unlocked(system: system)
      try stand.set("a")
      stand.access.add(.presence, by: stand.administrator, with: [])
      Self.search(stand, 6000, by: stand.administrator)
      for number in 0..<6000 { AuditTests.get(stand, "\(Self.long)\(number)") }
      let audit = stand.vault.audit
      _ = try stand.access.give(
        try Subject(parsing: "unit:b.service"), try ItemPattern("b/*"), try Rights(parsing: "get"), until: nil,
        for: stand.administrator)
      audit.record(.slot, .ok, stand.administrator, item: "added")
      try stand.rooms.upkeep.backUp(isOfSalvage: false, for: stand.administrator) { _ in nil }
      audit.record(.unlock, .unproven, stand.administrator, item: "by password")
      audit.record(.unlock, .ok, stand.administrator, item: "by password, again")
      AuditTests.get(stand, "a")
      let told = try AuditTests.told(stand)
      for entry in [
        "grant ok unit:b.service", "slot ok added", "backup ok ", "unlock unproven by password",
        "unlock ok by password, again", "get ok a",
      ] {
        #expect(told.contains(entry), "\(system): \(entry)")
      }
      #expect(told.contains { $0.hasPrefix("find ok") && $0.hasSuffix("×1") }, "the rest of the searches was counted")
    }
  }

  @Test("each part is a subject's own, and none borrows from another") func parts() {
    var settings = AuditSettings()
    settings.size = 1 << 20
    for part in AuditPart.allCases {
      let subject = AuditSubject(.user(1000))
      var count = 0
      while subject.take(52, of: part, settings, now: 5) { count += 1 }
      #expect(count == 1 << 20 / 16 / 4 * Int(part.quarters) * 3 / 4 / 100)
      #expect(subject.take(52, of: part, for: .count, settings, now: 5), "what is beyond it is counted")
      for other in AuditPart.allCases where other != part {
        #expect(subject.take(52, of: other, settings, now: 5), "\(other) after \(part)")
      }
    }
  }

  @Test("a part is free again after a week, whatever the age at which entries go") func refilled() {
    for age: Int64? in [nil, 60, 100 * 365 * 86_400] {
      var settings = AuditSettings()
      (settings.size, settings.age) = (1 << 20, age)
      let subject = AuditSubject(.user(1000))
      func fill(_ day: Int64) -> Int {
        var count = 0
        while subject.take(52, of: .values, settings, now: day * 86_400 * 1_000_000_000 + 5) { count += 1 }
        return count
      }
      #expect(fill(0) == 245)
      #expect((45...48).contains(fill(1)) && fill(1) == 0)
      let free = fill(9)
      #expect(free == 245 || free == 244)
    }
  }

  @Test("a part that is full many times over, because the log was made shorter, is free again after two weeks")
  func shortened() {
    func fill(_ subject: AuditSubject, _ part: AuditPart, _ size: Int64, day: Int64) -> Int {
      var settings = AuditSettings()
      settings.size = size
      var count = 0
      while subject.take(52, of: part, settings, now: day * 86_400 * 1_000_000_000 + 5) { count += 1 }
      return count
    }
    for part in AuditPart.allCases {
      let subject = AuditSubject(.user(1000))
      let whole = fill(AuditSubject(.user(1000)), part, 1 << 20, day: 0)
      #expect(whole > 0 && fill(subject, part, 64 << 20, day: 0) > 50 * whole)
      #expect(fill(subject, part, 1 << 20, day: 0) == 0, "\(part)")
      #expect(fill(subject, part, 1 << 20, day: 14) == whole, "\(part)")
    }
  }

  /// The parts of an action that was done, of one that was canceled, and of one that was refused or failed.
  private static func parts(of action: AuditAction, isDaemon: Bool) -> (AuditPart, AuditPart, AuditPart) {
    switch action {
    case .get, .use, .set, .delete, .move, .deposit, .export, .import: (.values, .calls, .calls)
    case .grant, .revoke, .unlock, .lock, .slot, .passwd, .backup, .restore, .salvage, .create, .proof, .approve,
      .deny, .clock:
      (.rights, .calls, .calls)
    // A canceled rekey is a change of keys.
    case .rekey: (.rights, .rights, .calls)
    // The daemon itself finds faults in the log, and changes the log.
    case .audit: isDaemon ? (.rights, .rights, .rights) : (.calls, .calls, .calls)
    case .find, .settings, .call, .request, .attend, .dismiss, .receipt: (.calls, .calls, .calls)
    }
  }

  @Test("every action has its part by its outcome, and every tried secret is among the rights") func kinds() {
    for action in AuditAction.allCases {
      for isDaemon in [false, true] {
        let (done, cancelled, undone) = Self.parts(of: action, isDaemon: isDaemon)
        for outcome in AuditOutcome.allCases {
          let part: AuditPart =
            switch outcome {
            case .ok: done
            // An attempt with a secret, whatever the call: `ssh-add -X` makes such an entry of a call.
            case .unproven: .rights
            case .cancelled: cancelled
            case .denied, .locked, .presence, .missing, .expired, .invalid, .failed: undone
            }
          #expect(
            AuditPart(of: action, outcome, isDaemon: isDaemon) == part, "\(action) \(outcome), daemon: \(isDaemon)")
        }
      }
    }
    // The backoff limits attempts only: a call that comes too soon was no attempt.
    #expect(Refusal.backingOff(method: "password", wait: 1).outcome == .denied)
    #expect(Refusal.mistypedRecoveryCode.outcome == .invalid)
  }

  @Test("an item that a short process reads each minute has the right count and last time") func counts() throws {
    // A sixteenth of the usual size: a day of this log stands for more than two weeks.
    var settings = VaultSettings()
    settings.audit.size = 4 << 20
    let stand = try RoomStand.unlocked(settings)
    let name = "iothome/" + String(repeating: "k", count: 60)
    try stand.set(name)
    try stand.set("other")
    for number in 0..<1500 {
      stand.hands.wall.value += 60
      AuditTests.get(stand, number % 3 == 0 ? "other" : name, Self.process(Int32(number)))
      stand.hands.pass(seconds: 60)
    }
    let last = stand.hands.wall.value
    stand.hands.pass(seconds: 3600)
    var filter = AuditFilter()
    filter.items = try ItemPattern(name)
    var (times, newest, counted): (UInt32, Int64, Int) = (0, 0, 0)
    for entry in try AuditTests.found(stand, filter) where entry.action == .get {
      #expect(entry.caller?.uid == RoomStand.owner && entry.item == name)
      times += entry.repeats?.count ?? 1
      newest = max(newest, entry.time)
      if entry.repeats != nil { counted += 1 }
    }
    #expect(times == 1000 && newest == last && counted > 0)
    // The status reports this, too.
    let warnings = stand.rooms.upkeep.status().warnings
    #expect(warnings.contains { $0.topic == .audit && $0.text.hasSuffix("only counted in the audit log") })
  }

  @Test(
    "what is of too many items to tell apart is counted without its item, and is told to who asks about any of them")
  func manyItems() throws {
    let stand = try RoomStand.unlocked(Self.small)
    for number in 0..<2000 { stand.vault.audit.record(.use, .ok, stand.administrator, item: "\(Self.long)\(number)") }
    stand.hands.pass(seconds: 3600)
    var filter = AuditFilter()
    filter.items = try ItemPattern("quiet")
    let told = try AuditTests.told(stand, filter)
    #expect(told.count >= 1 && told.allSatisfy { $0.hasPrefix("use ok  ×") }, "\(told)")
    filter = AuditFilter()
    filter.action = .use
    #expect(try AuditTests.found(stand, filter).reduce(0) { $0 + ($1.repeats?.count ?? 1) } == 2000)
  }

  @Test("searches and refusals that are equal in all but time are one entry and a count") func equalCalls() throws {
    let stand = try RoomStand.unlocked(system: true)
    let caller = AuditTests.service
    for _ in 0..<500 {
      stand.vault.audit.record(.find, .ok, caller, detail: "kind=note")
      stand.vault.audit.record(.set, .denied, caller, item: "a")
    }
    stand.hands.pass(seconds: 61)
    let told = try AuditTests.told(stand).filter { !$0.hasPrefix("unlock") && !$0.hasPrefix("audit") }
    #expect(told == ["find ok kind=note", "set denied a", "find ok kind=note ×499", "set denied a ×499"])
  }

  // MARK: Subjects

  @Test("in a user's vault thirty units of its programs are one subject, which pushes nothing out") func units() throws
  {
    let stand = try RoomStand.unlocked(Self.small)
    try stand.set("a")
    for number in 0..<50 { stand.vault.audit.record(.use, .ok, stand.administrator, item: "old \(number)") }
    let before = try Self.size(stand)
    for unit in 0..<30 {
      let caller = Self.process(Int32(unit), unit: "run-\(unit).service")
      for number in 0..<500 {
        stand.vault.audit.record(.use, .ok, caller, item: "\(unit) \(number) \(Self.long)")
        stand.vault.audit.record(.use, .denied, caller, item: "\(unit) \(number) \(Self.long)")
      }
      stand.hands.pass(seconds: 61)
    }
    stand.hands.pass(seconds: 3600)
    #expect(try Self.size(stand) - before < 80 << 10)
    let told = try AuditTests.told(stand)
    for number in 0..<50 { #expect(told.contains("use ok old \(number)")) }
  }

  @Test("a program that has its grants alone is one subject in whatever unit it runs, and not its user")
  func confined() throws {
    let stand = try RoomStand.unlocked(Self.small)
    stand.access.add(.presence, by: stand.administrator, with: [])
    _ = try stand.access.give(
      try Subject(parsing: "user:1000,exe:/opt/app"), try ItemPattern("app/*"), try Rights(parsing: "get"), until: nil,
      for: stand.administrator)
    let names = Set(
      (0..<30).map { number in
        stand.access.auditName(of: Self.process(number, unit: "run-\(number).service", executable: "/opt/app"))
      })
    #expect(names.map(\.text) == ["user:1000,exe:/opt/app"] && names.first?.executable == "/opt/app")
    let shell = Self.process(1, unit: "run-1.service", executable: "/bin/sh")
    #expect(stand.access.auditName(of: shell).text == "user:1000")
    let entry = AuditEntry.Caller(door: "varlink", uid: 1000, pid: 5, unit: "run-7.service", executable: "/opt/app")
    #expect(stand.access.auditName(of: entry).text == "user:1000,exe:/opt/app")
  }

  @Test("in the machine's vault a unit that no grant names is one subject with its user") func machine() throws {
    let stand = try RoomStand.unlocked(system: true)
    for subject in ["unit:iothome.service", "user:990"] {
      _ = try stand.access.give(
        try Subject(parsing: subject), try ItemPattern("iothome/*"), try Rights(parsing: "get"), until: nil,
        for: stand.administrator)
    }
    func name(_ uid: UInt32, _ unit: String) -> String {
      stand.access.auditName(of: RoomStand.caller(uid, unit: unit)).text
    }
    #expect(name(990, "iothome.service") == "user:990,unit:iothome.service")
    #expect((0..<20).allSatisfy { name(990, "door@\($0).service") == "user:990" })
    #expect((0..<20).allSatisfy { name(2000 + $0, "door@\($0).service") == "strangers" })
    #expect(name(0, "cron.service") == "user:0")
  }

  // MARK: Restarts

  @Test("a daemon that was killed goes on with what was used: twenty-two kills free nothing", arguments: [true, false])
  func kills(unlocks: Bool) throws {
    var stand = try RoomStand.unlocked(Self.small)
    func fill() {
      for number in 0..<400 {
        stand.vault.audit.record(.use, .ok, stand.administrator, item: "\(number) \(Self.long)")
        stand.vault.audit.record(.use, .denied, stand.administrator, item: "\(number) \(Self.long)")
      }
      // Within a minute of the last tally of what was used.
      stand.hands.pass(seconds: 2)
    }
    fill()
    let before = try Self.size(stand)
    for _ in 0..<22 {
      stand = try Self.killed(stand, Self.small)
      if unlocks {
        fill()
        try stand.unlock()
      }
      fill()
    }
    let after = try Self.size(stand)
    // Each kill adds one more record, for what was counted.
    #expect(after - before < 22 * (2048 + AuditBlock.capacity) + 160 << 10, "\(after - before)")
    if !unlocks { try stand.unlock() }
    let told = try AuditTests.told(stand)
    #expect(told.contains("unlock ok by `vault lock`") && told.contains("use ok 0 \(Self.long)"))
    let warnings = stand.rooms.upkeep.status().warnings
    #expect(warnings.contains { $0.topic == .audit })
    let keychain = try stand.vault.keychain()
    let walk = try keychain.auditWalk(noted: [:])
    while try !walk.step(keychain, rows: .max) {}
    #expect(walk.faults.isEmpty)
  }

  @Test("what was used while it was locked counts after a kill as well") func killedLocked() throws {
    var stand = try RoomStand.unlocked(Self.small)
    stand.vault.lock(because: .asked)
    for number in 0..<400 { stand.vault.audit.record(.use, .ok, stand.administrator, item: "\(number) \(Self.long)") }
    stand.hands.pass(seconds: 2)
    stand = try Self.killed(stand, Self.small)
    try stand.unlock()
    let before = try Self.size(stand)
    for number in 0..<400 { stand.vault.audit.record(.use, .ok, stand.administrator, item: "\(number) \(Self.long)") }
    #expect(try Self.size(stand) - before < 1024)
  }

  @Test("before the first unlock all subjects together have a bounded part, of which rights have some for themselves")
  func cold() throws {
    let first = try RoomStand.unlocked(Self.small, system: true)
    for uid in 1000..<1040 {
      _ = try first.access.give(
        try Subject(parsing: "user:\(uid)"), try ItemPattern("a/*"), try Rights(parsing: "get"), until: nil,
        for: first.administrator)
    }
    var stand = try Self.killed(first, Self.small, system: true)
    let before = try Self.size(stand)
    for _ in 0..<4 {
      for uid: UInt32 in 1000..<1040 {
        for number in 0..<100 {
          stand.vault.audit.record(.use, .ok, RoomStand.caller(uid), item: "\(number) \(Self.long)")
          stand.vault.audit.record(.find, .ok, RoomStand.caller(uid), item: "\(number) \(Self.long)")
        }
      }
      stand.hands.pass(seconds: 2)
      stand.vault.audit.record(.unlock, .unproven, RoomStand.caller(1039), item: "by password")
      let next = try Self.killed(stand, Self.small, system: true)
      _ = try Self.size(stand)
      stand = next
      #expect(try Self.size(stand) - before <= 1 << 20 / 8)
    }
    stand.vault.audit.record(.unlock, .unproven, RoomStand.caller(1039), item: "by another")
    try stand.unlock()
    #expect(try AuditTests.told(stand).contains("unlock unproven by another"))
  }

  @Test("what is recorded right before a first unlock counts toward the bound of the next start as well")
  func justBefore() throws {
    var stand = try Self.killed(try RoomStand.unlocked(Self.small, system: true), Self.small, system: true)
    let before = try #require(try stand.vault.keychain().unjoinedAuditBytes)
    // They are few enough to wait unsealed, and no second passes before the unlock.
    for number in 0..<40 {
      stand.vault.audit.record(.find, .ok, RoomStand.caller(1000), item: "\(number) \(Self.long)")
    }
    try stand.unlock()
    stand.hands.pass(seconds: 2)
    stand = try Self.killed(stand, Self.small, system: true)
    let after = try #require(try stand.vault.keychain().unjoinedAuditBytes)
    #expect(after - before > 40 * Self.long.utf8.count)
  }

  // MARK: The cut

  @Test("where the log is too long, whoever fills it loses entries first") func cut() throws {
    let stand = try RoomStand.unlocked(Self.small, system: true)
    try stand.set("a")
    for uid in 1000..<1040 {
      _ = try stand.access.give(
        try Subject(parsing: "user:\(uid)"), try ItemPattern("a/*"), try Rights(parsing: "get"), until: nil,
        for: stand.administrator)
    }
    AuditTests.get(stand, "a", RoomStand.caller(0, session: 5))
    let audit = stand.vault.audit
    stand.hands.pass(seconds: 2)
    for week in 0..<45 {
      for number in 0..<60 { audit.record(.use, .ok, RoomStand.caller(1000), item: "\(week)/\(number) \(Self.long)") }
      stand.hands.pass(seconds: 7 * 86_400)
    }
    stand.hands.pass(seconds: 61)
    audit.record(.settings, .ok, nil)
    stand.hands.pass(seconds: 61)
    #expect(try Self.size(stand) <= 1 << 20)
    let told = try AuditTests.told(stand)
    #expect(told.contains { $0.hasSuffix("entries were removed") })
    #expect(told.contains("get ok a") && told.contains("set ok a"))
    for uid in 1000..<1040 { #expect(told.contains("grant ok user:\(uid)")) }
    #expect(!told.contains { $0.hasPrefix("use ok 0/0 ") } && told.contains { $0.hasPrefix("use ok 44/59 ") })
    let keychain = try stand.vault.keychain()
    let walk = try keychain.auditWalk(noted: [:])
    while try !walk.step(keychain, rows: .max) {}
    #expect(walk.faults.isEmpty)
  }

  @Test("what a cut keeps tells a count by itself, and keeps no searches and nothing that is too old") func carried() {
    func entry(_ time: Int64, _ action: AuditAction, _ uid: UInt32, _ item: String) -> AuditEntry {
      AuditEntry(
        time: time, action: action, outcome: .ok, caller: AuditEntry.Caller(door: "varlink", uid: uid, pid: 9),
        item: item)
    }
    var first = entry(10, .get, 1, "a")
    first.isCounted = true
    var count = AuditEntry(time: 20, action: .get, outcome: .ok, repeats: AuditEntry.Repeats(of: 3, count: 7))
    var found = [(number: Int64(3), entry: first), (4, entry(11, .find, 1, "b")), (5, count)]
    found.append((6, entry(1, .use, 1, "old")))
    found += (0..<50).map { (Int64(7 + $0), entry(30, .use, 2, "\($0)")) }
    let kept = AuditCarry.kept(of: found, room: .init(all: 1000, rights: 0, values: 1000), since: 5) {
      AuditEntry.Subject(of: "\($0.caller?.uid ?? 0)")
    }
    first.isCounted = false
    (count.caller, count.item) = (AuditEntry.Caller(door: "varlink", uid: 1, pid: 0), "a")
    count.repeats?.of = nil
    #expect(Array(kept.prefix(2)) == [first, count])
    #expect(kept.dropFirst(2).allSatisfy { $0.caller?.uid == 2 } && kept.last?.item == "49" && kept.count < 16)
  }
}
