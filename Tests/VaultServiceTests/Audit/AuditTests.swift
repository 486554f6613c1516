import CSQLite
import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The audit log") struct AuditTests {
  static var service: Caller { RoomStand.caller(990, session: 7, unit: "iothome.service") }

  /// Returns the entries of the log as `action outcome item`, with the count if it is more than one.
  static func told(
    _ stand: RoomStand, _ filter: AuditFilter = AuditFilter(), by caller: Caller? = nil
  ) throws -> [String] {
    try found(stand, filter, by: caller).map { entry in
      let times = entry.repeats.map { " ×\($0.count)" } ?? ""
      return "\(entry.action.name) \(entry.outcome.name) \(entry.item ?? entry.detail ?? "")\(times)"
    }
  }

  /// Returns all entries of the log.
  static func found(
    _ stand: RoomStand, _ filter: AuditFilter = AuditFilter(), by caller: Caller? = nil
  ) throws -> [AuditEntry] {
    let reading = try stand.access.readAudit(filter, for: caller ?? stand.administrator)
    defer { reading.end() }
    var entries: [AuditEntry] = []
    while true {
      let (found, isOver) = try reading.page(until: .max) { 0 }
      entries += found.map(\.entry)
      if isOver { return entries }
    }
  }

  static func get(_ stand: RoomStand, _ name: String, _ caller: Caller? = nil, for purpose: String? = nil) {
    guard let name = try? ItemName(name) else { return }
    let said = Said(purpose: purpose)
    _ = try? stand.items.get(name, for: caller ?? stand.administrator, said) { _, _, _ in }
  }

  @Test("a refused copy or renaming is an entry of the item that it was refused for") func sides() throws {
    let stand = try RoomStand.unlocked(system: true)
    for name in ["open", "shut", "taken"] { try stand.set(name, require: name == "shut" ? .password : .none) }
    for (pattern, rights) in [("shut", "get,admin"), ("own/**", "get,set,admin"), ("taken", "admin")] {
      _ = try stand.access.give(
        try Subject(parsing: "user:990"), try ItemPattern(pattern), try Rights(parsing: rights), until: nil,
        for: stand.administrator)
    }
    let caller = RoomStand.caller(990)
    func copy(_ source: String, _ target: String) throws {
      _ = try? stand.items.copy(
        try ItemName(source), to: try ItemName(target), replacing: false, evenExpired: false, for: caller)
    }
    func move(_ name: String, _ new: String) throws {
      try? stand.items.move(try ItemName(name), to: try ItemName(new), for: caller)
    }
    try copy("shut", "elsewhere")
    try copy("open", "own/a")
    try copy("shut", "own/a")
    try copy("own/none", "own/a")
    try move("open", "own/a")
    try move("taken", "elsewhere")
    try move("own/none", "own/a")
    var filter = AuditFilter()
    filter.isRefused = true
    let found = try Self.found(stand, filter).map {
      "\($0.action.name) \($0.outcome.name) \($0.item ?? ""): \($0.detail ?? "")"
    }
    #expect(
      found == [
        "set denied elsewhere: copy of shut", "get denied open: copied to own/a", "get presence shut: copied to own/a",
        "get missing own/none: copied to own/a", "move denied open: to own/a", "move denied elsewhere: from taken",
        "move missing own/none: to own/a",
      ])
  }

  @Test("has one entry for each thing that is done or refused, by whom and for what") func entries() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("a")
    Self.get(stand, "a", for: "to\ntest")
    Self.get(stand, "b")
    Self.get(stand, "a", Self.service)
    try stand.items.move(ItemName("a"), to: ItemName("c"), for: stand.administrator)
    _ = try stand.items.delete([ItemName("c")], isForGood: false, for: stand.administrator)
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("iothome/*"), try Rights(parsing: "get"), until: nil,
      for: stand.administrator)
    stand.vault.lock(because: .asked, stand.administrator)
    Self.get(stand, "c")
    try stand.unlock()
    #expect(
      try Self.told(stand) == [
        "unlock ok by `vault lock`", "set ok a", "get ok a", "get missing b",
        "get denied a", "move ok a", "move ok c", "delete ok c",
        "grant ok user:990", "lock ok by `vault lock`", "get missing c", "unlock ok by `vault lock`",
        "audit ok read",
      ])
    var filter = AuditFilter()
    filter.isRefused = true
    #expect(try Self.told(stand, filter) == ["get missing b", "get denied a", "get missing c"])
    filter = AuditFilter()
    filter.items = try ItemPattern("a")
    filter.action = .get
    #expect(try Self.told(stand, filter) == ["get ok a", "get denied a"])
    filter = AuditFilter()
    (filter.action, filter.last) = (.get, 2)
    #expect(try Self.told(stand, filter) == ["get denied a", "get missing c"])
    filter = AuditFilter()
    filter.subject = try Subject(parsing: "unit:iothome.service")
    let byService = try Self.told(stand, filter)
    #expect(byService == ["get denied a"], "\(byService)")
    // A caller's own words are reduced to one line.
    let reading = try stand.access.readAudit(AuditFilter(), for: stand.administrator)
    let (found, _) = try reading.page(until: .max) { 0 }
    #expect(found.contains { $0.entry.purpose == "to\\u{a}test" })
    reading.end()
  }

  @Test("administrators see all of it, others what they did themselves, and strangers nothing") func readers() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("iothome/key")
    Self.get(stand, "iothome/key", RoomStand.caller(990, session: 8, unit: "other.service"))
    Self.get(stand, "iothome/key", Self.service)
    #expect(throws: Refusal.self) { try Self.told(stand, by: Self.service) }
    _ = try stand.access.give(
      try Subject(parsing: "unit:iothome.service"), try ItemPattern("iothome/*"), try Rights(parsing: "get"),
      until: nil,
      for: stand.administrator)
    #expect(try Self.told(stand, by: Self.service) == ["get denied iothome/key", "audit denied read", "audit ok read"])
    #expect(throws: Refusal.self) {
      _ = try stand.access.readAudit(AuditFilter(), noted: AuditNotes(), for: Self.service)
    }
    stand.vault.lock(because: .asked)
    #expect(throws: Refusal.locked(stand.vault.state)) { try Self.told(stand) }
  }

  @Test("a user who is no service reads what its own processes did, and nothing of another user's") func user() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    for uid: UInt32 in [990, 991] {
      _ = try stand.access.give(
        try Subject(parsing: "user:\(uid)"), try ItemPattern("own/*"), try Rights(parsing: "get"), until: nil,
        for: stand.administrator)
    }
    Self.get(stand, "own/a", RoomStand.caller(990))
    Self.get(stand, "own/none", RoomStand.caller(991))
    Self.get(stand, "own/a", RoomStand.caller(990, session: 8, unit: "x.service"))
    #expect(
      try Self.told(stand, by: RoomStand.caller(990)) == ["get ok own/a", "get ok own/a", "audit ok read"])
    #expect(try Self.told(stand, by: RoomStand.caller(991)) == ["get missing own/none", "audit ok read"])
  }

  @Test("a subject finds the entries for which all its parts hold; no group and no digest holds for an entry")
  func subjects() throws {
    let entry = AuditEntry(
      time: 10, action: .get, outcome: .ok,
      caller: AuditEntry.Caller(door: "varlink", uid: 1000, pid: 5, unit: "a.service", executable: "/opt/app"),
      item: "a")
    func finds(_ subject: String, _ entry: AuditEntry) throws -> Bool {
      var filter = AuditFilter()
      filter.subject = try Subject(parsing: subject)
      return filter.matches(entry, of: nil)
    }
    for subject in ["user:1000", "unit:a.service", "user:1000,exe:/opt/app", "user:1000,unit:a.service,exe:/opt/app"] {
      #expect(try finds(subject, entry), "\(subject)")
      // An entry of the daemon itself has no caller.
      #expect(try !finds(subject, AuditEntry(time: 10, action: .get, outcome: .ok, item: "a")), "\(subject)")
    }
    let digest = "sha256:" + String(repeating: "0", count: 64)
    let others = [
      "user:1001", "unit:b.service", "user:1000,unit:b.service", "user:1001,exe:/opt/app", "user:1000,exe:/opt/other",
      "group:1000", "user:1000,group:1000", "user:1000," + digest, "user:1000,exe:/opt/app," + digest,
    ]
    for subject in others { #expect(try !finds(subject, entry), "\(subject)") }
  }

  @Test("is read from the first to the last second that is asked for, both included") func times() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a", kind: .totp, "MY")
    for wall: Int64 in [3000, 4000, 5000] {
      stand.hands.wall.value = wall
      _ = try stand.items.code(try ItemName("a"), for: stand.administrator) { _ in }
    }
    func count(_ since: Int64?, _ until: Int64?) throws -> Int {
      var filter = AuditFilter()
      (filter.since, filter.until, filter.action) = (since, until, .use)
      return try Self.told(stand, filter).count
    }
    #expect(try count(nil, nil) == 3)
    #expect(try [2999, 3000, 3999, 4000, 5000].map { try count(nil, $0) } == [0, 1, 1, 2, 3])
    #expect(try [3000, 3001, 5000, 5001].map { try count($0, nil) } == [3, 2, 1, 0])
    #expect(try count(4000, 4000) == 1)
  }

  @Test("a second with more than waits for a disk loses nothing") func burst() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 30
    let stand = try RoomStand.unlocked(settings)
    let purpose = String(repeating: "p", count: 100)
    for number in 0..<15_000 { Self.get(stand, "a", for: "\(purpose) \(number)") }
    #expect(try stand.vault.keychain().hasUnwrittenAudit)
    let told = try Self.told(stand).filter { $0 == "get missing a" }
    #expect(told.count == 15_000 && stand.vault.audit.lost == 0)
  }

  @Test("what a full disk takes no more is counted, and none of it is lost") func fullDisk() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 30
    var disk: SmallDisk?
    let stand = try RoomStand.unlocked(settings) { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    stand.hands.pass(seconds: 61)
    disk?.fill()
    let purpose = String(repeating: "p", count: 100)
    var made = 0
    while made < 20_000 {
      for _ in 0..<2 { Self.get(stand, "a", for: "\(purpose) \(made)") }
      made += 2
    }
    #expect(stand.vault.audit.lost == 0)
    disk?.free()
    for _ in 0..<3 { stand.hands.pass(seconds: 61) }
    let gets = try Self.found(stand).filter { $0.action == .get }
    #expect(gets.reduce(0) { $0 + Int($1.repeats?.count ?? 1) } == made)
  }

  @Test("the oldest entries go when it is too long, also while the vault stays unlocked") func length() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    let stand = try RoomStand.unlocked(settings)
    let long = String(repeating: "x", count: 1000)
    for number in 0..<2500 {
      let subject = AuditSubject.Name(text: "user:\(number / 25)")
      stand.vault.audit.record(.use, .ok, for: subject, item: "\(number) \(long)", detail: "")
    }
    stand.hands.pass(seconds: 2)
    #expect(try stand.vault.keychain().auditFacts.bytes > 2 << 20)
    stand.hands.pass(seconds: 60)
    stand.vault.audit.record(.settings, .ok, nil, item: "last")
    stand.hands.pass(seconds: 2)
    #expect(try stand.vault.keychain().auditFacts.bytes <= 1 << 20)
    let told = try Self.told(stand)
    #expect(told.contains { $0.hasSuffix("entries were removed") } && told.contains("settings ok last"))
  }

  @Test("turning it off, and making it smaller, are entries of it") func settings() throws {
    let stand = try RoomStand.unlocked()
    var settings = VaultSettings()
    settings.audit.mode = .off
    stand.rooms.reconfigure(settings)
    Self.get(stand, "unseen")
    settings.audit.mode = .on
    settings.audit.size = 1 << 20
    stand.rooms.reconfigure(settings)
    Self.get(stand, "seen")
    let told = try Self.told(stand)
    #expect(told.contains("audit ok audit off, size 67108864, age 31536000"))
    #expect(told.contains("audit ok audit on, size 1048576, age 31536000"))
    #expect(told.contains("get missing seen") && !told.contains("get missing unseen"))
  }

  @Test("what happened cold is there after the unlock") func cold() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("boot", accessible: .always)
    try stand.restart()
    Self.get(stand, "boot")
    stand.vault.audit.record(.get, .locked, stand.administrator, item: "other")
    try stand.unlock()
    let told = try Self.told(stand)
    #expect(told.contains("get ok boot") && told.contains("get locked other"), "\(told)")
    let reading = try stand.access.readAudit(AuditFilter(), noted: AuditNotes(), for: stand.administrator)
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    #expect(reading.result?.faults.isEmpty == true && reading.result?.unvouched == 0)
    reading.end()
    // The journal records the log's position.
    #expect(stand.journal.value.contains { $0.hasPrefix("info: audit entry ") })
  }

  @Test("whoever follows is told of what comes, and lets go of its keys at a lock") func following() throws {
    let stand = try RoomStand.unlocked()
    let reading = try stand.access.readAudit(AuditFilter(), for: stand.administrator)
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    var isTold = false
    reading.follow { isTold = true }
    Self.get(stand, "new")
    #expect(!isTold)
    stand.hands.pass(seconds: 2)
    #expect(isTold)
    let (found, isOver) = try reading.page(until: .max) { 0 }
    #expect(found.map(\.entry.item) == ["new"] && isOver)
    Self.get(stand, "newer")
    stand.hands.pass(seconds: 2)
    stand.vault.lock(because: .asked)
    #expect(throws: Refusal.self) { _ = try reading.page(until: .max) { 0 } }
    reading.end()
  }

  @Test("is told a page at a time, and who follows is told of what came meanwhile") func pages() throws {
    let stand = try RoomStand.unlocked()
    for number in 0..<250 { Self.get(stand, "item-\(number)") }
    var filter = AuditFilter()
    filter.last = 220
    let last = try stand.access.readAudit(filter, for: stand.administrator)
    let counts = try (0..<3).map { _ in try last.page(until: .max) { 0 } }.map { "\($0.found.count) \($0.isOver)" }
    #expect(counts == ["100 false", "100 false", "20 true"])
    last.end()
    let reading = try stand.access.readAudit(AuditFilter(), for: stand.administrator)
    reading.isFollowing = true
    #expect(try !reading.page(until: .max, now: { 0 }).isOver)
    Self.get(stand, "new")
    stand.hands.pass(seconds: 2)
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    var isTold = false
    reading.follow { isTold = true }
    #expect(isTold)
    #expect(try reading.page(until: .max) { 0 }.found.map(\.entry.item) == ["new"])
    // A lock discards what was still to be told.
    let other = try stand.access.readAudit(AuditFilter(), for: stand.administrator)
    #expect(try !other.page(until: .max, now: { 0 }).isOver)
    stand.vault.lock(because: .asked)
    #expect(throws: Refusal.self) { try other.page(until: .max) { 0 } }
    reading.end()
  }

  @Test("where it is required, nothing is answered before its entry is on the disk, nor where that cannot be")
  func required() throws {
    var settings = VaultSettings()
    settings.audit.mode = .required
    let stand = try RoomStand.unlocked(settings)
    try stand.set("a")
    let keychain = try stand.vault.keychain()
    var entries: Int64 = 0
    _ = try stand.items.get(ItemName("a"), for: stand.administrator) { _, _, _ in
      entries = keychain.auditFacts.entries
      #expect(!keychain.hasUnwrittenAudit, "it is on the disk")
    }
    #expect(entries == keychain.auditFacts.entries && entries > 0)
  }
  /// Makes a process of the user that runs a program.
  private static func program(_ path: String, unit: String? = nil) -> Caller {
    var caller = RoomStand.caller()
    caller = Caller(
      door: .varlink, uid: caller.uid, groups: caller.groups, pid: caller.pid, started: nil, unit: nil, userUnit: unit,
      session: caller.session, memory: Caller.Memory(executable: { path }))
    return caller
  }

  private static func confine(_ stand: RoomStand, _ subject: String) throws {
    stand.access.add(.presence, by: stand.administrator, with: [])
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern("app/*"), try Rights(parsing: "get"), until: nil,
      for: stand.administrator)
  }

  @Test("a program that has its grants alone reads what it did itself, and nothing else of its user") func confined()
    throws
  {
    let stand = try RoomStand.unlocked()
    for name in ["bank/pin", "app/x", "app/y", "app/z"] { try stand.set(name) }
    let (app, other) = (Self.program("/opt/app"), Self.program("/opt/other"))
    let (service, sibling) = (Self.program("/opt/app", unit: "app.service"), Self.program("/opt/app", unit: "b.scope"))
    try Self.confine(stand, "user:1000,exe:/opt/app")
    Self.get(stand, "bank/pin")
    Self.get(stand, "bank/pin", other)
    Self.get(stand, "app/x", app)
    Self.get(stand, "app/y", service)
    Self.get(stand, "app/z", sibling)
    #expect(try Self.told(stand, by: app) == ["get ok app/x", "audit ok read"])
    #expect(try Self.told(stand, by: service) == ["get ok app/y", "audit ok read"])
    // A unit confines its processes as well, whatever they run.
    try Self.confine(stand, "unit:job.service")
    let (job, shell) = (Self.program("/bin/job", unit: "job.service"), Self.program("/bin/sh", unit: "job.service"))
    Self.get(stand, "app/x", job)
    Self.get(stand, "app/y", shell)
    #expect(try Self.told(stand, by: job) == ["get ok app/x", "audit ok read"])
    #expect(try Self.told(stand).contains("get ok bank/pin"))
  }

  @Test("whoever reads on is judged anew: what was all of it ends when it is to be less") func judgedAnew() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("bank/pin")
    let app = Self.program("/opt/app")
    let reading = try stand.access.readAudit(AuditFilter(), for: app)
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    var isTold = 0
    reading.follow { isTold += 1 }
    stand.hands.pass(seconds: 2)
    try Self.confine(stand, "user:1000,exe:/opt/app")
    Self.get(stand, "bank/pin")
    stand.hands.pass(seconds: 2)
    #expect(throws: Refusal.denied("you may now read only the entries about yourself")) {
      _ = try reading.page(until: .max) { 0 }
    }
    reading.end()
    let times = isTold
    Self.get(stand, "bank/pin", for: "again")
    stand.hands.pass(seconds: 2)
    #expect(isTold == times && reading.hasEnded)
    // A reader of its own entries is refused once its grants are revoked.
    let machine = try RoomStand.unlocked(system: true)
    let subject = try Subject(parsing: "unit:iothome.service")
    _ = try machine.access.give(
      subject, try ItemPattern("a"), try Rights(parsing: "get"), until: nil, for: machine.administrator)
    let own = try machine.access.readAudit(AuditFilter(), for: Self.service)
    _ = try machine.access.revoke(subject, nil, for: machine.administrator)
    #expect(throws: Refusal.self) { _ = try own.page(until: .max) { 0 } }
    own.end()
  }

  /// Makes a stand whose log lacks a record, which the unlock discovers.
  static func failed(_ settings: VaultSettings) throws -> RoomStand {
    let stand = try RoomStand.unlocked(settings)
    try stand.set("a")
    try stand.set("b")
    stand.vault.wipe()
    stand.vault.closeStore()
    try stand.sql("DELETE FROM audit WHERE id = 2")
    try stand.restart()
    try stand.unlock()
    stand.run()
    #expect(try stand.vault.keychain().hasFailed)
    return stand
  }

  @Test("of a store that has failed administrators read the log and save the rest, also where the log is required")
  func rescue() throws {
    var settings = VaultSettings()
    settings.audit.mode = .required
    let stand = try Self.failed(settings)
    #expect(throws: Refusal.self) { try stand.items.get(ItemName("a"), for: stand.administrator) { _, _, _ in } }
    var result: SalvageWork.Result?
    let reader = SalvageWork.Reader(ObjectIdentifier(stand)) {
      true
    } tell: { _ in
    } end: {
      result = try? $0.get()
    }
    try stand.rooms.upkeep.salvage(reader, for: stand.administrator)
    stand.run()
    #expect(result?.saved == 2)
    var size = 0
    try stand.rooms.upkeep.backUp(isOfSalvage: true, for: stand.administrator) { backup in
      size = backup.count
      return nil
    }
    #expect(size > 0)
    // New entries are in memory only and are told from there; a check does not count them.
    let told = try Self.told(stand)
    #expect(told.contains("salvage ok ") && told.contains("get failed a"), "\(told)")
    let reading = try stand.access.readAudit(AuditFilter(), noted: AuditNotes(), for: stand.administrator)
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    let found = try #require(reading.result)
    let known = try stand.vault.keychain().auditFacts.entries
    #expect(found.faults.contains { $0.first != nil } && found.total < known)
    reading.end()
    // Other callers and all other calls are refused.
    #expect(throws: Refusal.self) { try stand.set("c") }
  }

  @Test("entries without the boot key are told at the unlock where it is there") func unvouched() throws {
    let stand = try RoomStand.unlocked()
    try stand.restart(withBootKey: false)
    stand.vault.audit.record(.get, .locked, stand.administrator, item: "a")
    try stand.restart()
    try stand.unlock()
    let told = try Self.told(stand)
    #expect(told.contains { $0.hasPrefix("audit failed nobody vouches for entry 2") }, "\(told)")
    #expect(stand.journal.value.contains { $0.hasPrefix("error: the audit log: nobody vouches for entry 2") })
  }

  @Test("what is recorded between the wipe at the daemon's end and the close of the store is vouched for")
  func end() throws {
    for isCold in [false, true] {
      for isTooLong in [false, true] {
        var settings = VaultSettings()
        settings.audit.size = 1 << 20
        let stand = try RoomStand.unlocked(settings)
        if isTooLong {
          let long = String(repeating: "x", count: 1000)
          for number in 0..<2500 {
            let subject = AuditSubject.Name(text: "user:\(number / 25)")
            stand.vault.audit.record(.use, .ok, for: subject, item: "\(number) \(long)", detail: "")
          }
          stand.hands.pass(seconds: 2)
        }
        if isCold { try stand.restart() }
        stand.vault.wipe()
        // A waiting call whose connection is closed.
        stand.vault.audit.record(.get, .locked, stand.administrator, item: "left")
        stand.vault.closeStore()
        stand.vault.openStore(because: .start)
        try stand.openWithBootKey()
        try stand.unlock()
        let told = try Self.told(stand)
        #expect(!told.contains { $0.contains("vouches") || $0.contains("lost") }, "\(told.suffix(5))")
        if !isCold { #expect(told.contains { $0.hasPrefix("get") && $0.hasSuffix("left") }, "\(told.suffix(5))") }
      }
    }
  }

  @Test("a clock that jumps takes nothing out") func clock() throws {
    let stand = try RoomStand.unlocked()
    Self.get(stand, "seen")
    stand.vault.lock(because: .asked)
    stand.hands.wall.value += 800 * 86_400
    try stand.unlock()
    stand.vault.lock(because: .asked)
    try stand.unlock()
    #expect(try Self.told(stand).contains("get missing seen"))
  }
}

extension RoomStand {
  /// Edits the store's file, which is closed.
  fileprivate func sql(_ statement: String) throws {
    var database: OpaquePointer?
    try #require(unsafe sqlite3_open(vault.directory + "/vault.db", &database) == SQLITE_OK)
    let isDone = unsafe sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK
    unsafe sqlite3_close(database)
    try #require(isDone)
  }
}
