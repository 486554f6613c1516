import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("A search for the item of a name that was deleted last") struct TrashSearchTests {
  /// More items than two steps open.
  private static let many = 2 * TrashSearch.mostItems + 10

  private let fixture: Fixture
  private let keychain: Keychain
  private let name: ItemName

  init() throws {
    fixture = try Fixture()
    keychain = try fixture.unlocked()
    name = try ItemName("a")
  }

  /// Puts so many items of the name into the trash, whose values are their numbers.
  private func fill(_ numbers: Range<Int>, attributes: [String: String] = [:]) throws {
    try keychain.transaction { () throws(VaultError) in
      for number in numbers {
        let change = ItemChange(name: name, kind: .note, attributes: attributes)
        try keychain.set(change, value: secret("\(number)"), now: 2000)
        try keychain.trash([name], now: 2000)
      }
    }
  }

  /// Puts an item into the trash under the name that is searched for.
  private func trash(_ text: String) throws {
    try keychain.move(from: ItemName(text), to: name, now: 2000)
    try keychain.trash([name], now: 2000)
  }

  /// Makes a search to its end, and returns the number of steps before the last one.
  private func steps(_ search: TrashSearch) throws -> Int {
    var count = 0
    while try !keychain.searchTrash(name, search) {
      count += 1
      try #require(count < 100)
    }
    return count
  }

  private func value(_ search: TrashSearch) throws -> String {
    let bytes = try keychain.withTrashedValue(of: name, found: search) { value in
      unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("opens a part of the items in each step, and afterwards nothing but the one that it has found")
  func parts() throws {
    try fill(0..<Self.many)
    let search = TrashSearch()
    #expect(try steps(search) == 2)
    // Another walk over the items would meet this one.
    try keychain.database.connection.execute("UPDATE heads SET sealed = x'00' WHERE id = 1")
    #expect(try steps(search) == 0)
    #expect(try value(search) == "\(Self.many - 1)")
    let item = try keychain.trashedItem(named: name, found: search)
    #expect(!keychain.sealAhead([.restore(name, found: search)], SealedAhead()))
    try keychain.restore(name, found: search, now: 2000)
    #expect(try keychain.text("a") == "\(Self.many - 1)" && keychain.item(named: name).id == item.id)
    expectCorrupt { _ = try keychain.trashedItem(named: name, found: TrashSearch()) }
  }

  @Test("opens fewer items that have many attributes") func long() throws {
    let long = String(repeating: "x", count: 1000)
    try fill(0..<40, attributes: Dictionary(uniqueKeysWithValues: (0..<8).map { ("n\($0)", long) }))
    let search = TrashSearch()
    #expect(try (3...8).contains(steps(search)))
    #expect(try value(search) == "39")
  }

  @Test("finds an item that is deleted meanwhile, in any row and any class, and does not begin again for it")
  func later() throws {
    try keychain.put("early", "early", accessible: .always)
    try keychain.put("later", "later")
    try fill(0..<Self.many)
    let search = TrashSearch()
    #expect(try !keychain.searchTrash(name, search))
    try trash("early")
    // Others of another name do not count, and nor do changes of any kind.
    try keychain.put("b", "b")
    try keychain.trash([ItemName("b")], now: 2000)
    #expect(try steps(search) == 1)
    #expect(try value(search) == "early")
    try trash("later")
    #expect(try steps(search) == 0 && value(search) == "later")
    try fill(Self.many..<Self.many + 1)
    #expect(try steps(search) == 0 && value(search) == "\(Self.many)")
  }

  @Test("begins again if the item that it has found leaves the trash, and only then") func gone() throws {
    try fill(0..<Self.many)
    let (search, other) = (TrashSearch(), TrashSearch())
    #expect(try steps(search) == 2)
    try keychain.restore(name, found: other, now: 2000)
    #expect(try steps(search) == 3 && value(search) == "\(Self.many - 2)")
    // The same item, deleted again, has another number.
    try keychain.trash([name], now: 2000)
    #expect(try steps(search) == 0 && value(search) == "\(Self.many - 1)")
    var after: Int64?
    repeat { after = try keychain.emptyTrash(ofAge: 0, after: after, examining: 1000) } while after != nil
    #expect(try steps(search) == 1)
    #expect(throws: VaultError.noSuchItem) { try keychain.trashedItem(named: name, found: search) }
    #expect(throws: VaultError.noSuchItem) { try keychain.restore(name, found: search, now: 2000) }
    #expect(try keychain.verify().isOK)
  }

  @Test("is not told of a deletion that is undone") func undone() throws {
    let early = try ItemName("early")
    try keychain.put(early.text, "early")
    try fill(0..<Self.many)
    let search = TrashSearch()
    #expect(try steps(search) == 2)
    #expect(throws: VaultError.noSuchItem) {
      try keychain.transaction { () throws(VaultError) in
        try keychain.move(from: early, to: name, now: 2000)
        try keychain.trash([name], now: 2000)
        throw .noSuchItem
      }
    }
    #expect(try steps(search) == 0 && value(search) == "\(Self.many - 1)")
  }

  @Test("begins again under other keys: after a lock that hides names, and after a rekey") func keys() throws {
    try fill(0..<Self.many)
    let search = TrashSearch()
    #expect(try !keychain.searchTrash(name, search))
    keychain.lock(hidingNames: true)
    #expect(throws: VaultError.locked) { try keychain.trashedItem(named: name, found: search) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try steps(search) == 2 && value(search) == "\(Self.many - 1)")
    try fixture.rekey(keychain).complete()
    #expect(try steps(search) == 2 && value(search) == "\(Self.many - 1)")
  }
}
