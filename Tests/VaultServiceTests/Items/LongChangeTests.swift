import Testing
import VaultBytes
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("A change that is prepared in parts") struct LongChangeTests {
  private let stand: RoomStand
  private let change: ItemChange

  init() throws {
    stand = try RoomStand.unlocked(system: true)
    change = ItemChange(name: try ItemName("long"), accessible: .afterFirstUnlock, update: true)
    try stand.set("long", kind: .note, String(repeating: "x", count: 700_000))
  }

  private func prepare(_ value: NewValue, for caller: Caller) -> Bool {
    stand.items.prepare(.set([(change, value)]), LongChange(), for: caller)
  }

  @Test("is prepared for whoever may make it, and for nobody else") func allowed() {
    #expect(prepare(.same, for: stand.administrator))
    #expect(!prepare(.same, for: RoomStand.caller(990)))
    #expect(!prepare(.wrong("it is no value"), for: stand.administrator))
    stand.vault.lock(because: .asked)
    #expect(!prepare(.same, for: stand.administrator))
  }

  /// The changes of an item other than set.
  static let works: [@Sendable () throws -> ItemWork] = [
    { .move(try ItemName("long"), to: try ItemName("new")) },
    { .restoreVersion(1, of: try ItemName("long")) },
    { .delete([try ItemName("long")], isForGood: false) },
    { .undelete(try ItemName("gone")) },
    { .copy(try ItemName("source"), to: try ItemName("long"), replacing: true) },
  ]

  /// Makes the other items that the works need.
  private func prepareOthers() throws {
    try stand.set("source", kind: .note, "short")
    try stand.set("gone", kind: .note, String(repeating: "y", count: 700_000))
    _ = try stand.items.delete([ItemName("gone")], isForGood: false, for: stand.administrator)
  }

  @Test("is prepared for whoever may do it, and nothing is sealed for anybody else", arguments: works.indices)
  func others(_ index: Int) throws {
    try prepareOthers()
    let work = try Self.works[index]()
    let refused = LongChange()
    // Callers without rights, with rights elsewhere, or with lesser rights.
    for (subject, pattern, rights) in [("user:990", "elsewhere/*", "admin"), ("user:991", "**", "get")] {
      _ = try stand.access.give(
        Subject(parsing: subject), ItemPattern(pattern), Rights(parsing: rights), until: nil, for: stand.administrator)
    }
    for uid: UInt32 in [989, 990, 991] {
      #expect(!stand.items.prepare(work, refused, for: RoomStand.caller(uid)), "\(uid)")
    }
    #expect(refused.ahead.count == 0)
    let long = LongChange()
    #expect(stand.items.prepare(work, long, for: stand.administrator) && long.ahead.count == 1)
    stand.vault.lock(because: .asked)
    #expect(!stand.items.prepare(work, LongChange(), for: stand.administrator))
  }

  @Test("is done with what was prepared", arguments: works.indices) func done(_ index: Int) throws {
    try prepareOthers()
    let work = try Self.works[index]()
    let long = LongChange()
    while stand.items.prepare(work, long, for: stand.administrator) {}
    #expect(long.ahead.count == 1)
    let caller = stand.administrator
    switch work {
    case .set: Issue.record("it is tested below")
    case .move(let name, let new): try stand.items.move(name, to: new, long, for: caller)
    case .restoreVersion(let number, let name):
      _ = try stand.items.restoreVersion(number, of: name, long, for: caller)
    case .delete(let names, let isForGood):
      _ = try stand.items.delete(names, isForGood: isForGood, long, for: caller)
    case .undelete(let name): try stand.items.undelete(name, long, for: caller)
    case .copy(let source, let target, let replacing):
      _ = try stand.items.copy(source, to: target, replacing: replacing, evenExpired: false, long, for: caller)
    }
    #expect(long.ahead.count == 0)
  }

  @Test("has its new value taken once where nothing changes in between, and from nobody who may not store it")
  func newValue() throws {
    let size = 500_000
    var taken = 0
    let fill = { (_: Int, bytes: inout MutableRawSpan) -> Bool in
      taken += 1
      for offset in 0..<size { bytes.storeBytes(of: 0x61, toByteOffset: offset, as: UInt8.self) }
      return true
    }
    for (text, changes) in [("long", 0), ("other", 0), ("long", 1)] {
      let change = ItemChange(name: try ItemName(text), kind: .note, update: true)
      let (value, long) = (NewValue.bytes(count: size), LongChange())
      taken = 0
      #expect(!stand.items.prepare(.set([(change, value)]), long, for: RoomStand.caller(990), fill: fill) && taken == 0)
      while stand.items.prepare(.set([(change, value)]), long, for: stand.administrator, fill: fill) {}
      #expect(taken == 1)
      for _ in 0..<changes {
        try stand.vault.keychain().set(change, value: RoomStand.secret(Array("between".utf8)), now: 1)
      }
      _ = try stand.items.set(change, value, long, for: stand.administrator) { fill(0, &$0) }
      #expect(taken == 1 + changes)
      let stored = try stand.vault.keychain().withValue(of: change.name, now: 1) { $2.array }
      #expect(stored == [UInt8](repeating: 0x61, count: size))
    }
  }

  @Test("is not prepared where items are deleted for good") func forGood() throws {
    let work = ItemWork.delete([try ItemName("long")], isForGood: true)
    #expect(!stand.items.prepare(work, LongChange(), for: stand.administrator))
  }

  @Test("is made with what was prepared") func made() throws {
    let long = LongChange()
    var parts = 0
    while stand.items.prepare(.set([(change, .same)]), long, for: stand.administrator) { parts += 1 }
    #expect(parts == 1 && long.ahead.count == 1)
    let stored = try stand.items.set(change, .same, long, for: stand.administrator) { _ in false }
    #expect(stored.number == 1)
    let item = try stand.vault.keychain().item(named: change.name)
    #expect(item.policy.accessible == .afterFirstUnlock)
    #expect(long.ahead.count == 0)
  }

  @Test("of the kind is made by whoever shows the presence that the item asks for, and by nobody else")
  func kind() throws {
    try stand.set("proven", require: .password, kind: .note, "JBSWY3DPEHPK3PXP")
    let change = ItemChange(name: try ItemName("proven"), kind: .totp, update: true)
    #expect(throws: Refusal.presenceRequired("proven", .password)) {
      try stand.items.set(change, .same, for: stand.administrator) { _ in false }
    }
    let kind = try stand.vault.keychain().item(named: change.name).kind
    #expect(kind == .note)
  }

  // MARK: Many at once

  /// Fills each value with a letter: `a` for the first.
  private static func fill(_ index: Int, _ bytes: inout MutableRawSpan) -> Bool {
    let letter = UInt8(0x61 + index)
    for offset in 0..<bytes.byteCount { bytes.storeBytes(of: letter, toByteOffset: offset, as: UInt8.self) }
    return true
  }

  private func changes(_ values: [(name: String, size: Int)]) throws -> [(change: ItemChange, value: NewValue)] {
    try values.map { name, size in
      (ItemChange(name: try ItemName(name), kind: .note, update: true), NewValue.bytes(count: size))
    }
  }

  private func value(of name: String) throws -> [UInt8] {
    try stand.vault.keychain().withValue(of: ItemName(name), now: 1) { $2.array }
  }

  @Test("of many items has each long value taken once, and what is sealed again in parts") func batch() throws {
    let changes = try changes([("new", 400_000), ("short", 10), ("long", 500_000)])
    let long = LongChange()
    var taken = [0, 0, 0]
    let fill = { (index: Int, bytes: inout MutableRawSpan) -> Bool in
      taken[index] += 1
      return Self.fill(index, &bytes)
    }
    #expect(!stand.items.prepare(.set(changes), LongChange(), for: RoomStand.caller(990), fill: fill))
    var parts = 0
    while stand.items.prepare(.set(changes), long, for: stand.administrator, fill: fill) { parts += 1 }
    // Three parts: the old value of the existing item, and two new values.
    #expect(parts == 3 && long.ahead.count == 1)
    #expect(taken[0] > 0 && taken[2] > 0)
    let before = taken
    let stored = try stand.items.set(changes, long, for: stand.administrator, fill: fill)
    #expect(stored.map(\.number) == [1, 1, 2] && long.ahead.count == 0)
    // All values are read once more, but the long ones are not sealed again.
    #expect(taken[0] == before[0] && taken[2] == before[2])
    for (index, (name, size)) in [("new", 400_000), ("short", 10), ("long", 500_000)].enumerated() {
      let value = try value(of: name)
      #expect(value == [UInt8](repeating: UInt8(0x61 + index), count: size), "\(name)")
    }
  }

  @Test("of many items gives one that is named twice its values in their order", arguments: ["long", "new"])
  func namedTwice(_ name: String) throws {
    for sizes in [[10, 300_000], [300_000, 10], [300_000, 300_000]] {
      let changes = try changes(sizes.map { (name, $0) })
      let long = LongChange()
      #expect(!stand.items.prepare(.set(changes), long, for: stand.administrator, fill: Self.fill))
      _ = try stand.items.set(changes, long, for: stand.administrator, fill: Self.fill)
      let (last, item) = (try value(of: name), try stand.vault.keychain().item(named: ItemName(name)))
      #expect(last == [UInt8](repeating: 0x62, count: sizes[1]))
      #expect(item.versions.suffix(2).map(\.size) == sizes)
    }
  }

  @Test("of many items is prepared only where one call may make all of it") func tooMuch() throws {
    let names = (0..<3).map { "old/\($0)" }
    for name in names { try stand.set(name, kind: .note, String(repeating: "x", count: 1_000_000)) }
    let changes = try changes(names.map { ($0, 1) })
    #expect(!stand.items.prepare(.set(changes), LongChange(), for: stand.administrator, fill: Self.fill))
    #expect(throws: BatchRefusal.self) {
      try stand.items.set(changes, LongChange(), for: stand.administrator, fill: Self.fill)
    }
  }

  @Test("of many items is weighed as they are in the end") func grown() throws {
    let names = (0..<3).map { "old/\($0)" }
    for name in names { try stand.set(name, kind: .note, String(repeating: "x", count: 400_000)) }
    let changes = try changes(names.map { ($0, 1) })
    let long = LongChange()
    #expect(stand.items.prepare(.set(changes), long, for: stand.administrator, fill: Self.fill))
    for name in names {
      let value = RoomStand.secret([UInt8](repeating: 0x79, count: 1_000_000))
      try stand.vault.keychain().set(ItemChange(name: ItemName(name), update: true), value: value, now: 1)
    }
    #expect(!stand.items.prepare(.set(changes), long, for: stand.administrator, fill: Self.fill))
    #expect(throws: BatchRefusal.self) {
      try stand.items.set(changes, long, for: stand.administrator, fill: Self.fill)
    }
  }

  // MARK: One of many in the trash

  @Test("searches for one of many of a name in the trash in parts, for whoever may take it out and for nobody else")
  func searched() throws {
    let (keychain, name) = (try stand.vault.keychain(), try ItemName("same"))
    let count = 2 * TrashSearch.mostItems + 1
    try keychain.transaction { () throws(VaultError) in
      for number in 0..<count {
        let value = RoomStand.secret(Array("\(number)".utf8))
        try keychain.set(ItemChange(name: name, kind: .note), value: value, now: 1)
        try keychain.trash([name], now: 1)
      }
    }
    let long = LongChange()
    for uid: UInt32 in [989, 990, 991] {
      #expect(!stand.items.prepare(.undelete(name), long, for: RoomStand.caller(uid)), "\(uid)")
    }
    var parts = 0
    while stand.items.prepare(.undelete(name), long, for: stand.administrator) { parts += 1 }
    #expect(parts == 2)
    // Another walk over the items would meet the first of them.
    try keychain.database.connection.execute("UPDATE heads SET sealed = x'00' WHERE id = 2")
    try stand.items.undelete(name, long, for: stand.administrator)
    #expect(try value(of: "same") == Array("\(count - 1)".utf8))
  }

  // MARK: A copy

  /// Prepares a copy of `long` to a new item.
  private func prepareCopy() throws -> LongChange {
    let long = LongChange()
    let work = ItemWork.copy(try ItemName("long"), to: try ItemName("copy"), replacing: false)
    #expect(!stand.items.prepare(work, LongChange(), for: RoomStand.caller(990)))
    while stand.items.prepare(work, long, for: stand.administrator) {}
    #expect(long.ahead.hasValue)
    return long
  }

  private func copy(_ long: LongChange) throws -> Int {
    try stand.items.copy(
      ItemName("long"), to: ItemName("copy"), replacing: false, evenExpired: false, long, for: stand.administrator)
  }

  @Test("is a copy of what the source is then") func copied() throws {
    let long = try prepareCopy()
    #expect(try copy(long) == 1)
    #expect(try value(of: "copy") == value(of: "long"))
    _ = try stand.items.delete([ItemName("copy")], isForGood: true, for: stand.administrator)
    let late = try prepareCopy()
    try stand.vault.keychain().set(
      ItemChange(name: ItemName("long"), update: true), value: RoomStand.secret(Array("between".utf8)), now: 1)
    #expect(try copy(late) == 1)
    #expect(try value(of: "copy") == Array("between".utf8))
  }

  @Test("is refused as a copy where its source has expired, or asks for presence by then") func refusedCopy() throws {
    for change in [
      ItemChange(name: try ItemName("long"), expires: .some(1), update: true),
      ItemChange(name: try ItemName("long"), require: .password, expires: .some(nil), update: true),
    ] {
      let long = try prepareCopy()
      try stand.vault.keychain().set(change, now: 1)
      #expect(throws: Refusal.self) { try copy(long) }
      #expect(throws: VaultError.self) { try stand.vault.keychain().item(named: ItemName("copy")) }
    }
  }

  @Test("is refused as a copy where its source expires after it was sealed, and made where that is asked for")
  func expiredCopy() throws {
    let keychain = try stand.vault.keychain()
    try keychain.set(ItemChange(name: ItemName("long"), expires: .some(2500), update: true), now: 1)
    stand.hands.wall.value = 2499
    let long = try prepareCopy()
    stand.hands.wall.value = 2500
    #expect(throws: Refusal.expired("long", 2500)) { try copy(long) }
    #expect(throws: VaultError.noSuchItem) { try keychain.item(named: ItemName("copy")) }
    let version = try stand.items.copy(
      ItemName("long"), to: ItemName("copy"), replacing: false, evenExpired: true, long, for: stand.administrator)
    #expect(version == 1)
    let made = try keychain.item(named: ItemName("copy"))
    #expect(made.expires == 2500)
  }

  @Test("is refused as a copy where the presence that its source asks for is over once it was sealed")
  func latePresence() throws {
    try stand.vault.keychain().set(
      ItemChange(name: ItemName("long"), require: .password, update: true), now: 1)
    stand.access.add(.password, by: stand.administrator, with: [])
    let long = try prepareCopy()
    // In a sleep no timer runs.
    stand.hands.sleep(seconds: 100_000)
    #expect(throws: Refusal.presenceRequired("long", .password)) { try copy(long) }
    #expect(throws: VaultError.noSuchItem) { try stand.vault.keychain().item(named: ItemName("copy")) }
    stand.access.add(.password, by: stand.administrator, with: [])
    #expect(try copy(long) == 1)
  }

  @Test("is refused as a copy for who may not read the source any more once it was sealed") func revokedCopy() throws {
    let (caller, subject) = (RoomStand.caller(990), try Subject(parsing: "user:990"))
    let work = ItemWork.copy(try ItemName("long"), to: try ItemName("own/copy"), replacing: false)
    func copyOwn(_ long: LongChange) throws -> Int {
      try stand.items.copy(
        ItemName("long"), to: ItemName("own/copy"), replacing: false, evenExpired: false, long, for: caller)
    }
    func give(_ rights: String, _ pattern: String) throws {
      _ = try stand.access.give(
        subject, ItemPattern(pattern), Rights(parsing: rights), until: nil, for: stand.administrator)
    }
    try give("get,set", "own/*")
    try give("get", "long")
    let long = LongChange()
    while stand.items.prepare(work, long, for: caller) {}
    #expect(long.ahead.hasValue)
    _ = try stand.access.revoke(subject, ItemPattern("long"), for: stand.administrator)
    #expect(throws: Refusal.self) { try copyOwn(long) }
    #expect(throws: VaultError.noSuchItem) { try stand.vault.keychain().item(named: ItemName("own/copy")) }
    try give("get", "long")
    #expect(try copyOwn(long) == 1)
    #expect(try value(of: "own/copy") == value(of: "long"))
  }
}
