import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

/// The calls that change items or slots, on a disk that may fill up with each write.
@Suite("A change of items or slots, where the log is required") struct RecordedItemsTests {
  /// A call, with the beginnings of its entries.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let entries: [String]
    let make: @Sendable (RoomStand) throws -> Void

    init(_ title: String, _ entries: [String], _ make: @escaping @Sendable (RoomStand) throws -> Void) {
      (testDescription, self.entries, self.make) = (title, entries, make)
    }
  }

  private static let names = ["a", "b", "new", "gone", "moved", "copy", "left", "kept", "key", "key.revoked", "key2"]

  private static func name(_ text: String) -> ItemName {
    guard let name = try? ItemName(text) else { preconditionFailure("a name of this file is wrong") }
    return name
  }

  private static func leave(_ stand: RoomStand, _ name: String) throws {
    _ = try stand.items.deposit(
      self.name(name), kind: nil, attributes: nil, accessible: nil, count: 1, for: stand.administrator, Said()
    ) { _ in true }
  }

  private static func setMany(_ stand: RoomStand, _ names: [String]) throws {
    let changes = names.map { (change: ItemChange(name: name($0), update: true), value: NewValue.bytes(count: 1)) }
    do throws(BatchRefusal) { _ = try stand.items.set(changes, for: stand.administrator) { _, _ in true } } catch {
      throw error.refusal
    }
  }

  private static let changes = [
    Change("a new item", ["set ok new"]) { try $0.set("new") },
    Change("many items", ["set ok a", "set ok b", "set ok new"]) { try setMany($0, ["a", "b", "new"]) },
    Change("a deletion", ["delete ok a", "delete ok b"]) { stand in
      _ = try stand.items.delete([name("a"), name("b")], isForGood: false, for: stand.administrator)
    },
    Change("a deletion for good", ["delete ok a"]) { stand in
      _ = try stand.items.delete([name("a")], isForGood: true, for: stand.administrator)
    },
    Change("an item out of the trash", ["set ok gone"]) { stand in
      try stand.items.undelete(name("gone"), for: stand.administrator)
    },
    Change("an emptied trash", ["delete ok all of the trash"]) { stand in
      _ = try stand.items.emptyTrash(after: nil, for: stand.administrator)
    },
    Change("an old version", ["set ok a"]) { stand in
      _ = try stand.items.restoreVersion(1, of: name("a"), for: stand.administrator)
    },
    Change(
      "a new name for a key with a list",
      ["move ok key", "move ok key2", "move ok key.revoked", "move ok key2.revoked"]
    ) { stand in
      try stand.items.move(name("key"), to: name("key2"), for: stand.administrator)
    },
    Change("a copy", ["get ok a", "set ok copy"]) { stand in
      _ = try stand.items.copy(
        name("a"), to: name("copy"), replacing: false, evenExpired: false, for: stand.administrator)
    },
    Change("a revoked token", ["set ok key.revoked", "use ok key"]) { stand in
      _ = try stand.items.revoke(
        .one(String(repeating: "0b", count: 16)), of: name("key"), for: stand.administrator)
    },
    Change("a deposit that is taken in", ["deposit ok left"]) { try leave($0, "left") },
    // The unlock after the kill takes it in, which is the second entry.
    Change("a deposit that waits", ["deposit ok left", "deposit ok left"]) { stand in
      stand.vault.lock(because: .asked)
      try leave(stand, "left")
    },
    Change("a deposit that is accepted", ["deposit ok kept"]) { stand in
      let number = try #require(try stand.items.deposits().first).number
      _ = try stand.items.settleDeposit(number, isAccepted: true, for: stand.administrator)
    },
    Change("a deposit that is dropped", ["deposit ok kept"]) { stand in
      let number = try #require(try stand.items.deposits().first).number
      _ = try stand.items.settleDeposit(number, isAccepted: false, for: stand.administrator)
    },
  ]

  /// A machine's vault with items, one of them with two versions; one in the trash; a key for tokens with its list; and
  /// a deposit that was kept aside.
  private static func stand(_ made: (String) -> Void) throws -> RoomStand {
    var settings = VaultSettings()
    settings.audit.mode = .required
    settings.trash = 86_400
    let stand = try RoomStand.unlocked(settings, system: true, made: made)
    for name in ["a", "b", "gone", "kept"] { try stand.set(name) }
    try setMany(stand, ["a"])
    _ = try stand.items.delete([name("gone")], isForGood: false, for: stand.administrator)
    _ = try stand.items.set(
      ItemChange(name: name("key"), use: .jwt), .generated(.key(.hmac)), for: stand.administrator
    ) { _ in true }
    _ = try stand.items.revoke(.one(String(repeating: "0a", count: 16)), of: name("key"), for: stand.administrator)
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("kept"), try Rights(parsing: "deposit"), until: nil,
      for: stand.administrator)
    _ = try stand.items.deposit(
      name("kept"), kind: nil, attributes: nil, accessible: nil, count: 1, for: RoomStand.caller(990), Said()
    ) { _ in true }
    stand.run()
    #expect(stand.vault.audit.write())
    return stand
  }

  /// The number of entries that a change has in a log.
  private static func count(_ change: Change, in told: [String]) -> [Int] {
    change.entries.map { entry in told.count { $0 == entry } }
  }

  /// The items and deposits in the store, as a kill leaves them, and the entries of the log.
  private static func left(_ stand: RoomStand) throws -> (state: [String], entries: [String]) {
    let next = try stand.afterKill()
    defer { next.vault.closeStore() }
    let keychain = try next.vault.keychain()
    let items = names.flatMap { name -> [String] in
      let item = (try? keychain.item(named: self.name(name))).map { "\(name) \($0.versions.map(\.number))" }
      let trashed = (try? keychain.trashedItem(named: self.name(name), found: TrashSearch())).map { _ in
        "\(name) in the trash"
      }
      return [item, trashed].compactMap { $0 }
    }
    let deposits = try keychain.tellDeposits(after: 0, limit: 9).told.map { "deposit \($0.number) \($0.isWaiting)" }
    return (items + deposits, try AuditTests.told(next))
  }

  @Test("takes effect together with its entries, or not at all and has none that says so", arguments: changes)
  func together(_ change: Change) throws {
    var (hasFailed, isDone) = (false, false)
    for writes in 0..<64 where !isDone {
      var disk: SmallDisk?
      let stand = try Self.stand { disk = SmallDisk($0) }
      defer { stand.vault.closeStore() }
      let before = try Self.left(stand)
      let made = zip(Self.count(change, in: before.entries), Self.count(change, in: change.entries)).map(+)
      disk?.fill(after: writes)
      do { try change.make(stand) } catch is Refusal {
        hasFailed = true
        // A power cut may keep what was not acknowledged, and then keeps its entries.
        let cut = try Self.left(stand)
        let kept = cut.state == before.state ? Self.count(change, in: before.entries) : made
        #expect(Self.count(change, in: cut.entries) == kept, "after \(writes) writes")
        disk?.free()
        #expect(stand.vault.audit.write())
        let after = try Self.left(stand)
        #expect(after.state == before.state, "after \(writes) writes")
        #expect(
          Self.count(change, in: after.entries) == Self.count(change, in: before.entries), "after \(writes) writes")
        continue
      }
      let after = try Self.left(stand)
      #expect(after.state != before.state, "after \(writes) writes")
      #expect(Self.count(change, in: after.entries) == made, "after \(writes) writes")
      isDone = disk?.refused == 0
    }
    #expect(hasFailed && isDone)
  }

  @Test("is not made by an unlock for which no deposit waits, even on a full disk") func nothingWaits() throws {
    var disk: SmallDisk?
    let stand = try Self.stand { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    stand.vault.lock(because: .asked)
    disk?.fill()
    try stand.unlock()
    stand.run()
    disk?.free()
    #expect(!stand.journal.value.contains { $0.contains("deposits") }, "\(stand.journal.value)")
    #expect(try !AuditTests.told(stand).contains { $0.hasPrefix("deposit failed") })
  }
}
