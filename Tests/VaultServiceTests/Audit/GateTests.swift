import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The gate of the audit log") struct GateTests {
  private static func terms(_ need: CallTerms.Need = .log, _ entry: CallTerms.Entry = .first) -> CallTerms {
    CallTerms("a call", needs: need, entry: entry)
  }

  private static func required() throws -> RoomStand {
    var settings = VaultSettings()
    settings.audit.mode = .required
    return try RoomStand.unlocked(settings)
  }

  /// Returns the log's outcomes of `a call`.
  private static func told(_ stand: RoomStand) throws -> [String] {
    try AuditTests.told(stand).filter { $0.hasSuffix(" a call") }
  }

  @Test("a call that nobody records leaves an entry, which is there before its first answer") func entries() throws {
    let stand = try Self.required()
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    let keychain = try stand.vault.keychain()
    for (refusal, isLast) in [(nil, true), (nil, false), (.denied, true)] as [(AuditOutcome?, Bool)] {
      try audit.begin(Self.terms(), for: caller)
      let before = keychain.auditFacts.entries
      try audit.pass(refusal, isLast: isLast, for: caller)
      #expect(keychain.auditFacts.entries == before + 1 && !keychain.hasUnwrittenAudit)
      // Neither the rest of the call's answers nor its end makes another entry.
      try audit.pass(nil, isLast: true, for: caller)
      audit.leave(for: caller)
      #expect(keychain.auditFacts.entries == before + 1)
    }
    #expect(try Self.told(stand) == ["call ok a call", "call ok a call", "call denied a call"])
  }

  @Test("a call that somebody records leaves that entry alone") func recorded() throws {
    let stand = try RoomStand.unlocked()
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    try audit.begin(Self.terms(), for: caller)
    try stand.set("a", by: caller)
    try audit.pass(nil, isLast: true, for: caller)
    try audit.begin(Self.terms(), for: caller)
    #expect(throws: Refusal.self) { try stand.items.move(ItemName("b"), to: ItemName("c"), for: caller) }
    try audit.pass(.missing, isLast: true, for: caller)
    #expect(try AuditTests.told(stand).suffix(3) == ["set ok a", "move missing b", "audit ok read"])
  }

  @Test("one whose client leaves before the answer is cancelled, and one that was answered is not") func left() throws {
    let stand = try Self.required()
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    for entry in [CallTerms.Entry.first, .last, .withValue, .ofRefusals] {
      try audit.begin(Self.terms(.log, entry), for: caller)
      audit.isAbout(.use, "waits", for: caller)
      audit.leave(for: caller)
      audit.leave(for: caller)
      try audit.begin(Self.terms(.log, entry), for: caller)
      try audit.pass(nil, isLast: true, for: caller)
      audit.leave(for: caller)
    }
    // A call that asks a person is not answered by its questions.
    try audit.begin(Self.terms(.log, .last), for: caller)
    try audit.pass(nil, isLast: false, for: caller)
    audit.leave(for: caller)
    try audit.begin(Self.terms(.log, .none), for: caller)
    audit.leave(for: caller)
    #expect(try AuditTests.told(stand).filter { $0 == "use cancelled waits" }.count == 4)
    #expect(try Self.told(stand) == ["call ok a call", "call ok a call", "call cancelled a call"])
  }

  @Test("a call that waits has one entry, that of its end, with what was found before") func waits() throws {
    let stand = try RoomStand.unlocked()
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    try stand.set("a", require: .password)
    let name = try ItemName("a")
    for outcome in [AuditOutcome.presence, .cancelled, .locked] {
      try audit.begin(Self.terms(.log, .withValue), for: caller)
      audit.isAbout(.get, "a", for: caller)
      for _ in 0..<2 {
        #expect(
          try stand.items.get(name, version: 1, for: caller) { _, _, _ in } == .presence(name, .password))
      }
      try audit.pass(outcome, isLast: true, for: caller)
    }
    let found = try AuditTests.found(stand).filter { $0.action == .get }
    #expect(found.map(\.outcome) == [.presence, .cancelled, .locked])
    #expect(found.allSatisfy { $0.item == "a" && $0.detail == "version 1" })
    #expect(found.map { $0.id != nil } == [true, true, false])
  }

  @Test("of a store that has failed nothing but its exceptions is begun, or answered") func failed() throws {
    var settings = VaultSettings()
    settings.audit.mode = .required
    let stand = try AuditTests.failed(settings)
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    #expect(throws: Refusal.self) { try audit.begin(Self.terms(), for: caller) }
    // The answer is refused for the same reason, whatever it was to be.
    #expect(throws: Refusal.self) { try audit.pass(nil, isLast: true, for: caller) }
    for need in [CallTerms.Need.logUnlessFailed, .nothing] {
      try audit.begin(Self.terms(need), for: caller)
      try audit.pass(nil, isLast: true, for: caller)
    }
  }

  /// A vault whose log is required, on a disk that a test fills.
  private static func onSmallDisk() throws -> (RoomStand, SmallDisk) {
    var settings = VaultSettings()
    settings.audit.mode = .required
    var disk: SmallDisk?
    let stand = try RoomStand.unlocked(settings) { disk = SmallDisk($0) }
    return (stand, try #require(disk))
  }

  @Test("of a whole store on a full disk nothing is begun, or answered, that needs the log, until there is room")
  func full() throws {
    let (stand, disk) = try Self.onSmallDisk()
    defer { withExtendedLifetime(disk) { stand.vault.closeStore() } }
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    func call(_ need: CallTerms.Need) throws {
      try audit.begin(Self.terms(need), for: caller)
      try audit.pass(nil, isLast: true, for: caller)
    }
    let needs: [CallTerms.Need] = [.logUnlessFailed, .log]
    disk.fill()
    // The first answer finds the disk full, and from then on no call is begun.
    for need in needs { #expect(throws: Refusal.self, "\(need)") { try call(need) } }
    for need in needs {
      #expect(throws: Refusal.self, "\(need)") { try audit.begin(Self.terms(need), for: caller) }
    }
    try call(.nothing)
    #expect(try !stand.vault.keychain().hasFailed)
    disk.free()
    for need in needs { try call(need) }
  }

  @Test("a call that is the first to find the disk full has a further entry, which says that it was refused")
  func foundFull() throws {
    let (stand, disk) = try Self.onSmallDisk()
    defer { withExtendedLifetime(disk) { stand.vault.closeStore() } }
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    try stand.set("a")
    let name = try ItemName("a")
    func pass() throws {
      try audit.begin(Self.terms(), for: caller)
      try audit.pass(nil, isLast: true, for: caller)
    }
    let calls: [(action: String, item: String, make: () throws -> Void)] = [
      ("call", "a call", { try pass() }),
      ("get", "a", { _ = try stand.items.get(name, for: caller) { _, _, _ in Issue.record("it was given") } }),
      ("find", "a", { _ = try stand.items.item(name, for: caller) }),
      ("receipt", "a", { try stand.items.receipt(1, of: name, succeeded: true, detail: nil, for: caller) }),
    ]
    for (action, item, make) in calls {
      #expect(audit.write())
      disk.fill()
      #expect(throws: Refusal.self, "\(action)") { try make() }
      disk.free()
      #expect(audit.write())
      let told = try AuditTests.told(stand).filter { $0.hasPrefix("\(action) ") }
      #expect(told == ["\(action) ok \(item)", "\(action) failed \(item)"], "\(told)")
    }
  }

  @Test("a call that was begun before the disk was full goes on, but for an answer whose entry is still to come")
  func goesOn() throws {
    let (stand, disk) = try Self.onSmallDisk()
    defer { withExtendedLifetime(disk) { stand.vault.closeStore() } }
    let audit = stand.vault.audit
    let (recorded, asking) = (stand.administrator.forCall(), stand.administrator.forCall())
    try audit.begin(Self.terms(), for: recorded)
    try audit.begin(Self.terms(.log, .last), for: asking)
    try audit.pass(nil, isLast: false, for: recorded)
    disk.fill()
    for caller in [recorded, asking] { try audit.pass(nil, isLast: false, for: caller) }
    #expect(throws: Refusal.self) { try audit.pass(nil, isLast: true, for: asking) }
    try audit.pass(nil, isLast: true, for: recorded)
  }

  @Test("a batch that is refused names the item that was, and a batch that was too large names none") func batches()
    throws
  {
    let stand = try RoomStand.unlocked(system: true)
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("own/*"), try Rights(parsing: "set,admin"), until: nil,
      for: stand.administrator)
    try stand.set("own/a")
    let caller = RoomStand.caller(990)
    func set(_ names: String...) throws {
      let changes = try names.map { (change: ItemChange(name: try ItemName($0)), value: NewValue.bytes(count: 1)) }
      _ = try stand.items.set(changes, for: caller) { _, _ in true }
    }
    #expect(throws: BatchRefusal.self) { try set("own/b", "own/c", "other/d") }
    #expect(throws: BatchRefusal.self) { try set("own/b", "own/a") }
    for names in [["own/a", "other/d"], ["own/a", "own/missing"]] {
      #expect(throws: Refusal.self) {
        try stand.items.delete(names.map { try ItemName($0) }, isForGood: false, for: caller)
      }
    }
    let many = try (0..<2000).map { try ItemName("own/\($0)") }
    #expect(throws: Refusal.self) { try stand.items.delete(many, isForGood: false, for: caller) }
    let told = try AuditTests.told(stand)
    #expect(
      told.suffix(6).dropLast() == [
        "set denied other/d", "set invalid own/a", "delete denied other/d", "delete missing own/missing",
        "delete invalid 2000 items, none of which was changed",
      ], "\(told)")
  }

  @Test("what was left says what came of it, to administrators, and is numbered alike for whom it is not to tell")
  func deposits() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/there")
    for (subject, rights) in [("user:990", "deposit"), ("user:991", "deposit,set")] {
      _ = try stand.access.give(
        try Subject(parsing: subject), try ItemPattern("own/*"), try Rights(parsing: rights), until: nil,
        for: stand.administrator)
    }
    let keychain = try stand.vault.keychain()
    let key = try stand.items.publicKey(for: stand.administrator)
    func box(_ name: String) throws -> String {
      try stand.items.seal(
        for: key.text, DepositedItem(name: ItemName(name), accessible: .whenUnlocked, kind: nil, attributes: nil),
        count: 1
      ) { _ in true }.box
    }
    func leave(_ box: String, _ uid: UInt32) throws -> Int64 {
      stand.vault.audit.write()
      let before = keychain.auditFacts.entries
      _ = try? stand.items.deposit(box: box, for: RoomStand.caller(uid), Said())
      stand.vault.audit.write()
      return keychain.auditFacts.entries - before
    }
    let (new, there, other) = (try box("own/new"), try box("own/there"), try box("other/x"))
    #expect(try [new, new, there, other].map { try leave($0, 990) } == [2, 2, 2, 2])
    // An administrator may know the outcome, so one entry tells it.
    #expect(try leave(try box("own/more"), 0) == 1)
    #expect(try leave(new, 0) == 1)
    let told = try AuditTests.told(stand).filter { $0.hasPrefix("deposit ") }
    #expect(
      told == [
        "deposit ok a sealed box, left", "deposit ok own/new", "deposit ok a sealed box, left",
        "deposit invalid own/new",
        "deposit ok a sealed box, left", "deposit denied own/there", "deposit ok a sealed box, left",
        "deposit denied other/x", "deposit ok own/more", "deposit invalid own/new",
      ], "\(told)")
    let own = try AuditTests.told(stand, by: RoomStand.caller(990)).filter { $0.hasPrefix("deposit ") }
    #expect(own == Array(repeating: "deposit ok a sealed box, left", count: 4), "\(own)")
  }

  @Test("questions about rights, a continued search and one who watches are in the log, and so are their refusals")
  func questions() throws {
    let stand = try RoomStand.unlocked(system: true)
    let (caller, nobody) = (stand.administrator, RoomStand.caller(992))
    let name = try ItemName("a")
    _ = try stand.access.can(try Subject(parsing: "user:990"), .get, name, for: caller)
    #expect(throws: Refusal.self) { try stand.access.can(try Subject(parsing: "user:990"), .get, name, for: nobody) }
    _ = try stand.access.whoMay(name, for: caller)
    _ = try stand.access.grants(Access.GrantFilter(name: name), for: caller)
    _ = try stand.access.toldRequests(for: caller)
    try stand.items.begin(search: "kind=wifi", isContinued: true, for: caller)
    try stand.items.watch(for: caller)
    #expect(throws: Refusal.self) { try stand.items.watch(for: nobody) }
    #expect(throws: Refusal.self) { try stand.items.publicKey(for: nobody) }
    let told = try AuditTests.told(stand)
    #expect(
      told.dropFirst().dropLast() == [
        "find ok a", "find denied a", "find ok a", "find ok a", "find ok requests", "find ok kind=wifi, continued",
        "find ok watching events", "find denied watching events", "find denied public key of the vault",
      ], "\(told)")
  }

  @Test("what a connection does between the parts of a call is no part of the call, and keeps its entry") func parts()
    throws
  {
    let stand = try RoomStand.unlocked()
    let (caller, audit) = (stand.administrator, stand.vault.audit)
    let (first, second) = (caller.forCall(), caller.forCall())
    #expect(first == caller)
    try audit.begin(Self.terms(), for: first)
    audit.isAbout(.find, "first", for: first)
    // A prompt of the connection, say, and another call.
    audit.isAbout(.get, "prompt", for: caller)
    try stand.set("a", by: caller)
    try audit.begin(Self.terms(), for: second)
    try stand.set("b", by: second)
    try audit.pass(nil, isLast: true, for: second)
    try audit.pass(nil, isLast: true, for: first)
    #expect(try AuditTests.told(stand).suffix(4) == ["set ok a", "set ok b", "find ok first", "audit ok read"])
    // A lock makes each call forget what it is about.
    try audit.begin(Self.terms(), for: first)
    audit.isAbout(.find, "first", for: first)
    caller.forgetNames()
    #expect(first.mayHoldNames && !audit.hasForgotten(first))
    first.forgetNames()
    #expect(!first.mayHoldNames && audit.hasForgotten(first))
  }
}
