import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The trash") struct TrashTests {
  private static let day: Int64 = 86_400

  private func trashed(_ keychain: Keychain) throws -> [String] {
    var query = try Query(parsing: "")
    query.isOfTrash = true
    return try keychain.find(query, limit: 100, now: 2000).items.map(\.name.text)
  }

  /// Deletes old items from the trash, a few at a time, and returns their number.
  @discardableResult
  private func empty(_ keychain: Keychain, ofAge age: Int64, examining: Int = 2) throws -> Int {
    var (gone, after): (Int, Int64?) = (0, nil)
    repeat {
      after = try keychain.emptyTrash(ofAge: age, after: after, examining: examining, gone: { gone += $0 })
    } while after != nil
    return gone
  }

  @Test("what is in it answers no get and no search, leaves its name to others, and comes back as it was")
  func putBack() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    let item = try name("room 0/item 3")
    let before = try keychain.item(named: item)
    try keychain.set(ItemChange(name: item, expires: 9000, update: true), now: 2500)
    try keychain.trash([item, item, name("room 2/item 1")], now: 3000)
    #expect(try trashed(keychain) == ["room 0/item 3", "room 2/item 1"])
    #expect(throws: VaultError.noSuchItem) { try keychain.item(named: item) }
    #expect(throws: VaultError.noSuchItem) { try keychain.text("room 0/item 3") }
    for query in ["", "name=\"room 0/item 3\"", "place=3", "name~\"room 0/**\"", "kind=note", "size>0"] {
      #expect(try !keychain.names(query).contains("room 0/item 3"), "\(query)")
    }
    #expect(try keychain.itemCount() == 10)
    #expect(throws: VaultError.noSuchItem) { try keychain.trash([item], now: 3000) }
    #expect(throws: VaultError.noSuchItem) { try keychain.restore(name("nothing"), now: 3000) }

    try keychain.put("room 0/item 3", "another")
    #expect(throws: VaultError.alreadyExists) { try keychain.restore(item, now: 3000) }
    try keychain.delete([item])
    try keychain.restore(item, now: 9999)
    let after = try keychain.item(named: item)
    #expect(after.versions == before.versions && after.attributes == before.attributes && after.trashed == nil)
    // The old expiry stays, even if it has passed meanwhile.
    #expect(after.expires == 9000)
    #expect(try keychain.names("place=3").contains("room 0/item 3"))
    #expect(try keychain.text("room 0/item 3", evenExpired: true) == "value 0.3 again")
    #expect(try keychain.verify().isOK)
  }

  @Test("is emptied in parts that are as short for items with many tags or long values as for others")
  func parts() throws {
    let attributes = try KeyringAttributes((0..<256).map { (key: "\($0)", value: "") })
    let facts = KeyringFacts(id: KeyringID(number: 7), order: 1, attributes: attributes)
    for (keyring, size) in [(facts, 1), (nil, 1_000_000)] as [(KeyringFacts?, Int)] {
      let fixture = try Fixture()
      let keychain = try fixture.unlocked()
      let names = try (0..<12).map { try name("item \($0)") }
      for item in names {
        let value = secret(String(repeating: "v", count: size))
        try keychain.set(ItemChange(name: item, kind: .note, keyring: keyring), value: value, now: 1)
      }
      try keychain.trash(names, now: 2)
      var gone = 0
      let next = try keychain.emptyTrash(ofAge: 0, examining: 100, gone: { gone = $0 })
      #expect(next != nil && (1..<12).contains(gone), "\(gone)")
      try empty(keychain, ofAge: 0, examining: 100)
      #expect(try trashed(keychain).isEmpty)
    }
  }

  @Test("of two items of one name the one that was deleted last comes back first")
  func newest() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for (index, accessible) in [AccessClass.always, .whenUnlocked, .always].enumerated() {
      try keychain.put("a", "\(index)", accessible: accessible)
      try keychain.trash([name("a")], now: 3000 + Int64(index))
    }
    #expect(try keychain.verify().isOK)
    for value in ["2", "1", "0"] {
      try keychain.restore(name("a"), now: 4000)
      #expect(try keychain.text("a") == value)
      try keychain.move(from: name("a"), to: name("was \(value)"), now: 4000)
    }
    #expect(try trashed(keychain) == [] && keychain.trashCount == 0)
  }

  /// Deletes items named `a` one after another, at these times and in these classes; of each pair, the item made last
  /// is deleted first.
  private func delete(_ keychain: Keychain, _ moments: [(time: Int64, AccessClass)]) throws {
    for (index, (_, accessible)) in moments.enumerated().reversed() {
      try keychain.put("\(index)", "\(index)", accessible: accessible)
    }
    for (index, (time, _)) in moments.enumerated() {
      try keychain.move(from: name("\(index)"), to: name("a"), now: time)
      try keychain.trash([name("a")], now: time)
    }
  }

  /// Returns the values of the items named `a`, in the order in which they are restored.
  private func order(_ keychain: Keychain) throws -> [String] {
    var order: [String] = []
    while (try? keychain.restore(name("a"), now: 0)) != nil {
      order.append(try keychain.text("a"))
      try keychain.delete([name("a")])
    }
    return order
  }

  @Test("deletions have an order of their own: two of one second, and those of a clock that is behind or was set back")
  func clocks() throws {
    for times: [Int64] in [[3000, 3000, 3000], [9000, 3000, 4000], [9000, 9000, 1]] {
      let fixture = try Fixture()
      let keychain = try fixture.unlocked()
      try delete(keychain, times.map { ($0, .whenUnlocked) })
      #expect(try keychain.verify().isOK)
      #expect(try order(keychain) == ["2", "1", "0"], "\(times)")
    }
    // One class does not know the times of another.
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try delete(keychain, [(9000, .whenUnlocked), (3000, .always), (3000, .whenUnlocked), (3500, .always)])
    #expect(try keychain.verify().isOK)
    #expect(try order(keychain) == ["3", "2", "1", "0"])
    try delete(keychain, [(900_000, .always), (900_000, .always)])
    try keychain.setNewestTime(back: 4000)
    for time: Int64 in [4000, 4001] {
      try keychain.put("late", "late \(time)", now: time)
      try keychain.move(from: name("late"), to: name("a"), now: time)
      try keychain.trash([name("a")], now: time)
    }
    #expect(try order(keychain) == ["late 4001", "late 4000", "1", "0"])
    #expect(try keychain.verify().isOK)
  }

  @Test("a deletion in a store that was salvaged, or given a new key, is later than those that it brought along")
  func later() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for number in 0..<20 { try keychain.put("other \(number)", "") }
    try delete(keychain, [(3000, .whenUnlocked), (3000, .whenUnlocked)])
    func deleteAnother(_ keychain: Keychain, _ value: String) throws {
      try keychain.put("a", value, now: 3000)
      try keychain.trash([name("a")], now: 3000)
    }
    try fixture.rekey(keychain).complete()
    try deleteAnother(keychain, "rekeyed")
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 3000)
    for _ in 0..<1000 { if try salvage.step(items: 2) { break } }
    let saved = salvage.target
    try deleteAnother(saved, "saved")
    #expect(try order(saved) == ["saved", "rekeyed", "1", "0"])
    #expect(try saved.verify().isOK)
  }

  @Test("it ages from write to write, by no more than a day each; a clock that jumps or goes back takes nothing out")
  func ages() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", now: 2000)
    try keychain.trash([name("a")], now: 2000)
    func age() throws -> Int64 {
      var query = try Query(parsing: "")
      query.isOfTrash = true
      return try keychain.find(query, limit: 1, now: 0).items.map(keychain.ageInTrash).first ?? -1
    }
    #expect(try age() == 0)
    // An unlock after some minutes does not write.
    try keychain.ageTrash(now: 2000 + 3599)
    #expect(try age() == 0)
    try keychain.ageTrash(now: 2000 + 3600)
    #expect(try age() == 3600)
    try keychain.put("b", now: 2000 + 400 * Self.day)
    #expect(try age() == 3600 + Self.day)
    #expect(try empty(keychain, ofAge: 30 * Self.day) == 0)
    try keychain.put("c", now: 2000)
    try keychain.ageTrash(now: 2000 + 399 * Self.day)
    #expect(try age() == 3600 + Self.day)
    for day in 401...428 { try keychain.ageTrash(now: 2000 + Int64(day) * Self.day) }
    #expect(try empty(keychain, ofAge: 30 * Self.day) == 0)
    try keychain.ageTrash(now: 2000 + 429 * Self.day)
    #expect(try empty(keychain, ofAge: 30 * Self.day) == 1)
    #expect(try trashed(keychain) == [])
    #expect(try keychain.verify().isOK)
    // An item put into the trash now begins with age 0.
    try keychain.trash([name("b")], now: 0)
    #expect(try age() == 0)
  }

  @Test("what is old enough goes, a part at a time, and the rest stays")
  func emptied() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    let names = try keychain.names("").map(name)
    try keychain.trash(Array(names[..<5]), now: 2000)
    for accessible in AccessClass.allCases {
      try keychain.put("late \(accessible.name)", accessible: accessible, now: 2500)
    }
    try keychain.trash(Array(names[5..<9]), now: 2500)
    #expect(try empty(keychain, ofAge: 500) == 5)
    #expect(try trashed(keychain).count == 4)
    #expect(try keychain.verify().isOK)
    #expect(try keychain.itemCount() == 6)
    #expect(try empty(keychain, ofAge: 0, examining: 1) == 4)
    #expect(try keychain.verify().isOK && keychain.itemCount() == 6 && keychain.trashCount == 0)
  }

  @Test("a rekey, a backup and a salvage take it along")
  func carried() throws {
    let fixture = try Fixture.withItems(6)
    let keychain = try fixture.unlocked()
    let item = try name(#require(keychain.names("").first))
    let value = try keychain.text(item.text)
    try keychain.trash([item], now: 3000)
    let count = try keychain.itemCount()
    try fixture.rekey(keychain).complete()
    #expect(try trashed(keychain) == [item.text] && keychain.itemCount() == count)
    #expect(try keychain.verify().isOK)
    try keychain.restore(item, now: 4000)
    #expect(try keychain.text(item.text) == value)
  }

  @Test("an older version becomes current as a new one, and its expiry stays")
  func version() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one", expires: 2500)
    try keychain.put("a", "two", expires: 2500, update: true)
    #expect(try keychain.restoreVersion(1, of: name("a"), now: 3000).number == 3)
    #expect(try keychain.text("a", evenExpired: true) == "one")
    #expect(try keychain.item(named: name("a")).expires == 2500)
    #expect(try keychain.text("a", version: 2, evenExpired: true) == "two")
    #expect(throws: VaultError.noSuchVersion(9)) { try keychain.restoreVersion(9, of: name("a"), now: 3000) }
    #expect(throws: VaultError.noSuchItem) { try keychain.restoreVersion(1, of: name("b"), now: 3000) }
    for _ in 0..<12 {
      try keychain.restoreVersion(keychain.item(named: name("a")).versions[0].number, of: name("a"), now: 3000)
    }
    #expect(try keychain.text("a", evenExpired: true).isEmpty == false)
    #expect(try keychain.verify().isOK)
  }
}
