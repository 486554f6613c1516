import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("The names in what is counted") struct AuditCountedNamesTests {
  private static let log = (size: Int64(64 << 20), now: Int64(0))

  @Test("no noise of a subject keeps its reads from being counted by item") func ownNoise() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let caller = RoomStand.caller(990)
    AuditFilling.fill(stand, .get, .ok, caller)
    for number in 0..<600 { AuditTests.get(stand, "no/\(number)/\(AuditFilling.long)", caller) }
    stand.hands.pass(seconds: 61)
    for number in 0..<600 { AuditTests.get(stand, "none/\(number)", caller) }
    for _ in 0..<37 { AuditTests.get(stand, "svc/b", caller) }
    for end in [61, 3600] {
      stand.hands.pass(seconds: Int64(end))
      #expect(try AuditFilling.times(stand, .get, .ok, by: 990) == ["svc/a": 200, "svc/b": 37])
    }
    try stand.restart()
    try stand.unlock()
    #expect(try AuditFilling.times(stand, .get, .ok, by: 990) == ["svc/a": 200, "svc/b": 37])
    let refused = try AuditFilling.times(stand, .get, .denied, by: 990)
    #expect(refused.values.reduce(0, +) == 1200)
  }

  @Test("changes of rights are counted with whose and which they are, whatever else was counted") func rights() throws {
    let stand = try AuditFilling.serving(AuditFilling.small())
    let administrator = stand.administrator
    for _ in 0..<300 {
      stand.vault.audit.record(.backup, .ok, administrator, item: "a backup", detail: AuditFilling.long)
    }
    for number in 0..<600 { AuditTests.get(stand, "missing/\(number)/\(AuditFilling.long)", administrator) }
    stand.hands.pass(seconds: 61)
    for uid in 5000..<5003 { try AuditFilling.give(stand, "user:\(uid)", "svc/b") }
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

  /// Counts uses of items by users; each user is a subject.
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
    AuditShortCounts(subjects.countedSubjects, strangers: subjects.strangers, hasNames: hasNames, in: log)
  }

  /// Returns the items of a user that entries name, and the number of uses in all.
  private static func named(_ entries: [AuditEntry], _ uid: UInt32) -> (items: [String], times: UInt32) {
    let own = entries.filter { $0.caller?.uid == uid }
    return (own.compactMap(\.item).sorted(), own.reduce(0) { $0 + ($1.repeats?.count ?? 0) })
  }

  @Test("in one record each has a fair share for its names, in bytes, whatever others have") func shares() {
    let short = (0..<60).map { "short/\($0)" }.sorted()
    let long = (0..<12).map { "\($0)\(AuditFilling.long)\(AuditFilling.long)" }
    // As many short names of one user, and as few long names of others, as possible.
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
    let stand = try AuditFilling.serving(AuditFilling.small(.required))
    try AuditFilling.give(stand, "user:991", "svc/*")
    let (noisy, quiet) = (RoomStand.caller(990), RoomStand.caller(991))
    for caller in [noisy, quiet] { AuditFilling.fill(stand, .use, .ok, caller) }
    let audit = stand.vault.audit
    for number in 0..<12 { audit.record(.use, .ok, noisy, item: "\(number)\(AuditFilling.long)\(AuditFilling.long)") }
    for number in 0..<60 { audit.record(.use, .ok, quiet, item: "quiet/\(number)") }
    audit.write()
    let next = try AuditPartTests.killed(stand, AuditFilling.small(), system: true)
    try next.unlock()
    let times = try AuditFilling.times(next, .use, .ok, by: 991)
    #expect(times.filter { $0.key.hasPrefix("quiet/") }.count == 60 && times.values.reduce(0, +) == 260)
    #expect(try AuditFilling.times(next, .use, .ok, by: 990).values.reduce(0, +) == 212)
  }

  @Test("in its share a subject keeps the names of changes of rights before those of values and of refused calls")
  func sharesByPart() {
    var subjects = Self.counted([1: (0..<200).map { "calls/\($0)" }], .calls)
    for (part, name) in [(AuditPart.values, "values"), (.rights, "rights")] {
      for number in 0..<120 {
        subjects.count(
          subjects.subject(.user(1)), Self.kind(1, "\(name)/\(number) \(AuditFilling.long.prefix(30))"), beyond: part,
          at: 6)
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
    _ = subjects.shortCounts(hasNames: true, in: Self.log)
    for number in 0..<600 {
      for uid: UInt32 in [2, 3] {
        subjects.count(subjects.subject(.user(uid)), Self.kind(uid, "\(number)"), beyond: .values, at: 6)
        #expect(subjects.short?.fits == true)
      }
    }
    for number in 0..<20 {
      subjects.count(subjects.subject(.user(1)), Self.kind(1, "quiet/\(number)"), beyond: .values, at: 7)
    }
    let named = Self.named(subjects.shortCounts(hasNames: true, in: Self.log).entries, 2).items
    for number in 0..<500 {
      subjects.count(subjects.subject(.user(2)), Self.kind(2, "\(number)"), beyond: .values, at: 8)
    }
    let counts = subjects.shortCounts(hasNames: true, in: Self.log)
    // No name replaces another.
    #expect(Self.named(counts.entries, 2).items == named)
    let times: [UInt32: UInt32] = [1: 60, 2: 1101, 3: 600]
    let (on, anew) = (counts.entries, Self.short(subjects).entries)
    for entries in [on, anew] {
      #expect(Self.named(entries, 1).items.count == 40)
      for (uid, all) in times { #expect(Self.named(entries, uid).times == all) }
      for uid: UInt32 in [2, 3] { #expect((100..<300).contains(Self.named(entries, uid).items.count)) }
    }
    // Counts that were written down are no longer kept, and forgotten names are not told.
    subjects.changeCounts(of: subjects.subject(.user(3))) { $0.haveToldAll() }
    #expect(subjects.short == nil)
    #expect(Self.named(subjects.shortCounts(hasNames: true, in: Self.log).entries, 3).times == 0)
    subjects.forgetNames()
    #expect(Self.named(subjects.shortCounts(hasNames: true, in: Self.log).entries, 2).items == [])
  }

  @Test("what is counted on where names are left out has none, either") func countedOnUnnamed() {
    var subjects = Self.counted([1: ["secret/1"]])
    _ = subjects.shortCounts(hasNames: false, in: Self.log)
    for name in ["secret/1", "secret/2", "secret/2"] {
      subjects.count(subjects.subject(.user(1)), Self.kind(1, name), beyond: .values, at: 6)
    }
    let counts = subjects.shortCounts(hasNames: false, in: Self.log)
    #expect(Self.named(counts.entries, 1) == ([], 4) && counts.entries.count == 1)
    #expect(Self.named(subjects.shortCounts(hasNames: true, in: Self.log).entries, 1) == (["secret/1", "secret/2"], 4))
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
    // If each user of the group has few counts, the same number of users is told apart.
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
    check(subjects.shortCounts(hasNames: true, in: Self.log))
    // A use by another member of the group is counted for the group.
    for uid: UInt32 in 2..<60 {
      subjects.count(subjects.subject(.user(uid)), Self.kind(uid, "more"), beyond: .values, at: 6)
      all += 1
    }
    check(subjects.shortCounts(hasNames: true, in: Self.log))
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
    // Three subjects take slightly more than a quarter of the room, and one takes far more; without its doors it would
    // be small.
    for uid: UInt32 in 1...3 { try count(uid, room / 4 / 24 + 2, ["varlink"]) }
    try count(4, (room / 4 - 600) / 24, ["varlink", "ssh-agent", "credentials"])
    let counts = Self.short(subjects)
    #expect(counts.fits)
    for uid: UInt32 in 1...3 { #expect(Self.named(counts.entries, uid).times == UInt32(room / 4 / 24 + 2), "\(uid)") }
    #expect(Self.named(counts.entries, 4).times == 0)
    let all = counts.entries.reduce(0) { $0 + ($1.repeats?.count ?? 0) }
    #expect(Int(all) == 3 * (room / 4 / 24 + 2) + 3 * ((room / 4 - 600) / 24))
  }
}
