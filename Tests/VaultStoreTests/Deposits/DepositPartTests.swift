import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("Deposits that are taken in part by part") struct DepositPartTests {
  /// Makes a closed vault with three deposits for an item, and two for an item that does not exist yet; all deposits
  /// for an item have the same base version.
  private static func fixture() throws -> Fixture {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try keychain.put("old", "before", now: 1500)
    keychain.lock(hidingNames: false)
    for text in ["one", "two", "three"] { try keychain.leave(LeftValue("old", text, base: 1)) }
    for text in ["first", "second"] { try keychain.leave(LeftValue("new", text, base: 0)) }
    try keychain.close()
    return fixture
  }

  /// Opens the store, takes in the next deposit only, and closes the store.
  private static func takeInNext(_ fixture: Fixture) throws -> [TakenDeposit.Result] {
    let keychain = try fixture.unlocked()
    let results = try keychain.takeInAll(onePart: true)
    #expect(try keychain.verify().isOK)
    try keychain.close()
    return results
  }

  @Test("follow each other, also where the store is opened again before each of them") func parts() throws {
    let fixture = try Self.fixture()
    var results: [TakenDeposit.Result] = []
    for _ in 0..<5 { results += try Self.takeInNext(fixture) }
    #expect(results == [2, 3, 4, 1, 2].map { .stored(version: $0) })
    let keychain = try fixture.unlocked()
    #expect(try keychain.takeInAll() == [] && keychain.text("old") == "three" && keychain.text("new") == "second")
  }

  @Test("do not follow what somebody else has set in between") func changed() throws {
    let fixture = try Self.fixture()
    #expect(try Self.takeInNext(fixture) == [.stored(version: 2)])
    let keychain = try fixture.unlocked()
    try keychain.put("old", "set", update: true, now: 2500)
    let results = try keychain.takeInAll(now: 2500)
    #expect(results.suffix(2) == [.stored(version: 1), .stored(version: 2)])
    #expect(try keychain.keptAside() == [.changed, .changed] && keychain.text("old") == "set")
  }

  @Test("do not follow what was stored anew under the name, whatever came of earlier ones") func anew() throws {
    let fixture = try Fixture.withItems(1)
    var keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("name", "first", base: 0))
    try keychain.close()
    #expect(try Self.takeInNext(fixture) == [.stored(version: 1)])
    keychain = try fixture.unlocked()
    try keychain.delete([ItemName("name")])
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("name", "stale", base: 0))
    try keychain.close()
    keychain = try fixture.unlocked()
    // This is a different item, whose first version has the deposit's version number.
    try keychain.put("name", "the owner's", now: 1600)
    _ = try keychain.takeInAll()
    #expect(try keychain.keptAside() == [.changed] && keychain.text("name") == "the owner's")
  }

  @Test("follow each other over a rekey and a salvage", arguments: [false, true]) func copied(isSalvage: Bool) throws {
    let fixture = try Self.fixture()
    let keychain = try fixture.unlocked()
    #expect(try keychain.takeInAll(onePart: true) == [.stored(version: 2)])
    let copy = try fixture.copy(keychain, bySalvage: isSalvage)
    #expect(try copy.takeInAll() == [3, 4, 1, 2].map { .stored(version: $0) })
    #expect(try copy.text("old") == "three" && copy.verify().isOK)
  }

  @Test("follow each other over a rekey of a store that was opened again amid them") func copiedLater() throws {
    let fixture = try Self.fixture()
    #expect(try Self.takeInNext(fixture) == [.stored(version: 2)])
    let copy = try fixture.copy(fixture.unlocked(), bySalvage: false)
    #expect(try copy.takeInAll() == [3, 4, 1, 2].map { .stored(version: $0) })
    #expect(try copy.text("old") == "three" && copy.verify().isOK)
  }

  @Test("follow each other over a rekey and a lock after it that leaves no name in memory") func lockedAfterRekey()
    throws
  {
    let fixture = try Self.fixture()
    let keychain = try fixture.unlocked()
    #expect(try keychain.takeInAll(onePart: true) == [.stored(version: 2)])
    let copy = try fixture.copy(keychain, bySalvage: false)
    for (hides, keeps) in [(true, true), (false, false)] {
      copy.lock(hidingNames: hides, keepingAfterFirstUnlock: keeps)
      #expect(copy.takenBases.isEmpty)
    }
    try copy.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(try copy.takeInAll() == [3, 4, 1, 2].map { .stored(version: $0) })
  }

  @Test("are remembered until their time, whatever another version of the program tells of them") func otherNotes()
    throws
  {
    let time = DepositNote(until: 1 << 40).bytes
    for tail in [[], [1], [UInt8](repeating: 7, count: 40), [UInt8](repeating: 7, count: 64)] as [[UInt8]] {
      #expect(DepositNote(time + tail)?.until == 1 << 40)
      #expect(DepositNote(time + tail)?.taken == nil)
    }
    #expect(DepositNote([1, 2, 3]) == nil)
  }

  @Test("of one lock follow each other after those of an earlier one have, and those of another view follow in turn")
  func periods() throws {
    let fixture = try Self.fixture()
    var keychain = try fixture.unlocked()
    #expect(try keychain.takeInAll().count == 5)
    keychain.lock(hidingNames: false)
    for text in ["four", "five"] { try keychain.leave(LeftValue("old", text, base: 4)) }
    try keychain.close()
    #expect(try Self.takeInNext(fixture) == [.stored(version: 5)])
    // This deposit comes between two parts, with the version that the first part made as its base.
    keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("old", "six", base: 5))
    try keychain.close()
    keychain = try fixture.unlocked()
    #expect(try keychain.takeInAll() == [.stored(version: 6), .stored(version: 7)])
    #expect(try keychain.text("old") == "six" && keychain.keptAside() == [])
  }

  @Test("follow each other in the order of their numbers, whatever the clock did") func order() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try keychain.put("old", "before", now: 1500)
    keychain.lock(hidingNames: false)
    for (text, time) in [("ahead", 2002), ("right", 2000), ("back", 1990)] as [(String, Int64)] {
      try keychain.leave(LeftValue("old", text, base: 1, time: time))
    }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll() == [2, 3, 4].map { .stored(version: $0) })
    #expect(try keychain.text("old") == "back")
  }

  @Test("do not follow those with a higher number") func putBack() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    try keychain.put("old", "before", now: 1500)
    keychain.lock(hidingNames: false)
    let first = try keychain.leave(LeftValue("old", "first", base: 1))
    try keychain.leave(LeftValue("old", "second", base: 1))
    let row = try #require(try keychain.database.deposit(first))
    try keychain.database.deleteDeposit(first)
    try keychain.close()
    var again = try fixture.unlocked()
    #expect(try again.takeInAll() == [.stored(version: 2)])
    try again.database.insertDeposit(row)
    try again.close()
    again = try fixture.unlocked()
    _ = try again.takeInAll()
    #expect(try again.keptAside() == [.changed] && again.text("old") == "second")
  }

  @Test("for a name that is not there yet do not land in the item that another one became", arguments: [false, true])
  func renamed(isRestarted: Bool) throws {
    let fixture = try Fixture.withItems(1)
    var keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    for name in ["one", "two"] { try keychain.leave(LeftValue(name, "for \(name)", base: 0)) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll(onePart: true) == [.stored(version: 1)])
    try keychain.move(from: ItemName("one"), to: ItemName("two"), now: 1600)
    if isRestarted {
      try keychain.close()
      keychain = try fixture.unlocked()
    }
    _ = try keychain.takeInAll()
    #expect(try keychain.keptAside() == [.changed] && keychain.text("two") == "for one")
  }

  @Test("are for the item that was there, and for no other that has its name and number of versions now")
  func identity() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    for name in ["deleted", "moved", "kept"] { try keychain.put(name, "before", now: 1500) }
    keychain.lock(hidingNames: false)
    for name in ["deleted", "moved", "kept"] {
      let base = try keychain.depositBase(of: ItemName(name)).base
      #expect(base.version == 1)
      try keychain.leave(LeftValue(name, "left", base: base.version, of: base.item))
    }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try keychain.delete([ItemName("deleted")])
    try keychain.put("deleted", "another", now: 1600)
    try keychain.move(from: ItemName("moved"), to: ItemName("elsewhere"), now: 1600)
    try keychain.put("moved", "another", now: 1600)
    #expect(try keychain.takeInAll().last == .stored(version: 2))
    #expect(try keychain.keptAside() == [.changed, .changed])
    for (name, text) in [("deleted", "another"), ("moved", "another"), ("elsewhere", "before"), ("kept", "left")] {
      #expect(try keychain.text(name) == text)
    }
  }
}
