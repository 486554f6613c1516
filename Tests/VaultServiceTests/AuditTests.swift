import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The audit log") struct AuditTests {
  private static var service: Caller { RoomStand.caller(990, session: 7, unit: "iothome.service") }

  /// What the log tells, as `action outcome item` with how often where that is more than once.
  private static func told(
    _ stand: RoomStand, _ filter: AuditFilter = AuditFilter(), by caller: Caller? = nil
  ) throws -> [String] {
    let reading = try stand.access.readAudit(filter, for: caller ?? stand.administrator)
    var told: [String] = []
    while true {
      let (found, isOver) = try reading.page(until: .max) { 0 }
      told += found.map { _, entry in
        let times = entry.repeats.map { " ×\($0.count)" } ?? ""
        return "\(entry.action.name) \(entry.outcome.name) \(entry.item ?? entry.detail ?? "")\(times)"
      }
      if isOver { break }
    }
    reading.end()
    return told
  }

  private static func get(_ stand: RoomStand, _ name: String, _ caller: Caller? = nil, for purpose: String? = nil) {
    guard let name = try? ItemName(name) else { return }
    let said = Said(purpose: purpose)
    _ = try? stand.items.get(name, for: caller ?? stand.administrator, said) { _, _, _ in }
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
        "get denied a", "move ok a", "delete ok c",
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
    filter.last = 2
    #expect(try Self.told(stand, filter).count == 2)
    filter = AuditFilter()
    filter.subject = try Subject(parsing: "unit:iothome.service")
    let byService = try Self.told(stand, filter)
    #expect(byService == ["get denied a"], "\(byService)")
    // A caller's own words are one line.
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
      _ = try stand.access.readAudit(AuditFilter(), noted: [:], for: Self.service)
    }
    stand.vault.lock(because: .asked)
    #expect(throws: Refusal.locked(stand.vault.state)) { try Self.told(stand) }
  }

  @Test("gets that are equal in all but time are one entry and a count") func coalesced() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    try stand.set("b")
    for _ in 0..<5 { Self.get(stand, "a") }
    for _ in 0..<2 { Self.get(stand, "b") }
    for _ in 0..<2 { Self.get(stand, "a", for: "another purpose") }
    stand.hands.pass(seconds: 61)
    Self.get(stand, "a")
    stand.hands.pass(seconds: 1)
    let gets = try Self.told(stand).filter { $0.hasPrefix("get") }
    #expect(
      gets == ["get ok a", "get ok b", "get ok a", "get ok a ×4", "get ok b ×1", "get ok a ×1", "get ok a"])
  }

  @Test("beyond its part of the log a subject is counted, and the entries of others and its own earlier ones stay")
  func budgets() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    let stand = try RoomStand.unlocked(settings, system: true)
    let long = String(repeating: "x", count: 500)
    for number in 0..<2000 { Self.get(stand, "\(long)\(number)", Self.service) }
    Self.get(stand, "\(long)seen", RoomStand.caller(991))
    Self.get(stand, "seen", stand.administrator)
    stand.hands.pass(seconds: 3601)
    let told = try Self.told(stand)
    let own = told.filter { $0.hasPrefix("get denied \(long)") }
    #expect(own.count > 50 && own.count < 200 && own.first == "get denied \(long)0")
    // Those without any right have one part together, which the flood has used up; the administrator has another.
    #expect(told.contains("get missing seen") && !told.contains("get denied \(long)seen"))
    #expect(told.contains { $0.hasPrefix("get denied strangers ×") })
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
    stand.items.gaveUp(.get, try ItemName("other"), stand.rooms.vault.locked, for: stand.administrator, Said())
    try stand.unlock()
    let told = try Self.told(stand)
    #expect(told.contains("get ok boot") && told.contains("get locked other"), "\(told)")
    let reading = try stand.access.readAudit(AuditFilter(), noted: [:], for: stand.administrator)
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    #expect(reading.result?.faults.isEmpty == true && reading.result?.unvouched == 0)
    reading.end()
    // The journal has where the log was.
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
}
