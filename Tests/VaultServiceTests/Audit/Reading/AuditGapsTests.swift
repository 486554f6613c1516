import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("The times for which the audit log cannot tell what happened") struct AuditGapsTests {
  /// The daemon's entry about a change of the log's settings.
  private static func entry(_ time: Int64, _ mode: AuditSettings.Mode, before: AuditSettings.Mode) -> AuditEntry {
    var (new, old) = (AuditSettings(), AuditSettings())
    (new.mode, old.mode) = (mode, before)
    return AuditEntry(time: time, action: .audit, outcome: .ok, item: new.text, detail: "before: \(old.text)")
  }

  private static func other(_ time: Int64, repeats: AuditEntry.Repeats? = nil) -> AuditEntry {
    AuditEntry(time: time, action: .lock, outcome: .ok, item: "idle", repeats: repeats)
  }

  private static func gaps(
    _ entries: [AuditEntry], since: Int64? = nil, until: Int64? = nil, begin: Int64? = nil, areOff: Bool = false
  ) -> AuditGaps {
    var gaps = AuditGaps(since: since, until: until)
    for entry in entries { gaps.meet(entry) }
    gaps.conclude(begin: begin, areOff: areOff, haveLost: false)
    return gaps
  }

  private static let (off, on) = (entry(10, .off, before: .on), entry(20, .on, before: .off))
  /// The entry of the first unlock of a daemon that was started with the log off.
  private static let startedOff = AuditEntry(
    time: 10, action: .audit, outcome: .ok, item: "audit off, size 1048576, age off",
    detail: "since the daemon's start")
  private static let counted = AuditEntry.Repeats(of: nil, count: 2)

  @Test("it was off from the entry that says so to the next entry of any sort") func off() {
    for (entries, since, until, wereOff) in [
      ([Self.off, Self.on], 21, nil, false), ([Self.off, Self.on], 20, nil, true),
      ([Self.off, Self.on], 15, nil, true), ([Self.off, Self.on], nil, nil, true),
      ([Self.off, Self.on], nil, 9, false), ([Self.off, Self.on], nil, 10, true),
      // The entry that says so was removed, or comes before those that are read.
      ([Self.on], 15, nil, true), ([Self.on], 21, nil, false),
      // No entry shows that it is on again. A daemon that was started with the log on makes no such entry, but others.
      ([Self.off], 100, nil, true), ([Self.off, Self.other(30)], 31, nil, false),
      ([Self.off, Self.other(30)], 25, nil, true),
      // Entries that were made earlier are written while it is off, too.
      ([Self.off, Self.other(5)], 100, nil, true), ([Self.off, Self.other(30, repeats: Self.counted)], 100, nil, true),
      // It was on all the time.
      ([Self.entry(10, .on, before: .required), Self.entry(20, .required, before: .on)], nil, nil, false),
      ([], nil, nil, false),
      // The daemon was started so, at some time after the entry before.
      ([Self.other(5), Self.startedOff, Self.on], 6, 8, true), ([Self.other(5), Self.startedOff], nil, 4, false),
    ] as [([AuditEntry], Int64?, Int64?, Bool)] {
      let gaps = Self.gaps(entries, since: since, until: until)
      #expect(gaps.wereOff == wereOff, "\(entries.map(\.time)) since \(since ?? -1) until \(until ?? -1)")
      #expect(gaps.isEmpty == !wereOff)
    }
  }

  @Test("it is off now, which concerns whoever asks about now") func offNow() {
    for (entries, until, wereOff) in [
      ([Self.other(5), Self.off], nil, true), ([Self.other(5), Self.off], 9, false), ([Self.other(5)], 4, false),
      ([Self.other(5)], nil, true), ([], nil, true),
    ] as [([AuditEntry], Int64?, Bool)] {
      #expect(Self.gaps(entries, until: until, areOff: true).wereOff == wereOff)
    }
  }

  @Test("entries that were lost or set aside were made before the entry that says so") func lost() {
    for (item, outcome, haveLost) in [
      ("3 entries are lost", .failed, true), ("1 entry is lost", .failed, true),
      ("entries 3 to 5: set aside", .ok, true), ("7 entries were removed", .ok, false),
      ("7 entries were removed: more were written before an unlock than have room in the log", .failed, true),
      ("entry 3: something else", .failed, false),
    ] as [(String, AuditOutcome, Bool)] {
      var entry = AuditEntry(time: 30, action: .audit, outcome: outcome, item: item)
      #expect(Self.gaps([entry]).haveLost == haveLost, "\(item)")
      #expect(Self.gaps([entry], since: 30).haveLost == haveLost && !Self.gaps([entry], since: 31).haveLost)
      entry.caller = AuditEntry.Caller(door: "varlink", uid: 990, pid: 7)
      #expect(Self.gaps([entry]).isEmpty, "what a caller asked for")
    }
  }

  @Test("a salvage, and a count that has lost its words, may stand for lost entries") func unnamed() {
    let salvages = [
      "all entries are lost", "the entries 3 to 7 are lost", "entry 3 is lost", "the entries after 9 are lost",
      "entries after 9 may be lost", "what was before entry 9 is lost",
    ].map { AuditEntry(time: 30, action: .salvage, outcome: .failed, item: $0) }
    let count = AuditEntry(time: 30, action: .audit, outcome: .failed, repeats: Self.counted)
    for entry in salvages + [count] {
      #expect(Self.gaps([entry]).haveLost && Self.gaps([entry], since: 30).haveLost)
      #expect(Self.gaps([entry], since: 31).isEmpty)
    }
    let begun = AuditEntry(
      time: 30, action: .salvage, outcome: .ok, caller: AuditEntry.Caller(door: "varlink", uid: 0, pid: 7))
    #expect(Self.gaps([begun]).isEmpty)
  }

  @Test("a restored backup has nothing from between its own last entry and the restore") func restored() {
    var entry = AuditEntry(time: 30, action: .restore, outcome: .ok, item: "a backup of 7 bytes")
    entry.caller = AuditEntry.Caller(door: "varlink", uid: 0, pid: 7)
    for (since, until, isMeant) in [
      (nil, nil, true), (30, nil, true), (31, nil, false), (nil, 10, true), (nil, 9, false),
    ] as [(Int64?, Int64?, Bool)] {
      let gaps = Self.gaps([Self.other(10), entry], since: since, until: until)
      #expect(
        gaps.restores == (isMeant ? [AuditGaps.Restore(since: 10, until: 30)] : []),
        "since \(since ?? -1) until \(until ?? -1)")
      #expect(gaps.isEmpty == !isMeant && !gaps.haveLost)
    }
    #expect(Self.gaps([entry]).restores == [AuditGaps.Restore(since: nil, until: 30)])
    let many = Self.gaps((0..<20).map { AuditEntry(time: $0, action: .restore, outcome: .ok) })
    #expect(many.restores.count == 16 && many.restores.last == AuditGaps.Restore(since: 18, until: 19))
    entry.outcome = .failed
    #expect(Self.gaps([Self.other(10), entry]).isEmpty)
  }

  @Test("the beginning of the log concerns whoever asks about earlier times") func begin() {
    #expect(Self.gaps([], since: 49, begin: 50).begin == 50 && Self.gaps([], begin: 50).begin == 50)
    #expect(Self.gaps([], since: 50, begin: 50).isEmpty && Self.gaps([]).isEmpty)
  }

  // MARK: Readers

  /// Returns what a reader is told at the end.
  static func told(
    _ stand: RoomStand, by caller: Caller, _ change: (inout AuditFilter) -> Void = { _ in }
  ) throws -> AuditGaps? {
    var filter = AuditFilter()
    change(&filter)
    let reading = try stand.access.readAudit(filter, for: caller)
    defer { reading.end() }
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    return reading.gaps
  }

  /// Returns a vault with a caller that may read entries about itself alone, and its readers.
  private static func stand(_ settings: VaultSettings) throws -> (RoomStand, readers: [Caller]) {
    let stand = try RoomStand.unlocked(settings, system: true)
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("a"), try Rights(parsing: "get"), until: nil,
      for: stand.administrator)
    return (stand, [stand.administrator, RoomStand.caller(990)])
  }

  @Test("are told to every reader: since when a log reaches back that was cut") func cut() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    let (stand, readers) = try Self.stand(settings)
    for reader in readers { #expect(try Self.told(stand, by: reader)?.isEmpty == true) }
    let long = String(repeating: "x", count: 1000)
    for number in 0..<2500 {
      let subject = AuditSubject.Name(text: "user:\(number / 25)")
      stand.vault.audit.record(.use, .ok, for: subject, item: "\(number) \(long)", detail: "")
    }
    stand.hands.pass(seconds: 2)
    stand.hands.pass(seconds: 60)
    stand.vault.audit.record(.settings, .ok, nil, item: "last")
    stand.hands.pass(seconds: 2)
    let begin = try #require(try stand.vault.keychain().auditBegin)
    for reader in readers {
      #expect(try Self.told(stand, by: reader)?.begin == begin)
      #expect(try Self.told(stand, by: reader) { $0.since = begin - 1 }?.begin == begin)
      #expect(try Self.told(stand, by: reader) { $0.since = begin }?.isEmpty == true)
      #expect(try Self.told(stand, by: reader) { $0.last = 1 } == nil, "the last entries are of no certain time")
    }
  }

  @Test(
    "are told to every reader: that it was off for a daemon that was never unlocked, and has served a value",
    arguments: [false, true], [false, true])
  func offAndCold(wasOn: Bool, hasServed: Bool) throws {
    var settings = VaultSettings()
    if !wasOn { settings.audit.mode = .off }
    let (stand, readers) = try Self.stand(settings)
    try stand.set("a", accessible: .always)
    stand.hands.pass(seconds: 61)
    settings.audit.mode = .off
    let cold = try AuditPartTests.killed(stand, settings, system: true)
    try cold.openWithBootKey()
    if hasServed { AuditTests.get(cold, "a", readers[1]) }
    cold.hands.pass(seconds: 2)
    settings.audit.mode = .on
    let next = try AuditPartTests.killed(cold, settings, system: true)
    try next.openWithBootKey()
    try next.unlock()
    next.hands.pass(seconds: 61)
    for reader in readers { #expect(try Self.told(next, by: reader)?.wereOff == hasServed) }
    // The values themselves are not recorded.
    #expect(try !AuditTests.told(next).contains("get ok a"))
    #expect(try next.vault.keychain().verify().isOK)
  }

  @Test("are told to every reader: that entries cannot be read") func unreadable() throws {
    let stand = try AuditTests.failed(VaultSettings())
    #expect(try Self.told(stand, by: stand.administrator)?.haveLost == true)
  }

  @Test("are told to every reader: that it was off, or is") func turnedOff() throws {
    var settings = VaultSettings()
    let (stand, readers) = try Self.stand(settings)
    func pass() {
      stand.hands.wall.value += 10
      stand.hands.pass(seconds: 10)
    }
    pass()
    settings.audit.mode = .off
    stand.rooms.reconfigure(settings)
    pass()
    for reader in readers { #expect(try Self.told(stand, by: reader)?.wereOff == true) }
    settings.audit.mode = .on
    stand.rooms.reconfigure(settings)
    pass()
    let now = stand.vault.clock.wall()
    for reader in readers {
      for (since, wereOff) in [(nil, true), (now - 11, true), (now, false)] as [(Int64?, Bool)] {
        #expect(try Self.told(stand, by: reader) { $0.since = since }?.wereOff == wereOff)
      }
    }
  }
}
