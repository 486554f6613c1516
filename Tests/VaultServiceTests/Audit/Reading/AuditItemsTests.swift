import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

/// The audit log's statements about an item concern that very item, whatever had its name before or has it now.
@Suite("The items that entries of the audit log are about") struct AuditItemsTests {
  /// Makes a machine's vault with items of two users.
  private static func stand(_ settings: VaultSettings = VaultSettings()) throws -> RoomStand {
    let stand = try RoomStand.unlocked(settings, system: true)
    for (uid, pattern) in [(990, "a/**"), (991, "b/**")] {
      _ = try stand.access.give(
        try Subject(parsing: "user:\(uid)"), try ItemPattern(pattern), try Rights(parsing: "admin,get,find"),
        until: nil,
        for: stand.administrator)
    }
    return stand
  }

  private static func move(_ stand: RoomStand, _ moves: [(String, String)], by caller: Caller? = nil) throws {
    for (old, new) in moves {
      try stand.items.move(try ItemName(old), to: try ItemName(new), for: caller ?? stand.administrator)
    }
  }

  /// Returns the entries about an item.
  private static func found(
    _ stand: RoomStand, _ item: String? = nil, by caller: Caller? = nil, _ action: AuditAction? = .get
  ) throws -> [AuditReading.Found] {
    var filter = AuditFilter()
    (filter.item, filter.action) = (try item.map { try ItemName($0) }, action)
    let reading = try stand.access.readAudit(filter, for: caller ?? stand.administrator)
    defer { reading.end() }
    var found: [AuditReading.Found] = []
    while true {
      // The clock makes each page end after one look.
      let (page, isOver) = try reading.page(until: 0) { 1 }
      found += page
      if isOver { return found }
    }
  }

  /// Returns the reads of an item: the name at that time, the count, and the current name.
  private static func told(_ stand: RoomStand, _ item: String? = nil, by caller: Caller? = nil) throws -> [String] {
    try found(stand, item, by: caller).filter { $0.entry.outcome == .ok }.map { one in
      let times = one.entry.repeats.map { " ×\($0.count)" } ?? ""
      let now = one.now.map { " now \($0.text)" } ?? (one.isGone ? " gone" : "")
      return "\(one.entry.item ?? "")\(times)\(now)\(one.isByName ? " by name" : "")"
    }
  }

  private static func get(_ stand: RoomStand, _ name: String, times: Int = 1, _ caller: Caller? = nil) {
    for _ in 0..<times { AuditTests.get(stand, name, caller) }
  }

  @Test("what somebody renames, or fails to, ends no minute in which another's equal reads are counted")
  func minute() throws {
    let stand = try Self.stand()
    for name in ["a/one", "a/two", "b/secret"] { try stand.set(name) }
    let (mover, reader) = (RoomStand.caller(990), RoomStand.caller(991))
    for _ in 0..<100 {
      Self.get(stand, "b/secret", reader)
      try Self.move(stand, [("a/one", "a/three"), ("a/three", "a/one")], by: mover)
      #expect(throws: Refusal.self) { try Self.move(stand, [("a/one", "a/two")], by: mover) }
      #expect(throws: Refusal.self) { try Self.move(stand, [("a/none", "a/three")], by: mover) }
    }
    stand.hands.pass(seconds: 61)
    #expect(try Self.told(stand, by: reader) == ["b/secret", "b/secret ×99"])
  }

  @Test("reads of two items that have a name one after the other are not equal, nor counted as one") func repeats()
    throws
  {
    let stand = try Self.stand()
    for name in ["a/key", "a/new"] { try stand.set(name) }
    let reader = RoomStand.caller(990)
    Self.get(stand, "a/key", times: 3, reader)
    try Self.move(stand, [("a/key", "a/old"), ("a/new", "a/key")])
    Self.get(stand, "a/key", times: 2, reader)
    stand.hands.pass(seconds: 61)
    #expect(try Self.told(stand, "a/old") == ["a/key now a/old", "a/key ×2 now a/old"])
    #expect(try Self.told(stand, "a/key") == ["a/key", "a/key ×1"])
  }

  @Test("what is counted beyond a part is of the item that was read, over renamings and a restart") func counts() throws
  {
    let stand = try Self.stand(AuditFilling.small())
    for name in ["a/key", "a/new"] { try stand.set(name) }
    let reader = RoomStand.caller(990)
    AuditFilling.fill(stand, .use, .ok, reader)
    // Go on until there is no room for a short entry, either.
    for number in 0..<20 { stand.vault.audit.record(.use, .ok, reader, item: "a", detail: "\(number)") }
    Self.get(stand, "a/key", times: 50, reader)
    stand.hands.pass(seconds: 2)
    try Self.move(stand, [("a/key", "a/old"), ("a/new", "a/key")])
    Self.get(stand, "a/key", times: 7, reader)
    func sums() throws -> [Int] {
      try ["a/old", "a/key"].map {
        try Self.found(stand, $0).reduce(0) { $0 + Int($1.entry.repeats?.count ?? 1) }
      }
    }
    #expect(try sums() == [50, 7])
    stand.hands.pass(seconds: 130)
    #expect(try sums() == [50, 7])
    try stand.restart()
    try stand.unlock()
    #expect(try sums() == [50, 7])
  }

