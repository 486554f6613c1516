import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

/// A refused call that found an item makes an entry of that item, whatever its later name. A call that was denied, or
/// that may not know of the item, makes an entry with the name only.
@Suite("The items that refused calls have met") struct AuditRefusedItemsTests {
  private static let depositor = RoomStand.caller(992)

  private static func stand() throws -> RoomStand {
    let stand = try RoomStand.unlocked(system: true)
    for (uid, rights) in [(990, "admin,get,find"), (991, "set,find,deposit"), (992, "deposit"), (993, "watch,find")] {
      _ = try stand.access.give(
        try Subject(parsing: "user:\(uid)"), try ItemPattern("a/**"), try Rights(parsing: rights), until: nil,
        for: stand.administrator)
    }
    return stand
  }

  /// Returns the entries about a name, or about an item.
  private static func found(
    _ stand: RoomStand, _ item: String?, named name: String
  ) throws -> [(AuditAction, AuditOutcome, ItemID?)] {
    var filter = AuditFilter()
    filter.item = try item.map { try ItemName($0) }
    let reading = try stand.access.readAudit(filter, for: stand.administrator)
    defer { reading.end() }
    var found: [(AuditAction, AuditOutcome, ItemID?)] = []
    while true {
      let (page, isOver) = try reading.page(until: .max) { 1 }
      found += page.filter { $0.entry.item == name }.map { ($0.entry.action, $0.entry.outcome, $0.entry.id) }
      if isOver { return found }
    }
  }

  private static func fill(_ bytes: inout MutableRawSpan) -> Bool {
    for index in 0..<bytes.byteCount { bytes.storeBytes(of: 42, toByteOffset: index, as: UInt8.self) }
    return true
  }

  private static func deposit(
    _ stand: RoomStand, _ name: String, kind: ItemKind?, by caller: Caller, isValid: Bool = true
  )
    throws -> DepositAnswer
  {
    try stand.items.deposit(
      ItemName(name), kind: kind, attributes: nil, accessible: nil, count: 1, for: caller, Said()
    ) { bytes in isValid && fill(&bytes) }
  }

  private static func change(_ name: String, update: Bool = false, kind: ItemKind? = nil) throws -> ItemChange {
    ItemChange(name: try ItemName(name), kind: kind, update: update)
  }

  private static func copy(_ stand: RoomStand, _ source: String, _ target: String, by caller: Caller? = nil) throws {
    _ = try stand.items.copy(
      ItemName(source), to: ItemName(target), replacing: false, evenExpired: false, for: caller ?? stand.administrator)
  }

  private static func setMany(_ stand: RoomStand, _ changes: [ItemChange]) throws {
    _ = try stand.items.set(changes.map { ($0, .bytes(count: 1)) }, for: stand.administrator) { fill(&$1) }
  }

  private static func get(_ stand: RoomStand, _ name: String, version: Int? = nil) throws {
    _ = try stand.items.get(ItemName(name), version: version, for: stand.administrator) { _, _, _ in }
  }

  typealias Call = @Sendable (RoomStand) throws -> Void

