import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Deposits") struct DepositTests {
  private static let denied = Refusal.denied("you may not do this")

  private static func give(_ stand: RoomStand, _ subject: String, _ pattern: String, _ rights: String) throws {
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: rights), until: nil,
      for: stand.administrator)
  }

  @discardableResult
  static func leave(
    _ stand: RoomStand, _ name: String, _ value: String = "left", kind: ItemKind? = nil,
    accessible: AccessClass? = nil, by caller: Caller
  ) throws -> DepositAnswer {
    let bytes = Array(value.utf8)
    return try stand.items.deposit(
      try ItemName(name), kind: kind, attributes: nil, accessible: accessible, count: bytes.count, for: caller, Said()
    ) { out in
      for (index, byte) in bytes.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
      return true
    }
  }

  static func value(_ stand: RoomStand, _ name: String) throws -> String? {
    var text: String?
    _ = try stand.items.get(try ItemName(name), for: stand.administrator) { _, _, bytes in
      text = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
    return text
  }

  static func kept(_ stand: RoomStand) throws -> [DepositObstacle] {
    try stand.items.deposits().compactMap(\.obstacle)
  }

  @Test("of a caller with that right alone make new items, and are kept aside for what is there") func right() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/there")
    try Self.give(stand, "user:990", "own/*", "deposit")
    try Self.give(stand, "user:991", "own/*", "deposit,set")
    let (one, other, nobody) = (RoomStand.caller(990), RoomStand.caller(991), RoomStand.caller(992))
    // The caller does not learn which of the two happened.
    #expect(try Self.leave(stand, "own/new", by: one) == DepositAnswer())
    #expect(try Self.leave(stand, "own/there", by: one) == DepositAnswer())
    #expect(try Self.value(stand, "own/new") == "left" && Self.kept(stand) == [.exists])
    #expect(try Self.leave(stand, "own/new", "more", by: other).version == 2)
    #expect(try Self.value(stand, "own/new") == "more")
    #expect(throws: Self.denied) { try Self.leave(stand, "else/where", by: one) }
    #expect(throws: Self.denied) { try Self.leave(stand, "own/new", by: nobody) }
    #expect(throws: Self.denied) { try stand.items.publicKey(for: nobody) }
    // The right to set does not include the right to deposit.
    try Self.give(stand, "user:993", "own/*", "set,get,find")
    #expect(throws: Self.denied) { try Self.leave(stand, "own/new", by: RoomStand.caller(993)) }
  }

  @Test("of a token that is renewed every night are taken in for as long as their depositor may set it")
  func renewed() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "deposit,set")
    let caller = RoomStand.caller(990)
    func night(_ number: Int) throws {
      stand.vault.lock(because: .asked)
      #expect(try Self.leave(stand, "own/token", "token \(number)", by: caller) == DepositAnswer(isWaiting: true))
      try stand.unlock()
    }
    for number in 1...25 {
      try night(number)
      #expect(try Self.value(stand, "own/token") == "token \(number)")
    }
    #expect(try Self.kept(stand).isEmpty)
    // The right to set counts at the taking in. Without it nothing is pushed out, and nothing more is told.
    stand.vault.lock(because: .asked)
    #expect(try Self.leave(stand, "own/token", "late", by: caller) == DepositAnswer(isWaiting: true))
    try stand.unlock()
    #expect(try Self.value(stand, "own/token") == "late")
    try Self.give(stand, "user:990", "own/*", "deposit")
    try night(26)
    #expect(try Self.leave(stand, "own/token", "now", by: caller) == DepositAnswer())
    #expect(try Self.value(stand, "own/token") == "late" && Self.kept(stand) == [.exists, .exists])
    // The way out works for the next night, too.
    let number = try #require(try stand.items.deposits().first?.number)
    #expect(try stand.items.settleDeposit(number, isAccepted: true, for: stand.administrator).version == 27)
    try Self.give(stand, "user:990", "own/*", "deposit,set")
    try night(27)
    #expect(try Self.value(stand, "own/token") == "token 27")
  }

  @Test("tell who may leave them, and nothing else, in no way what is there") func hidden() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/there")
    try Self.give(stand, "user:990", "own/*", "deposit")
    let caller = RoomStand.caller(990)
    func entries() throws -> [AuditReading.Found] {
      let reading = try stand.access.readAudit(AuditFilter(), for: caller)
      defer { reading.end() }
      return try reading.page(until: .max) { 0 }.found
    }
    try Self.leave(stand, "own/new", by: caller)
    let first = try #require(try entries().last { $0.entry.action == .deposit })
    try Self.leave(stand, "own/there", by: caller)
    try Self.leave(stand, "own/other", by: caller)
    let all = try entries().filter { $0.entry.action == .deposit }
    // Each deposit makes one entry, and behind it one for administrators, so that the numbers reveal nothing either; an
    // entry of the reading lies between.
    #expect(all.count == 3 && all[2].number == all[1].number + 2 && all[1].number == first.number + 3)
    #expect(Set(all.map(\.entry.outcome)) == [.ok] && Set(all.map(\.entry.detail)).count == 1)
    // The limit is the number that can be kept aside, whether or not these are.
    for index in 3..<Keychain.mostDepositsOfOne { try Self.leave(stand, "own/\(index)", by: caller) }
    for name in ["own/there", "own/not-there"] {
      #expect(throws: Refusal.busy("you have reached the limit of waiting deposits")) {
        try Self.leave(stand, name, by: caller)
      }
    }
  }

  @Test("are bounded in bytes as if all were kept aside, so that the bound tells nobody what was") func hiddenBytes()
    throws
  {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/there")
    let large = String(repeating: "x", count: Keychain.mostDepositBytesOfOne / 9)
    var left: [Int] = []
    for (uid, name) in [(UInt32(990), "own/there"), (991, "own/new")] {
      try Self.give(stand, "user:\(uid)", "own/*", "deposit")
      var count = 0
      while count < 20, (try? Self.leave(stand, name, large, by: RoomStand.caller(uid))) != nil { count += 1 }
      left.append(count)
    }
    #expect(left == [8, 8])
    #expect(try Self.kept(stand).count == 8 + 7)
  }

  @Test("take of their depositor's part of the audit log what an unlock records of them") func parts() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    let stand = try RoomStand.unlocked(settings, system: true)
    try Self.give(stand, "user:990", "own/*", "deposit")
    try Self.give(stand, "user:991", "own/*", "deposit")
    stand.vault.lock(because: .asked)
    let long = String(repeating: "x", count: 400)
    for number in 0..<500 { try Self.leave(stand, "own/\(long)\(number)", by: RoomStand.caller(990)) }
    try Self.leave(stand, "own/other", by: RoomStand.caller(991))
    try stand.unlock()
    stand.hands.pass(seconds: 3601)
    let told = try AuditTests.told(stand)
    // The other entries are only counted, by item as far as items are told apart.
    #expect(told.filter { $0.contains(long) && !$0.contains("×") }.count < 200)
    #expect(told.contains { $0.hasPrefix("deposit ok  ×") })
    // The other depositor's own deposit, and its outcome.
    #expect(told.filter { $0 == "deposit ok own/other" }.count == 2)
  }

  @Test("that were left while the vault was locked are taken in by the unlock, before anybody waits on") func unlock()
    throws
  {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "deposit,set")
    stand.vault.lock(because: .asked)
    let caller = RoomStand.caller(990)
    let answer = try Self.leave(stand, "own/token", "one", by: caller)
    // The number includes other callers' deposits.
    #expect(answer == DepositAnswer(isWaiting: true))
    #expect(try Self.leave(stand, "own/mine", by: stand.administrator).number == 2)
    try Self.leave(stand, "own/token", "two", by: caller)
    var changes: [String] = []
    stand.vault.hooks.announce = {
      if case .item(let name, let change, _, _, _) = $0 { changes.append("\(name.text) \(change)") }
    }
    try stand.unlock()
    #expect(try Self.value(stand, "own/token") == "two")
    #expect(changes == ["own/token created", "own/mine created", "own/token updated"])
    #expect(try stand.items.item(try ItemName("own/token"), for: stand.administrator).current.writer == "user:990")
    #expect(stand.journal.value.contains { $0.contains("deposits: 3 taken in, 0 kept aside") })
  }

  /// Makes a locked stand with this many values left for `own/N`, and a clock that makes each part take in one value.
  private static func parts(_ count: Int, _ name: (Int) -> String = { "own/\($0)" }) throws -> RoomStand {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "deposit,set,find")
    stand.vault.lock(because: .asked)
    for number in 0..<count { try Self.leave(stand, name(number), "value \(number)", by: RoomStand.caller(990)) }
    stand.hands.stride.value = DepositWork.part
    return stand
  }

  private static func waiting(_ stand: RoomStand) throws -> Int {
    try stand.items.deposits().count { $0.isWaiting }
  }

  @Test("are taken in by parts, between which others are answered, and the unlock when all are in") func inParts()
    throws
  {
    let stand = try Self.parts(6)
    var left: [Int] = []
    try stand.unlock { left.append((try? Self.waiting(stand)) ?? -1) }
    #expect(try Self.waiting(stand) == 5 && left.isEmpty)
    #expect(try Self.value(stand, "own/0") == "value 0")
    stand.runner.turn()
    #expect(try Self.waiting(stand) < 5 && left.isEmpty)
    stand.run()
    #expect(left == [0])
    #expect(try Self.value(stand, "own/5") == "value 5")
    #expect(stand.journal.value.contains { $0.contains("deposits: 6 taken in, 0 kept aside") })
  }

  @Test("that a lock comes between wait for the next unlock, and follow those that were taken in before") func lock()
    throws
  {
    // All these deposits assume that the item does not exist.
    let stand = try Self.parts(4) { _ in "own/token" }
    var isAnswered = false
    try stand.unlock { isAnswered = true }
    #expect(try Self.waiting(stand) == 3)
    stand.vault.lock(because: .asked)
    stand.run()
    #expect(try Self.waiting(stand) == 3 && !isAnswered)
    #expect(stand.journal.value.contains { $0.contains("deposits: 1 taken in, 0 kept aside; the rest waits") })
    stand.hands.stride.value = 0
    try stand.unlock { isAnswered = true }
    #expect(isAnswered)
    #expect(try Self.waiting(stand) == 0 && Self.kept(stand).isEmpty)
    #expect(try Self.value(stand, "own/token") == "value 3")
    #expect(try stand.items.item(try ItemName("own/token"), for: stand.administrator).current.number == 4)
  }

  @Test("that a crash comes between are neither lost nor taken in twice") func crash() throws {
    let stand = try Self.parts(4)
    try stand.unlock()
    try stand.restart()
    stand.hands.stride.value = 0
    #expect(try Self.waiting(stand) == 3)
    try stand.unlock()
    #expect(try Self.waiting(stand) == 0 && Self.kept(stand).isEmpty)
    for number in 0..<4 {
      let item = try stand.items.item(try ItemName("own/\(number)"), for: stand.administrator)
      #expect(try item.versions.count == 1 && Self.value(stand, "own/\(number)") == "value \(number)")
    }
  }

  @Test("that are taken in by parts do not take a value that somebody has set meanwhile for the one they know")
  func meanwhile() throws {
    let stand = try Self.parts(3)
    try stand.unlock()
    try stand.set("own/2")
    stand.run()
    #expect(try Self.kept(stand) == [.changed] && Self.value(stand, "own/2") == "*")
  }

  @Test("are held against what whoever left them may do when they are taken in") func revoked() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/there")
    try Self.give(stand, "user:990", "own/*", "deposit,set")
    try Self.give(stand, "user:991,unit:x.service", "own/*", "deposit")
    stand.vault.lock(because: .asked)
    try Self.leave(stand, "own/there", by: RoomStand.caller(990))
    try Self.leave(stand, "own/new", by: RoomStand.caller(990))
    try Self.leave(stand, "own/other", by: RoomStand.caller(991, unit: "x.service"))
    _ = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.administrator)
    try stand.unlock()
    #expect(try Self.kept(stand) == [.denied, .denied])
    #expect(try Self.value(stand, "own/there") == "*" && Self.value(stand, "own/other") == "left")
    let told = try stand.items.deposits()
    #expect(told.allSatisfy { $0.author == "user:990" && !$0.isWaiting })
    let status = stand.rooms.upkeep.status().warnings.first { $0.topic == .deposits }
    #expect(status?.text == "2 deposits were kept aside")
    let (name, version) = try stand.items.settleDeposit(told[0].number, isAccepted: true, for: stand.administrator)
    #expect(name?.text == "own/there" && version == 2)
    _ = try stand.items.settleDeposit(told[1].number, isAccepted: false, for: stand.administrator)
    #expect(throws: Refusal.noSuchDeposit(told[1].number)) {
      try stand.items.settleDeposit(told[1].number, isAccepted: false, for: stand.administrator)
    }
    #expect(!stand.rooms.upkeep.status().warnings.contains { $0.topic == .deposits })
  }

  @Test("neither clear a passed expiry nor enter an item of another class, unless an administrator left them")
  func limits() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "deposit,set")
    let caller = RoomStand.caller(990)
    var change = ItemChange(name: try ItemName("own/expired"))
    change.expires = .some(2500)
    _ = try stand.items.set(change, .bytes(count: 1), for: stand.administrator) { out in
      out.storeBytes(of: 65, as: UInt8.self)
      return true
    }
    stand.hands.wall.value = 3000
    #expect(try Self.leave(stand, "own/expired", by: caller).obstacle == .itemExpired)
    #expect(try Self.leave(stand, "own/expired", by: stand.administrator).version == 2)
    #expect(try Self.leave(stand, "own/expired", accessible: .always, by: caller).obstacle == .otherClass)
    #expect(throws: Refusal.self) { try Self.leave(stand, "own/key", "no key", kind: .tlsKey, by: caller) }
    #expect(throws: Refusal.tooLarge(limit: Keychain.maximumValue)) {
      try Self.leave(stand, "own/large", String(repeating: "x", count: Keychain.maximumValue + 1), by: caller)
    }
  }

  @Test("in a box count by the rights of who hands it in, and come once") func boxes() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "deposit,find")
    let caller = RoomStand.caller(990)
    let key = try stand.items.publicKey(for: caller)
    func seal(_ name: String) throws -> String {
      let item = DepositedItem(name: try ItemName(name), accessible: .whenUnlocked)
      return try stand.items.seal(for: key.text, item, count: 1) { out in
        out.storeBytes(of: 65, as: UInt8.self)
        return true
      }.box
    }
    let box = try seal("own/boxed")
    #expect(throws: Self.denied) { try stand.items.deposit(box: box, for: RoomStand.caller(991), Said()) }
    #expect(try stand.items.deposit(box: box, for: caller, Said()).version == 1)
    #expect(try stand.items.deposit(box: box, for: caller, Said()).obstacle == .seen)
    // The deposit's name becomes known when the box is opened.
    #expect(try stand.items.deposit(box: seal("else/where"), for: caller, Said()) == DepositAnswer())
    #expect(try Self.kept(stand) == [.seen, .denied])
    for text in ["", "vault-deposit:AAAA", String(box.dropLast(3))] {
      #expect(throws: Refusal.self, "\(text)") { try stand.items.deposit(box: text, for: caller, Said()) }
    }
    stand.vault.lock(because: .asked)
    #expect(try stand.items.deposit(box: seal("own/later"), for: caller, Said()).isWaiting)
    try stand.unlock()
    #expect(try Self.value(stand, "own/later") == "A")
  }
}