  @Test("an item that is renamed to and fro at once has all that was read of it, and two that swap names their own")
  func toAndFro() throws {
    let stand = try Self.stand()
    for name in ["a/one", "a/x", "a/y"] { try stand.set(name) }
    Self.get(stand, "a/one", times: 1)
    Self.get(stand, "a/x")
    try Self.move(stand, [("a/one", "a/ONE"), ("a/ONE", "a/one"), ("a/one", "a/ONE")])
    for _ in 0..<3 { try Self.move(stand, [("a/x", "a/t"), ("a/y", "a/x"), ("a/t", "a/y")]) }
    #expect(try Self.told(stand, "a/ONE") == ["a/one now a/ONE"])
    #expect(try Self.told(stand, "a/one") == ["a/one now a/ONE"], "no item has the name")
    #expect(try Self.told(stand, "a/y") == ["a/x now a/y"] && Self.told(stand, "a/x") == [])
    #expect(try Self.told(stand) == ["a/one now a/ONE", "a/x now a/y"])
  }

  @Test("an item that comes back from the trash has what was read of it, whatever had its name meanwhile") func trash()
    throws
  {
    let stand = try Self.stand()
    for name in ["a/old", "a/new"] { try stand.set(name) }
    Self.get(stand, "a/old")
    _ = try stand.items.delete([ItemName("a/old")], isForGood: false, for: stand.administrator)
    #expect(try Self.told(stand, "a/old") == ["a/old gone"], "it is the one of that name")
    try Self.move(stand, [("a/new", "a/old")])
    Self.get(stand, "a/old")
    #expect(try Self.told(stand) == ["a/old gone", "a/old"] && Self.told(stand, "a/old") == ["a/old"])
    try Self.move(stand, [("a/old", "a/new")])
    try stand.items.undelete(ItemName("a/old"), for: stand.administrator)
    #expect(try Self.told(stand, "a/old") == ["a/old"] && Self.told(stand, "a/new") == ["a/old now a/new"])
    _ = try stand.items.delete([ItemName("a/old")], isForGood: true, for: stand.administrator)
    #expect(try Self.told(stand, "a/old") == ["a/old gone", "a/old now a/new"], "of all that had it")
    // A copy is a different item.
    _ = try stand.items.copy(
      ItemName("a/new"), to: ItemName("a/old"), replacing: false, evenExpired: false, for: stand.administrator)
    #expect(try Self.told(stand, "a/old") == [])
    #expect(try Self.told(stand, "a/new") == ["a/old now a/new", "a/new"])
  }

  @Test("one of many in the trash that had a name is searched for in parts, before the log is read") func searched()
    throws
  {
    let stand = try Self.stand()
    let (keychain, name) = (try stand.vault.keychain(), try ItemName("a/same"))
    try keychain.transaction { () throws(VaultError) in
      for _ in 0..<2 * TrashSearch.mostItems {
        try keychain.set(ItemChange(name: name, kind: .note), value: RoomStand.secret(Array("v".utf8)), now: 1)
        try keychain.trash([name], now: 1)
      }
    }
    try stand.set("a/same")
    Self.get(stand, "a/same")
    _ = try stand.items.delete([name], isForGood: false, for: stand.administrator)
    var filter = AuditFilter()
    (filter.item, filter.action) = (name, .get)
    let reading = try stand.access.readAudit(filter, for: stand.administrator)
    for _ in 0..<2 {
      let (page, isOver) = try reading.page(until: 0) { 1 }
      #expect(page.isEmpty && !isOver && reading.progress.done == 0)
    }
    reading.end()
    #expect(try Self.told(stand, "a/same") == ["a/same gone"])
  }

  @Test("a cut that takes out a renaming leaves what was read with its item") func cut() throws {
    let stand = try Self.stand(AuditFilling.small())
    for name in ["a/key", "a/new"] { try stand.set(name) }
    let (audit, keychain) = (stand.vault.audit, try stand.vault.keychain())
    var settings = audit.settings
    settings.size = 8 << 20
    audit.configure(settings)
    for number in 0..<5 { AuditTests.get(stand, "a/key", RoomStand.caller(990), for: "\(number)") }
    try Self.move(stand, [("a/key", "a/old"), ("a/new", "a/key")])
    AuditFilling.fill(stand, .use, .ok, stand.administrator)
    audit.write()
    keychain.endAuditChain()
    AuditFilling.fill(stand, .use, .ok, RoomStand.caller(991))
    audit.write(anchored: true)
    keychain.endAuditChain()
    settings.size = keychain.auditFacts.bytes * 6 / 10
    audit.configure(settings)
    for _ in 0..<20 { audit.cut(keychain) }
    audit.write()
    #expect(try keychain.auditFacts.cut > 0 && Self.found(stand, .move).isEmpty, "the renamings are gone")
    #expect(try Self.told(stand, "a/old") == Array(repeating: "a/key now a/old", count: 5))
    #expect(try Self.told(stand, "a/key") == [])
  }

