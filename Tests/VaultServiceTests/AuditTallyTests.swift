import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("What is counted beyond the parts of the audit log") struct AuditTallyTests {
  private static func small(_ mode: AuditSettings.Mode = .on) -> VaultSettings {
    var settings = VaultSettings()
    (settings.audit.size, settings.audit.mode) = (1 << 20, mode)
    return settings
  }

  private static let long = String(repeating: "x", count: 400)

  /// The machine's vault, in which a service may read two items.
  private static func serving(_ settings: VaultSettings, accessible: AccessClass = .whenUnlocked) throws -> RoomStand {
    let stand = try RoomStand.unlocked(settings, system: true)
    for name in ["svc/a", "svc/b"] { try stand.set(name, accessible: accessible) }
    try give(stand, "user:990", "svc/*")
    return stand
  }

  private static func give(_ stand: RoomStand, _ subject: String, _ pattern: String) throws {
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: "get"), until: nil,
      for: stand.administrator)
  }

  /// Uses up a part of a subject.
  private static func fill(_ stand: RoomStand, _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller) {
    for number in 0..<200 {
      stand.vault.audit.record(action, outcome, caller, item: "svc/a", detail: "\(number) \(long)")
    }
  }

  /// The number of times that something was, by item, as the log tells.
  private static func times(
    _ stand: RoomStand, _ action: AuditAction, _ outcome: AuditOutcome, by uid: UInt32
  ) throws -> [String: Int] {
    var filter = AuditFilter()
    filter.action = action
    var times: [String: Int] = [:]
    for entry in try AuditTests.found(stand, filter) where entry.caller?.uid == uid && entry.outcome == outcome {
      times[entry.item ?? "", default: 0] += Int(entry.repeats?.count ?? 1)
    }
    return times
  }

  // MARK: The gate

  @Test("a read that is only counted is on the disk before its answer, where the log is required") func required()
    throws
  {
    let settings = Self.small(.required)
    let stand = try Self.serving(settings)
    let caller = RoomStand.caller(990)
    Self.fill(stand, .use, .ok, caller)
    stand.vault.audit.write()
    let keychain = try stand.vault.keychain()
    let size = keychain.auditFacts.bytes
    for _ in 0..<300 {
      try #require(
        try stand.items.get(ItemName("svc/b"), for: caller, Said()) { _, _, _ in #expect(!keychain.hasUnwrittenAudit) }
          == nil)
    }
    #expect(keychain.auditFacts.bytes - size < 8 << 10, "no number of them makes the log longer")
    #expect(try Self.times(stand, .get, .ok, by: 990) == ["svc/b": 300])
    let next = try AuditPartTests.killed(stand, settings, system: true)
    try next.unlock()
    #expect(try Self.times(next, .get, .ok, by: 990) == ["svc/b": 300])
    let next2 = try AuditPartTests.killed(next, settings, system: true)
    try next2.unlock()
    #expect(try Self.times(next2, .get, .ok, by: 990) == ["svc/b": 300])
  }

  @Test("a kill right behind the answer to a read that is only counted loses none, where the log is required")
  func killedBehindAnswer() throws {
    let settings = Self.small(.required)
    let stand = try Self.serving(settings)
    let caller = RoomStand.caller(990)
    Self.fill(stand, .use, .ok, caller)
    stand.vault.audit.write()
    for count in 1...4 {
      try #require(try stand.items.get(ItemName("svc/b"), for: caller, Said()) { _, _, _ in } == nil)
      // Nobody reads the log of this one, which would write what is counted.
      let next = try AuditPartTests.killed(stand, settings, system: true)
      try next.unlock()
      #expect(try Self.times(next, .get, .ok, by: 990) == ["svc/b": count])
    }
  }

  @Test("what is counted is a record like any other before the log is copied, once", arguments: [false, true])
  func copied(isRequired: Bool) throws {
    let settings = Self.small(isRequired ? .required : .on)
    let stand = try Self.serving(settings)
    let caller = RoomStand.caller(990)
    Self.fill(stand, .use, .ok, caller)
    for number in 0..<300 { AuditTests.get(stand, "svc/b", caller, for: "\(number)") }
    let keychain = try stand.vault.keychain()
    for _ in 0..<2 {
      stand.vault.audit.willCopy()
      #expect(!keychain.hasAuditTally && !keychain.hasUnwrittenAudit)
      #expect(try Self.times(stand, .get, .ok, by: 990) == ["svc/b": 300])
    }
    for number in 300..<305 { AuditTests.get(stand, "svc/b", caller, for: "\(number)") }
    #expect(try Self.times(stand, .get, .ok, by: 990) == ["svc/b": 305])
  }

  @Test("what is counted comes along in a salvage", arguments: [false, true]) func salvaged(hasFailed: Bool) throws {
    let stand = try Self.serving(Self.small())
    let caller = RoomStand.caller(990)
    Self.fill(stand, .use, .ok, caller)
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
    let stand = try AuditTests.failed(Self.small(.required))
    stand.vault.audit.write()
    #expect(throws: Refusal.self) { try stand.vault.audit.settle() }
    Self.fill(stand, .get, .ok, stand.administrator)
    #expect(throws: Refusal.self) { try stand.vault.audit.settle(.log) }
    #expect(throws: Refusal.self) { try stand.items.get(ItemName("a"), for: stand.administrator) { _, _, _ in } }
  }

  @Test("a kill after a cut of the log loses no counts") func cut() throws {
    let settings = Self.small(.required)
    let stand = try Self.serving(settings)
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    for number in 0..<4 {
      for name in 0..<10 { audit.record(.use, .ok, for: .user(0), item: "\(name) \(number) \(Self.long)", detail: "") }
      audit.write()
      keychain.endAuditChain()
    }
    let caller = RoomStand.caller(990)
    Self.fill(stand, .use, .ok, caller)
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
    #expect(try Self.times(next, .get, .ok, by: 990) == ["svc/b": 300])
  }

  @Test("however much a cut takes out, the newest entries stay where they are") func largeCut() throws {
    let stand = try Self.serving(Self.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    var settings = audit.settings
    settings.size = 8 << 20
    audit.configure(settings)
    for number in 0..<40 {
      // Each of so few that it is one of those who have fewest.
      for name in 0..<10 {
        audit.record(.use, .ok, for: .user(UInt32(number)), item: "\(name) \(Self.long)", detail: "")
      }
      audit.write()
      keychain.endAuditChain()
    }
    let newest = keychain.nextAuditEntry
    for name in 0..<10 { audit.record(.use, .ok, for: .user(500), item: "\(name) \(Self.long)", detail: "") }
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
    let settings = Self.small(.required)
    let stand = try Self.serving(settings)
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    for number in 0..<8 {
      for name in 0..<10 { audit.add(.find, .denied, item: "\(name) \(number) \(Self.long)") }
      audit.write()
      keychain.endAuditChain()
    }
    let caller = RoomStand.caller(990)
    Self.fill(stand, .use, .ok, caller)
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
    #expect(try Self.times(next, .get, .ok, by: 990) == ["svc/b": 300])
    let told = try AuditTests.told(next).compactMap { line in
      line.hasSuffix("entries were taken out") ? Int64(line.split(separator: " ")[2]) : nil
    }
    #expect(told.reduce(0, +) == facts.cut && told.count >= 3, "\(told) \(facts)")
  }

  @Test("however much a cut takes out, changes of rights in it stay before the values that are older")
  func laterRights() throws {
    let stand = try Self.serving(Self.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    var settings = audit.settings
    settings.size = 8 << 20
    audit.configure(settings)
    for number in 0..<80 {
      for name in 0..<10 {
        audit.record(.use, .ok, for: .user(UInt32(number)), item: "\(name) \(Self.long)", detail: "")
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
    let stand = try Self.serving(Self.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    var settings = audit.settings
    settings.size = 64 << 20
    audit.configure(settings)
    /// Writes a log of several times what is taken out at a time, by so many that each is one of those who have fewest.
    func fill(_ users: Range<UInt32>) {
      for user in users {
        for name in 0..<10 { audit.record(.use, .ok, for: .user(user), item: "\(name) \(Self.long)", detail: "") }
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

  @Test("a kill after a second that was long enough to be written loses no counts") func longWrite() throws {
    let stand = try Self.serving(Self.small())
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    let caller = RoomStand.caller(990)
    Self.fill(stand, .use, .ok, caller)
    for number in 0..<300 { AuditTests.get(stand, "svc/b", caller, for: "\(number)") }
    audit.tallyLater()
    audit.write()
    #expect(keychain.hasAuditTally)
    // No time passes meanwhile.
    let written = keychain.auditFacts.bytes
    for number in 0..<3000 { audit.add(.use, .ok, of: AuditSubject(.user(7)).key, item: "\(number) \(Self.long)") }
    #expect(keychain.auditFacts.bytes > written)
    let next = try AuditPartTests.killed(stand, Self.small(), system: true)
    try next.unlock()
    let times = try Self.times(next, .get, .ok, by: 990)
    #expect(times == ["svc/b": 300], "\(times)")
  }

  // MARK: Names

  @Test("no noise of a subject keeps its reads from being counted by item") func ownNoise() throws {
    let stand = try Self.serving(Self.small())
    let caller = RoomStand.caller(990)
    Self.fill(stand, .get, .ok, caller)
    for number in 0..<600 { AuditTests.get(stand, "no/\(number)/\(Self.long)", caller) }
    stand.hands.pass(seconds: 61)
    for number in 0..<600 { AuditTests.get(stand, "none/\(number)", caller) }
    for _ in 0..<37 { AuditTests.get(stand, "svc/b", caller) }
    for end in [61, 3600] {
      stand.hands.pass(seconds: Int64(end))
      #expect(try Self.times(stand, .get, .ok, by: 990) == ["svc/a": 200, "svc/b": 37])
    }
    try stand.restart()
    try stand.unlock()
    #expect(try Self.times(stand, .get, .ok, by: 990) == ["svc/a": 200, "svc/b": 37])
    let refused = try Self.times(stand, .get, .denied, by: 990)
    #expect(refused.values.reduce(0, +) == 1200)
  }

  @Test("changes of rights are counted with whose and which they are, whatever else was counted") func rights() throws {
    let stand = try Self.serving(Self.small())
    let administrator = stand.administrator
    for _ in 0..<300 { stand.vault.audit.record(.backup, .ok, administrator, item: "a backup", detail: Self.long) }
    for number in 0..<600 { AuditTests.get(stand, "missing/\(number)/\(Self.long)", administrator) }
    stand.hands.pass(seconds: 61)
    for uid in 5000..<5003 { try Self.give(stand, "user:\(uid)", "svc/b") }
    stand.hands.pass(seconds: 130)
    var filter = AuditFilter()
    filter.action = .grant
    let found = try AuditTests.found(stand, filter)
    for uid in 5000..<5003 {
      #expect(found.contains { $0.item == "user:\(uid)" && $0.detail?.contains("svc/b") == true }, "\(found)")
    }
  }

  @Test("what other subjects have counted leaves each some items of its own") func manySubjects() {
    var subjects = AuditSubjects()
    func kind(_ item: String) -> AuditCounts.Kind {
      AuditCounts.Kind(action: .get, outcome: .ok, door: "varlink", uid: 1, item: item)
    }
    for number in 0..<40 {
      let noisy = subjects.subject(.group(UInt32(number)))
      for item in 0..<512 { subjects.count(noisy, kind("\(item)"), beyond: .values, at: 5) }
    }
    let subject = subjects.subject(.user(5))
    for item in 0..<60 { subjects.count(subject, kind("\(item)"), beyond: .values, at: 5) }
    #expect(subject.counts.named(.values) == 60 && subject.counts.untold(.values).count == 60)
  }

  /// Counts uses of items by users, each of them a subject.
  private static func counted(_ items: [UInt32: [String]], _ part: AuditPart = .values) -> AuditSubjects {
    var subjects = AuditSubjects()
    for (uid, items) in items.sorted(by: { $0.key < $1.key }) {
      for item in items { subjects.count(subjects.subject(.user(uid)), kind(uid, item), beyond: part, at: 5) }
    }
    return subjects
  }

  private static func kind(_ uid: UInt32, _ item: String) -> AuditCounts.Kind {
    AuditCounts.Kind(action: .use, outcome: .ok, door: "varlink", uid: uid, item: item)
  }

  private static func short(_ subjects: AuditSubjects, hasNames: Bool = true) -> AuditShortCounts {
    AuditShortCounts(subjects.countedSubjects, strangers: subjects.strangers, hasNames: hasNames)
  }

  /// The items of a user that entries name, and how often there was something in all.
  private static func named(_ entries: [AuditEntry], _ uid: UInt32) -> (items: [String], times: UInt32) {
    let own = entries.filter { $0.caller?.uid == uid }
    return (own.compactMap(\.item).sorted(), own.reduce(0) { $0 + ($1.repeats?.count ?? 0) })
  }

  @Test("in one record each has a fair share for its names, in bytes, whatever others have") func shares() {
    let short = (0..<60).map { "short/\($0)" }.sorted()
    let long = (0..<12).map { "\($0)\(Self.long)\(Self.long)" }
    // As many short names of one, and as few long ones of others, as there can be.
    let subjects = Self.counted([1: short, 2: long, 3: long, 4: (0..<512).map { "many/\($0)" }])
    let counts = Self.short(subjects)
    let entries = counts.entries
    #expect(counts.fits && Self.named(entries, 1) == (short, 60))
    for uid: UInt32 in 2...4 {
      let (items, times) = Self.named(entries, uid)
      let all = uid == 4 ? 512 : 12
      let bytes = items.reduce(0) { $0 + $1.utf8.count + 24 }
      #expect(times == all && items.count < all && (2000..<4096).contains(bytes), "\(uid): \(bytes)")
    }
    var block = AuditBlock()
    for entry in entries { block.add(entry) }
    let size = block.size
    #expect((AuditShortCounts.room * 2 / 3..<AuditBlock.capacity).contains(size))
  }

  @Test("few long names of one leave another's many short ones in the record at the end of the log") func longNames()
    throws
  {
    let stand = try Self.serving(Self.small(.required))
    try Self.give(stand, "user:991", "svc/*")
    let (noisy, quiet) = (RoomStand.caller(990), RoomStand.caller(991))
    for caller in [noisy, quiet] { Self.fill(stand, .use, .ok, caller) }
    let audit = stand.vault.audit
    for number in 0..<12 { audit.record(.use, .ok, noisy, item: "\(number)\(Self.long)\(Self.long)") }
    for number in 0..<60 { audit.record(.use, .ok, quiet, item: "quiet/\(number)") }
    audit.write()
    let next = try AuditPartTests.killed(stand, Self.small(), system: true)
    try next.unlock()
    let times = try Self.times(next, .use, .ok, by: 991)
    #expect(times.filter { $0.key.hasPrefix("quiet/") }.count == 60 && times.values.reduce(0, +) == 260)
    #expect(try Self.times(next, .use, .ok, by: 990).values.reduce(0, +) == 212)
  }

  @Test("in its share a subject keeps the names of changes of rights before those of values and of refused calls")
  func sharesByPart() {
    var subjects = Self.counted([1: (0..<200).map { "calls/\($0)" }], .calls)
    for (part, name) in [(AuditPart.values, "values"), (.rights, "rights")] {
      for number in 0..<120 {
        subjects.count(
          subjects.subject(.user(1)), Self.kind(1, "\(name)/\(number) \(Self.long.prefix(30))"), beyond: part, at: 6)
      }
    }
    let (items, times) = Self.named(Self.short(subjects).entries, 1)
    #expect(times == 440)
    func count(_ name: String) -> Int { items.filter { $0.hasPrefix(name) }.count }
    #expect(count("rights") == 120 && (1..<120).contains(count("values")) && count("calls") == 0)
    #expect(Self.named(Self.short(subjects, hasNames: false).entries, 1) == ([], 440))
  }

  @Test("what is counted on goes into what one record holds, without a look at all counts") func countedOn() {
    var subjects = Self.counted([1: (0..<40).map { "quiet/\($0)" }, 2: ["a"]])
    _ = subjects.shortCounts(hasNames: true)
    for number in 0..<600 {
      for uid: UInt32 in [2, 3] {
        subjects.count(subjects.subject(.user(uid)), Self.kind(uid, "\(number)"), beyond: .values, at: 6)
        #expect(subjects.short?.fits == true)
      }
    }
    for number in 0..<20 {
      subjects.count(subjects.subject(.user(1)), Self.kind(1, "quiet/\(number)"), beyond: .values, at: 7)
    }
    let named = Self.named(subjects.shortCounts(hasNames: true).entries, 2).items
    for number in 0..<500 {
      subjects.count(subjects.subject(.user(2)), Self.kind(2, "\(number)"), beyond: .values, at: 8)
    }
    let counts = subjects.shortCounts(hasNames: true)
    // No name comes back in another's place.
    #expect(Self.named(counts.entries, 2).items == named)
    let times: [UInt32: UInt32] = [1: 60, 2: 1101, 3: 600]
    let (on, anew) = (counts.entries, Self.short(subjects).entries)
    for entries in [on, anew] {
      #expect(Self.named(entries, 1).items.count == 40)
      for (uid, all) in times { #expect(Self.named(entries, uid).times == all) }
      for uid: UInt32 in [2, 3] { #expect((100..<300).contains(Self.named(entries, uid).items.count)) }
    }
    // What was written down is counted no more, nor what is forgotten named.
    subjects.changeCounts(of: subjects.subject(.user(3))) { $0.haveToldAll() }
    #expect(subjects.short == nil && Self.named(subjects.shortCounts(hasNames: true).entries, 3).times == 0)
    subjects.forgetNames()
    #expect(Self.named(subjects.shortCounts(hasNames: true).entries, 2).items == [])
  }

  @Test("what is counted on where names are left out has none, either") func countedOnUnnamed() {
    var subjects = Self.counted([1: ["secret/1"]])
    _ = subjects.shortCounts(hasNames: false)
    for name in ["secret/1", "secret/2", "secret/2"] {
      subjects.count(subjects.subject(.user(1)), Self.kind(1, name), beyond: .values, at: 6)
    }
    let counts = subjects.shortCounts(hasNames: false)
    #expect(Self.named(counts.entries, 1) == ([], 4) && counts.entries.count == 1)
    #expect(Self.named(subjects.shortCounts(hasNames: true).entries, 1) == (["secret/1", "secret/2"], 4))
  }

  @Test("whose names are not enough tells its users apart no longer, and stays a subject of its own") func users() {
    var subjects = Self.counted([500: (0..<40).map { "quiet/\($0)" }])
    let group = subjects.subject(.group(7))
    var all: UInt32 = 0
    for uid: UInt32 in 1...16 {
      for action in AuditAction.allCases.prefix(4) {
        for outcome in AuditOutcome.allCases {
          let kind = AuditCounts.Kind(action: action, outcome: outcome, door: "varlink", uid: uid, item: "a")
          subjects.count(group, kind, beyond: .calls, at: 5)
          all += 1
        }
      }
    }
    let counts = Self.short(subjects)
    let own = counts.entries.filter { $0.subject == group.key }
    #expect(counts.fits && Self.named(counts.entries, 500).items.count == 40)
    #expect(own.reduce(0) { $0 + ($1.repeats?.count ?? 0) } == all)
    #expect(Set(own.map(\.caller?.uid)) == [AuditEntry.Caller.others])
    // As many others have as little as that needs, each is told apart.
    var few = Self.counted([500: ["quiet"]])
    for uid: UInt32 in 1...16 {
      few.count(few.subject(.group(7)), Self.kind(uid, "a"), beyond: .values, at: 5)
    }
    let told = Self.short(few).entries.filter { $0.subject == group.key }
    #expect(Set(told.map(\.caller?.uid)) == Set((1...16).map { UInt32($0) }))
  }

  @Test("what more subjects have than one record holds without any name is counted with the strangers, largest first")
  func tooMany() {
    var subjects = Self.counted([1: ["quiet"]])
    var all: UInt32 = 1
    for uid: UInt32 in 2..<60 {
      for door in ["varlink", "ssh-agent", "credentials"] {
        for action in AuditAction.allCases {
          for outcome in AuditOutcome.allCases {
            let kind = AuditCounts.Kind(action: action, outcome: outcome, door: door, uid: uid)
            subjects.count(subjects.subject(.user(uid)), kind, beyond: .calls, at: 5)
            all += 1
          }
        }
      }
    }
    func check(_ counts: AuditShortCounts) {
      #expect(counts.fits && counts.entries.reduce(0) { $0 + ($1.repeats?.count ?? 0) } == all)
      #expect(Self.named(counts.entries, 1).items == ["quiet"])
    }
    check(Self.short(subjects))
    check(subjects.shortCounts(hasNames: true))
    // Who is one of them is counted there.
    for uid: UInt32 in 2..<60 {
      subjects.count(subjects.subject(.user(uid)), Self.kind(uid, "more"), beyond: .values, at: 6)
      all += 1
    }
    check(subjects.shortCounts(hasNames: true))
  }

  @Test("of those who have more than their share without any name, the largest is one with the strangers first")
  func largestFirst() throws {
    let room = AuditShortCounts.room
    let sorts = AuditAction.allCases.flatMap { action in AuditOutcome.allCases.map { (action, $0) } }
    var subjects = AuditSubjects()
    func count(_ uid: UInt32, _ number: Int, _ doors: [String]) throws {
      try #require(sorts.count >= number)
      for door in doors {
        for (action, outcome) in sorts.prefix(number) {
          let kind = AuditCounts.Kind(action: action, outcome: outcome, door: door, uid: uid)
          subjects.count(subjects.subject(.user(uid)), kind, beyond: .calls, at: 5)
        }
      }
    }
    // Three that take a bit more than a quarter, and one that is far larger; without its doors it is small.
    for uid: UInt32 in 1...3 { try count(uid, room / 4 / 24 + 2, ["varlink"]) }
    try count(4, (room / 4 - 600) / 24, ["varlink", "ssh-agent", "credentials"])
    let counts = Self.short(subjects)
    #expect(counts.fits)
    for uid: UInt32 in 1...3 { #expect(Self.named(counts.entries, uid).times == UInt32(room / 4 / 24 + 2), "\(uid)") }
    #expect(Self.named(counts.entries, 4).times == 0)
    let all = counts.entries.reduce(0) { $0 + ($1.repeats?.count ?? 0) }
    #expect(Int(all) == 3 * (room / 4 / 24 + 2) + 3 * ((room / 4 - 600) / 24))
  }

  // MARK: Strangers, and groups

  @Test("strangers of thousands of users fill no more than their part, and are counted") func strangers() throws {
    let stand = try Self.serving(Self.small())
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
      sum += try uid > 100_300 && uid < .max ? 0 : Self.times(stand, .get, .denied, by: uid).values.reduce(0, +)
    }
    #expect(sum == Int(others))
  }

  @Test("the members of a group are one subject, of however many users, but for those whom a grant names")
  func groups() throws {
    let stand = try RoomStand.unlocked(system: true)
    for subject in ["group:5555", "group:6000", "user:991", "unit:a.service"] { try Self.give(stand, subject, "a/*") }
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
    // A caller in the log tells no group.
    let told = AuditEntry.Caller(door: "varlink", uid: 100_001, pid: 5)
    #expect(stand.access.auditName(of: told) == .strangers)
  }

  private static func member(_ uid: UInt32, of group: UInt32) -> Caller {
    var caller = RoomStand.caller(uid)
    caller.groups = [group]
    return caller
  }

  /// Those of some callers whose next use of an item is an entry of its own, and not a count.
  private static func free(_ stand: RoomStand, _ callers: [String: Caller]) throws -> [String] {
    for (name, caller) in callers { stand.vault.audit.record(.use, .ok, caller, item: "\(name) \(long)") }
    let told = try AuditTests.told(stand)
    return callers.keys.filter { told.contains("use ok \($0) \(long)") }.sorted()
  }

  @Test("after a kill each pays for its own noise alone, as a member of a group and without any right")
  func killedGroups() throws {
    let stand = try Self.serving(Self.small())
    for subject in ["group:5555", "group:6000"] { try Self.give(stand, subject, "svc/*") }
    stand.hands.pass(seconds: 61)
    stand.vault.audit.write(anchored: true)
    func callers() -> [String: Caller] {
      [
        "one": Self.member(100_001, of: 5555), "two": Self.member(100_001, of: 6000),
        "none": RoomStand.caller(100_001), "user": RoomStand.caller(990),
      ]
    }
    for (noisy, caller) in callers() {
      var next = try AuditPartTests.killed(stand, Self.small(), system: true)
      try next.unlock()
      Self.fill(next, .use, .ok, caller)
      next.hands.pass(seconds: 2)
      next = try AuditPartTests.killed(next, Self.small(), system: true)
      try next.unlock()
      #expect(try Self.free(next, callers()) == callers().keys.filter { $0 != noisy }.sorted(), "\(noisy)")
    }
  }

  @Test(
    "noise from before anybody could read the grants is nobody's who has rights", arguments: [5555, 7000 as UInt32])
  func undecided(group: UInt32) throws {
    let stand = try Self.serving(Self.small())
    try Self.give(stand, "group:5555", "svc/*")
    stand.hands.pass(seconds: 2)
    let cold = try AuditPartTests.killed(stand, Self.small(), system: true)
    for number in 0..<200 {
      let caller = Self.member(100_000 + UInt32(number), of: group)
      cold.vault.audit.record(.use, .ok, caller, item: "\(number) \(Self.long)")
      cold.vault.audit.record(.find, .ok, caller, detail: "\(number) \(Self.long)")
    }
    cold.hands.pass(seconds: 2)
    let next = try AuditPartTests.killed(cold, Self.small(), system: true)
    try next.unlock()
    #expect(try Self.free(next, ["member": Self.member(100_001, of: 5555)]) == ["member"])
    next.vault.audit.record(.find, .ok, Self.member(100_001, of: 5555), detail: "free")
    #expect(try AuditTests.told(next).contains("find ok free"))
  }

  @Test("what the daemon does for who left a deposit takes of that one's part after a kill as well") func depositor()
    throws
  {
    let stand = try Self.serving(Self.small())
    stand.vault.audit.write(anchored: true)
    let subject = AuditSubject.Name.user(990)
    for number in 0..<200 {
      stand.vault.audit.record(.deposit, .ok, for: subject, item: "svc/a", detail: "\(number) \(Self.long)")
    }
    stand.hands.pass(seconds: 2)
    let next = try AuditPartTests.killed(stand, Self.small(), system: true)
    try next.unlock()
    #expect(try Self.free(next, ["user": RoomStand.caller(990)]) == [])
    next.vault.audit.record(.deposit, .ok, nil, item: "of nobody")
    #expect(try AuditTests.told(next).contains("deposit ok of nobody"))
  }

  @Test("where the log is too long, a group that has done little keeps its entries beside others and strangers")
  func cutGroups() throws {
    let stand = try Self.serving(Self.small())
    for subject in ["group:5555", "group:6000"] { try Self.give(stand, subject, "svc/*") }
    let (quiet, noisy) = (Self.member(100_001, of: 5555), Self.member(100_001, of: 6000))
    let audit = stand.vault.audit
    for number in 0..<20 { audit.record(.use, .ok, quiet, item: "quiet \(number)") }
    stand.hands.pass(seconds: 2)
    for week in 0..<32 {
      for number in 0..<60 {
        audit.record(.use, .ok, noisy, item: "\(week)/\(number) \(Self.long)")
        audit.record(.use, .ok, RoomStand.caller(100_002), item: "s\(week)/\(number) \(Self.long)")
      }
      stand.hands.pass(seconds: 7 * 86_400)
    }
    stand.hands.pass(seconds: 61)
    audit.record(.settings, .ok, nil)
    stand.hands.pass(seconds: 61)
    let told = try AuditTests.told(stand)
    #expect(told.contains { $0.hasSuffix("entries were taken out") } && !told.contains { $0.hasPrefix("use ok 0/0 ") })
    for number in 0..<20 { #expect(told.contains("use ok quiet \(number)")) }
  }

  // MARK: Before the first unlock

  /// A daemon that starts after one that has ended.
  private static func started(after stand: RoomStand) throws -> RoomStand {
    try stand.restart()
    let next = try AuditPartTests.killed(stand, small(), system: true)
    try next.openWithBootKey()
    return next
  }

  @Test("before the first unlock tried secrets and reads are told, whatever strangers do", arguments: [true, false])
  func cold(isStopped: Bool) throws {
    var stand = try Self.started(after: Self.serving(Self.small(), accessible: .always))
    for uid: UInt32 in 100_000..<102_000 {
      for item in ["n", "m", Self.long] { AuditTests.get(stand, item, RoomStand.caller(uid)) }
    }
    stand.hands.pass(seconds: 61)
    for number in 0..<3 {
      stand.vault.audit.record(.unlock, .unproven, stand.administrator, item: "by password \(number)")
    }
    Self.fill(stand, .get, .ok, RoomStand.caller(990))
    for _ in 0..<5 { AuditTests.get(stand, "svc/b", RoomStand.caller(990)) }
    if isStopped {
      stand = try Self.started(after: stand)
    } else {
      stand.hands.pass(seconds: 3600)
      stand = try AuditPartTests.killed(stand, Self.small(), system: true)
    }
    try stand.unlock()
    #expect(try Self.times(stand, .unlock, .unproven, by: 0).count == 3)
    let times = try Self.times(stand, .get, .ok, by: 990)
    #expect(times == ["svc/a": 200, "svc/b": 5], "\(times)")
  }

  @Test("the noise of one service over starts without an unlock leaves another's reads their items") func starts()
    throws
  {
    var stand = try Self.serving(Self.small(), accessible: .always)
    try Self.give(stand, "user:991", "svc/b")
    for _ in 0..<4 {
      stand = try Self.started(after: stand)
      Self.fill(stand, .get, .ok, RoomStand.caller(990))
      stand.hands.pass(seconds: 2)
    }
    stand = try Self.started(after: stand)
    for _ in 0..<8 { AuditTests.get(stand, "svc/b", RoomStand.caller(991)) }
    stand = try Self.started(after: stand)
    try stand.unlock()
    #expect(try Self.times(stand, .get, .ok, by: 991) == ["svc/b": 8])
    #expect(try Self.times(stand, .get, .ok, by: 990).values.reduce(0, +) == 800)
  }

  // MARK: Turns

  @Test("counts are written in bounded turns") func turns() throws {
    var settings = VaultSettings()
    settings.audit.size = 64 << 20
    let stand = try Self.serving(settings)
    let audit = stand.vault.audit
    let subject = audit.subjects.subject(.user(990))
    for number in 0..<500 {
      let kind = AuditCounts.Kind(action: .use, outcome: .ok, door: "varlink", uid: 990, item: "\(number)")
      audit.subjects.count(subject, kind, beyond: .values, at: 5)
    }
    #expect(audit.tellCounts(for: .count, most: 256) && subject.counts.named(.values) == 244)
    #expect(!audit.tellCounts(for: .count, most: 256) && !audit.subjects.isCounting)
    #expect(try Self.times(stand, .use, .ok, by: 990).count == 500)
  }
}