  /// Calls on the item `a/one` that are refused, with their entries. `a/other` exists as well.
  private static let refused: [(text: String, action: AuditAction, outcome: AuditOutcome, call: Call)] = [
    ("a set of what is there", .set, .invalid, { try $0.set("a/one") }),
    ("the same of who may only set it", .set, .invalid, { try $0.set("a/one", by: RoomStand.caller(991)) }),
    (
      "a set of what is no value", .set, .invalid,
      { stand in
        _ = try stand.items.set(
          change("a/one", update: true), .bytes(count: 1), for: stand.administrator, fill: { _ in false })
      }
    ),
    (
      "a change of its kind", .set, .invalid,
      { stand in
        _ = try stand.items.set(
          change("a/one", update: true, kind: .totp), .bytes(count: 1), for: stand.administrator, fill: fill)
      }
    ),
    (
      "a batch that is refused for it", .set, .invalid,
      { stand in try setMany(stand, [change("a/new"), change("a/other", update: true), change("a/one")]) }
    ),
    ("a copy onto it", .set, .invalid, { try copy($0, "a/other", "a/one") }),
    ("a copy of it onto itself", .set, .invalid, { try copy($0, "a/one", "a/one") }),
    (
      "a copy of it after its expiry", .get, .expired,
      { stand in
        stand.hands.wall.value = 3000
        try copy(stand, "a/one", "a/new")
      }
    ),
    (
      "a get after its expiry", .get, .expired,
      { stand in
        stand.hands.wall.value = 3000
        try get(stand, "a/one")
      }
    ),
    ("a get of a version that is not there", .get, .missing, { try get($0, "a/one", version: 9) }),
    (
      "a comparison after its expiry", .use, .expired,
      { stand in
        stand.hands.wall.value = 3000
        _ = try stand.items.copied(
          ItemName("a/other"), to: ItemName("a/one"), evenExpired: false, for: stand.administrator)
      }
    ),
    (
      "a renaming to its name", .move, .invalid,
      { try $0.items.move(ItemName("a/other"), to: ItemName("a/one"), for: $0.administrator) }
    ),
    (
      "a version that is not there put back", .set, .missing,
      { _ = try $0.items.restoreVersion(9, of: ItemName("a/one"), for: $0.administrator) }
    ),
    (
      "a receipt for a version that never was", .receipt, .invalid,
      { try $0.items.receipt(9, of: ItemName("a/one"), succeeded: true, detail: nil, for: RoomStand.caller(993)) }
    ),
    (
      "the public half of what is no key", .find, .invalid,
      { _ = try $0.items.publicKey(ItemName("a/one"), .spki, for: $0.administrator) }
    ),
    (
      "what was left and is no value", .deposit, .invalid,
      { _ = try deposit($0, "a/one", kind: nil, by: RoomStand.caller(991), isValid: false) }
    ),
    (
      "what was left and is kept aside", .deposit, .invalid,
      { stand in
        #expect(try deposit(stand, "a/one", kind: .note, by: RoomStand.caller(991)).obstacle == .otherItem)
        throw Refusal.busy("it is no refusal")
      }
    ),
    (
      "what was kept aside and is dropped", .deposit, .ok,
      { stand in
        _ = try deposit(stand, "a/one", kind: .note, by: depositor)
        let number = try #require(try stand.items.deposits().first).number
        _ = try stand.items.settleDeposit(number, isAccepted: false, for: stand.administrator)
        throw Refusal.busy("it is no refusal")
      }
    ),
  ]

  @Test("an entry of a refused call follows the item that it met", arguments: refused.indices) func follow(index: Int)
    throws
  {
    let (text, action, outcome, call) = Self.refused[index]
    let stand = try Self.stand()
    var change = try Self.change("a/one")
    change.expires = 2500
    _ = try stand.items.set(change, .bytes(count: 1), for: stand.administrator, fill: Self.fill)
    try stand.set("a/other")
    let before = try Self.found(stand, nil, named: "a/one").count
    #expect(throws: (any Error).self, "\(text)") { try call(stand) }
    let entries = try Self.found(stand, nil, named: "a/one").dropFirst(before)
    let own = entries.filter { $0.0 == action && $0.1 == outcome }
    #expect(own.last?.2 != nil, "\(text): \(entries)")
    try stand.items.move(ItemName("a/one"), to: ItemName("a/moved"), for: stand.administrator)
    try stand.items.move(ItemName("a/other"), to: ItemName("a/one"), for: stand.administrator)
    let followed = try Self.found(stand, "a/moved", named: "a/one").filter { $0.0 == action && $0.1 == outcome }
    #expect(followed.count == 1, "\(text): \(followed)")
  }

  @Test("what was denied, or left by who may not know of the item, tells nothing of which item is there") func denied()
    throws
  {
    let stand = try Self.stand()
    for name in ["a/one", "a/other"] { try stand.set(name) }
    let stranger = RoomStand.caller(994)
    #expect(throws: Refusal.self) { try stand.set("a/one", by: stranger) }
    #expect(throws: Refusal.self) { try Self.copy(stand, "a/one", "a/new", by: stranger) }
    #expect(throws: Refusal.self) { try Self.copy(stand, "a/other", "a/one", by: stranger) }
    #expect(throws: Refusal.self) {
      try stand.items.move(ItemName("a/other"), to: ItemName("a/one"), for: stranger)
    }
    #expect(throws: Refusal.self) { try Self.deposit(stand, "a/one", kind: nil, by: Self.depositor, isValid: false) }
    #expect(try Self.deposit(stand, "a/one", kind: nil, by: Self.depositor) == DepositAnswer())
    let entries = try Self.found(stand, nil, named: "a/one").dropFirst()
    #expect(entries.count >= 5 && entries.allSatisfy { $0.2 == nil }, "\(entries)")
  }

  @Test("an item that is named twice in one call is deleted once, and told once", arguments: [false, true])
  func twice(isForGood: Bool) throws {
    let stand = try Self.stand()
    for name in ["a/one", "a/other"] { try stand.set(name) }
    let names = try ["a/one", "a/other", "a/one"].map { try ItemName($0) }
    _ = try stand.items.delete(names, isForGood: isForGood, for: stand.administrator)
    for name in ["a/one", "a/other"] {
      let deleted = try Self.found(stand, nil, named: name).filter { $0.0 == .delete }
      #expect(deleted.count == 1 && deleted.first?.2 != nil, "\(name): \(deleted)")
    }
  }
}