  private static func found(_ stand: RoomStand, _ action: AuditAction) throws -> [AuditReading.Found] {
    try found(stand, nil, by: nil, action)
  }

  @Test("a question about an item is one entry of whoever asks, however often it was renamed") func oneEntry() throws {
    let stand = try Self.stand()
    try stand.set("a/0")
    Self.get(stand, "a/0")
    for number in 0..<300 { try Self.move(stand, [("a/\(number)", "a/\(number + 1)")], by: RoomStand.caller(990)) }
    for _ in 0..<2 { #expect(try Self.told(stand, "a/300") == ["a/0 now a/300"]) }
    let asked = try Self.found(stand, .audit).map { "\($0.entry.detail ?? "") ×\($0.entry.repeats?.count ?? 1)" }
    #expect(asked.filter { $0.hasPrefix("item a/300, now, action get") }.count <= 2, "\(asked)")
    #expect(asked.count <= 3)
  }

  @Test("nobody is told a name that it may not find, nor by the items that it asks for") func hidden() throws {
    let stand = try Self.stand()
    for name in ["a/one", "a/two"] { try stand.set(name) }
    let caller = RoomStand.caller(990)
    for name in ["a/one", "a/two"] { Self.get(stand, name, caller) }
    try Self.move(stand, [("a/one", "secret/one"), ("a/two", "a/2")])
    // The caller may learn that the first item is no longer at its place, and what the second is called now.
    #expect(try Self.told(stand, by: caller) == ["a/one gone", "a/two now a/2"])
    #expect(try Self.told(stand, "secret/one", by: caller) == [])
    #expect(try Self.told(stand, "a/2", by: caller) == ["a/two now a/2"])
    #expect(try Self.told(stand) == ["a/one now secret/one", "a/two now a/2"])
    // Once the caller may find nothing there, it learns only what it did itself.
    let pattern = try ItemPattern("a/**")
    _ = try stand.access.revoke(try Subject(parsing: "user:990"), pattern, for: stand.administrator)
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("c/*"), try Rights(parsing: "find"), until: nil,
      for: stand.administrator)
    #expect(try Self.told(stand, by: caller) == ["a/one", "a/two"])
  }

  @Test("entries that do not say which item they are about count by its name, and say so") func byName() throws {
    let stand = try Self.stand()
    for name in ["a/one", "a/two"] { try stand.set(name) }
    stand.vault.audit.record(.get, .ok, RoomStand.caller(991), item: "a/one")
    Self.get(stand, "a/one")
    #expect(try Self.told(stand, "a/one") == ["a/one by name", "a/one"])
    try Self.move(stand, [("a/one", "a/three"), ("a/two", "a/one")])
    #expect(try Self.told(stand, "a/one") == ["a/one by name"])
    #expect(try Self.told(stand, "a/three") == ["a/one now a/three"])
    // A denied call never found the item, so it counts as no use of it.
    Self.get(stand, "a/one", RoomStand.caller(991))
    let refused = try Self.found(stand).filter { $0.entry.outcome == .denied }
    #expect(refused.count == 1 && refused.allSatisfy { $0.entry.id == nil && !$0.isByName })
  }

  @Test("where two values were compared, both items have an entry of that, also where they differ") func compared()
    throws
  {
    let stand = try Self.stand()
    for name in ["a/one", "a/two", "b/one"] { try stand.set(name) }
    let caller = RoomStand.caller(990)
    func compare(_ one: String, _ other: String) -> Bool {
      let version = try? stand.items.copied(ItemName(one), to: ItemName(other), evenExpired: false, for: caller)
      return version != nil
    }
    _ = try stand.items.set(
      ItemChange(name: ItemName("a/two"), attributes: ["k": "v"], update: true), .same, for: stand.administrator
    ) { _ in false }
    #expect(!compare("a/one", "a/two") && !compare("a/one", "b/one"))
    let found = try Self.found(stand, .use).map { one in
      "\(one.entry.outcome.name) \(one.entry.item ?? "") \(one.entry.detail ?? "") \(one.entry.id != nil)"
    }
    #expect(
      found == [
        "ok a/one compared with a/two true", "ok a/two compared with a/one true",
        "denied b/one compared with a/one false",
      ])
  }

  @Test("names of items are in memory no more after a lock of whoever follows the log") func lock() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try RoomStand.unlocked(settings, system: true)
    try stand.set("a")
    Self.get(stand, "a")
    let reading = try stand.access.readAudit(AuditFilter(), for: stand.administrator)
    defer { reading.end() }
    _ = try reading.page(until: .max) { 0 }
    let lock = Lock([.whenUnlocked, .names], because: .asked, isEffective: false)
    #expect(reading.outlives(lock))
    stand.vault.lock(because: .asked, stand.administrator)
    #expect(!reading.outlives(lock))
  }
}
