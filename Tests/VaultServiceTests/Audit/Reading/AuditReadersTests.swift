import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("Readers of the audit log") struct AuditReadersTests {
  private static func stand() throws -> RoomStand {
    let stand = try RoomStand.unlocked(system: true)
    for (uid, pattern) in [(990, "a/**"), (991, "b/**")] {
      _ = try stand.access.give(
        try Subject(parsing: "user:\(uid)"), try ItemPattern(pattern), try Rights(parsing: "get,find"), until: nil,
        for: stand.administrator)
    }
    return stand
  }

  private static func read(
    _ stand: RoomStand, by caller: Caller? = nil, _ change: (inout AuditFilter) throws -> Void = { _ in }
  ) throws -> (found: [AuditReading.Found], othersByName: Int) {
    var filter = AuditFilter()
    try change(&filter)
    let reading = try stand.access.readAudit(filter, for: caller ?? stand.administrator)
    defer { reading.end() }
    var found: [AuditReading.Found] = []
    while true {
      let (page, isOver) = try reading.page(until: 0) { 1 }
      found += page
      if isOver { return (found, reading.othersByName) }
    }
  }

  @Test("of one uid there are eight at a time, and one that ends makes room") func bound() throws {
    let stand = try Self.stand()
    let caller = RoomStand.caller(990)
    var readings = try (0..<AuditReaders.most).map { _ in try stand.access.readAudit(AuditFilter(), for: caller) }
    #expect(throws: Refusal.busy("8 programs are reading the audit log for the same user")) {
      try stand.access.readAudit(AuditFilter(), for: caller)
    }
    _ = try stand.access.readAudit(AuditFilter(), for: RoomStand.caller(991))
    readings[0].end()
    readings[0] = try stand.access.readAudit(AuditFilter(), for: caller)
    readings = []
    let told = try Self.read(stand) { $0.action = .audit }.found.filter { $0.entry.caller?.uid == 990 }
    #expect(told.contains { $0.entry.outcome == .failed })
    for _ in 0..<20 { try stand.access.readAudit(AuditFilter(), for: caller).end() }
  }

  @Test("a program that grants confine takes no place of its user, nor of another program") func confined() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.access.add(.presence, by: stand.administrator, with: [])
    for program in ["/opt/one", "/opt/two"] {
      _ = try stand.access.give(
        try Subject(parsing: "user:\(RoomStand.owner),exe:\(program)"), try ItemPattern("a"),
        try Rights(parsing: "get"), until: nil,
        for: stand.administrator)
    }
    let (one, two) = (RoomStand.caller(executable: "/opt/one"), RoomStand.caller(executable: "/opt/two"))
    var readings = try (0..<AuditReaders.most).map { _ in try stand.access.readAudit(AuditFilter(), for: one) }
    #expect(throws: Refusal.self) { try stand.access.readAudit(AuditFilter(), for: one) }
    readings.append(try stand.access.readAudit(AuditFilter(), for: two))
    readings.append(try stand.access.readAudit(AuditFilter(), for: stand.administrator))
    for reading in readings { reading.end() }
  }

  @Test("counts that are written while the log is read are told, once") func minute() throws {
    // The minute ends during the search for the last entries, and while they are told.
    for (last, turn) in [(nil, 3), (1000, 1), (1000, 3), (1000, 6)] as [(Int?, Int)] {
      let stand = try Self.stand()
      let caller = RoomStand.caller(990)
      for number in 0..<2000 { stand.vault.audit.record(.set, .ok, caller, item: "b/\(number)") }
      for _ in 0..<100 { stand.vault.audit.record(.get, .ok, caller, item: "a") }
      var filter = AuditFilter()
      filter.last = last
      let reading = try stand.access.readAudit(filter, for: stand.administrator)
      defer { reading.end() }
      var told = 0
      var isOver = false
      var pages = 0
      while !isOver {
        let (page, isLast) = try reading.page(until: 0) { 1 }
        told += page.filter { $0.entry.action == .get }.reduce(0) { $0 + Int($1.entry.repeats?.count ?? 1) }
        (isOver, pages) = (isLast, pages + 1)
        // The minute of the count ends, and other entries come.
        if pages == turn {
          stand.hands.pass(seconds: 120)
          stand.vault.audit.record(.set, .ok, caller, item: "later")
          stand.vault.audit.write()
        }
      }
      #expect(pages > turn && told == 100, "\(told) in \(pages) pages")
    }
  }

  @Test("uses under other names are counted within the other terms of the search alone") func otherNames() throws {
    let stand = try Self.stand()
    let (one, two) = (RoomStand.caller(990), RoomStand.caller(991))
    try stand.set("item")
    for name in ["old", "item", "old"] { stand.vault.audit.record(.get, .ok, one, item: name) }
    stand.vault.audit.record(.get, .ok, two, item: "other")
    func others(_ subject: String?) throws -> Int {
      try Self.read(stand) {
        $0.item = try ItemName("item")
        $0.subject = try subject.map { try Subject(parsing: $0) }
      }.1
    }
    #expect(try [others(nil), others("user:990"), others("user:991"), others("user:4711")] == [2, 1, 1, 0])
  }

  @Test(
    "the last entries are those that were found last, however many are asked for", arguments: [1, 63, 64, 300, 999])
  func last(count: Int) throws {
    let stand = try Self.stand()
    for number in 0..<500 { stand.vault.audit.record(.use, .ok, RoomStand.caller(990), item: "a/\(number)") }
    stand.vault.audit.record(.set, .ok, RoomStand.caller(990), item: "a/other")
    let (found, _) = try Self.read(stand) { ($0.action, $0.last) = (.use, count) }
    #expect(found.map(\.entry.item) == (0..<500).suffix(count).map { "a/\($0)" })
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.number < $1.number })
  }

  @Test("the last entries have what tells more of them, and what is only counted is the last") func lastCounts() throws
  {
    let stand = try Self.stand()
    try stand.set("a/one")
    let caller = RoomStand.caller(990)
    for _ in 0..<3 { AuditTests.get(stand, "a/one", caller) }
    stand.hands.pass(seconds: 61)
    for _ in 0..<5 { AuditTests.get(stand, "a/one", caller) }
    func told(_ last: Int?) throws -> [String] {
      try Self.read(stand) { ($0.action, $0.last) = (.get, last) }.found.map { one in
        "\(one.entry.item ?? "") \(one.entry.caller?.uid ?? 0)" + (one.entry.repeats.map { " ×\($0.count)" } ?? "")
      }
    }
    let all = ["a/one 990", "a/one 990 ×2", "a/one 990", "a/one 990 ×4"]
    #expect(try told(nil) == all, "also what was counted since the last entry of it")
    // The last count is not written yet, and stands beside the entries that are asked for.
    for last in 1...5 { #expect(try told(last) == Array(all.suffix(last + 1)), "the last \(last)") }
    stand.hands.pass(seconds: 61)
    #expect(try told(nil) == all, "once each")
  }

  @Test("the last entries stay the last ones, however many counts wait, which stand among them by their times")
  func lastAndWaiting() throws {
    let stand = try Self.stand()
    let caller = RoomStand.caller(990)
    for name in ["a/one", "a/two", "a/three"] {
      try stand.set(name)
      for _ in 0..<3 { AuditTests.get(stand, name, caller) }
    }
    func told(_ last: Int) throws -> [String] {
      try Self.read(stand) { ($0.subject, $0.last) = (try Subject(parsing: "user:990"), last) }.found.map { one in
        "\(one.entry.action) \(one.entry.item ?? "")" + (one.number == 0 ? " waits" : "")
      }
    }
    stand.hands.wall.value += 5
    stand.vault.audit.record(.set, .ok, caller, item: "four")
    stand.hands.wall.value += 5
    AuditTests.get(stand, "a/three", caller)
    stand.hands.wall.value += 5
    stand.vault.audit.record(.set, .ok, caller, item: "five")
    // Counts that are older than the last entries are left out, as older entries are.
    #expect(try told(1) == ["set five"])
    #expect(try told(2) == ["set four", "get a/three waits", "set five"])
    #expect(
      try told(10) == [
        "get a/one", "get a/two", "get a/three", "get a/one waits", "get a/two waits", "set four", "get a/three waits",
        "set five",
      ])
  }

  @Test("equal receipts are entries of their own: what was said last counts") func receipts() throws {
    let stand = try Self.stand()
    let caller = RoomStand.caller(990)
    for outcome in [AuditOutcome.ok, .failed, .ok, .ok] {
      stand.vault.audit.record(.receipt, outcome, caller, item: "a/one", detail: "version 1")
    }
    #expect(try Self.read(stand) { $0.action = .receipt }.found.map(\.entry.outcome) == [.ok, .failed, .ok, .ok])
  }

  @Test("entries of others, and what tells more of them, are not kept for one who may not read them") func others()
    throws
  {
    let stand = try Self.stand()
    for name in ["a/one", "b/one"] { try stand.set(name) }
    for _ in 0..<3 { AuditTests.get(stand, "a/one", RoomStand.caller(990)) }
    for _ in 0..<4 { AuditTests.get(stand, "b/one", RoomStand.caller(991)) }
    func told() throws -> [String] {
      try Self.read(stand, by: RoomStand.caller(991)) { $0.action = .get }.found.map { one in
        "\(one.entry.item ?? "?")" + (one.entry.repeats.map { " ×\($0.count)" } ?? "")
      }
    }
    #expect(try told() == ["b/one", "b/one ×3"])
    stand.hands.pass(seconds: 61)
    #expect(try told() == ["b/one", "b/one ×3"])
  }

  @Test("nothing is told of an item by its present name to one who may not find its old one") func oldName() throws {
    let stand = try Self.stand()
    try stand.set("b/one")
    AuditTests.get(stand, "b/one", RoomStand.caller(991))
    try stand.items.move(ItemName("b/one"), to: ItemName("b/two"), for: stand.administrator)
    let reader = RoomStand.caller(991)
    #expect(try Self.read(stand, by: reader) { $0.action = .get }.found.map(\.now?.text) == ["b/two"])
    _ = try stand.access.revoke(
      try Subject(parsing: "user:991"), try ItemPattern("b/**"), for: stand.administrator)
    _ = try stand.access.give(
      try Subject(parsing: "user:991"), try ItemPattern("b/two"), try Rights(parsing: "get,find"), until: nil,
      for: stand.administrator)
    let told = try Self.read(stand, by: reader) { $0.action = .get }.found
    #expect(told.map(\.now) == [nil] && told.map(\.isGone) == [false])
  }

  @Test("entries that know an item by another name alone are counted where an item is asked for") func names() throws {
    let stand = try Self.stand()
    try stand.set("a/new")
    let caller = AuditEntry.Caller(RoomStand.caller(990), isSystem: true)
    for name in ["a/old", "a/old", "a/new"] {
      stand.vault.audit.add(AuditEntry(time: 1, action: .get, outcome: .ok, caller: caller, item: name))
    }
    let (found, others) = try Self.read(stand) { $0.item = try ItemName("a/new") }
    #expect(found.count { $0.isByName } == 1 && others == 2)
    #expect(try Self.read(stand).othersByName == 0)
  }

  @Test("a receipt's author is the same service, by the units of the vault's mode, or else the same process")
  func authors() throws {
    for isSystem in [true, false] {
      let stand = try RoomStand.unlocked(system: isSystem)
      func caller(_ unit: String?, pid: Int32 = 100) -> Caller {
        var caller = RoomStand.caller(session: pid, unit: isSystem ? unit : "user@1000.service")
        if !isSystem { caller.userUnit = unit }
        return caller
      }
      func isAuthor(_ unit: String?, _ other: Caller) -> Bool {
        stand.access.isProgram(of: AuditEntry.Caller(caller(unit), isSystem: isSystem), other)
      }
      #expect(isAuthor("a.service", caller("a.service", pid: 101)))
      #expect(!isAuthor("a.service", caller("b.service")) && !isAuthor("a.service", caller(nil)))
      #expect(isAuthor("a.scope", caller("a.scope")) && !isAuthor("a.scope", caller("a.scope", pid: 101)))
      #expect(isAuthor(nil, caller(nil)) && !isAuthor(nil, RoomStand.caller(990)))
    }
  }

  @Test("the places of items are found once for all readers, and again where items are made, deleted and renamed")
  func places() throws {
    let stand = try Self.stand()
    for number in 0..<40 { try stand.set("a/\(number)") }
    let keychain = try stand.vault.keychain()
    while try !keychain.findPlaces(rows: 7) {}
    #expect(keychain.knowsAllPlaces)
    try stand.set("a/later")
    let later = try keychain.item(named: ItemName("a/later"))
    let id = try #require(later.id)
    #expect(try !keychain.knowsAllPlaces && keychain.item(id) == nil)
    #expect(try keychain.findPlaces(rows: 2) && keychain.item(id)?.name == later.name)
    try stand.items.move(later.name, to: ItemName("a/latest"), for: stand.administrator)
    #expect(try keychain.item(id)?.name.text == "a/latest")
    _ = try stand.items.delete([ItemName("a/latest")], isForGood: true, for: stand.administrator)
    #expect(try keychain.item(id) == nil)
  }
}
