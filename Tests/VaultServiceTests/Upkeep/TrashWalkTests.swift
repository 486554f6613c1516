import Testing
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The walks over the trash") struct TrashWalkTests {
  private static func settings(trash: Int64?) -> VaultSettings {
    var settings = VaultSettings()
    settings.trash = trash
    return settings
  }

  /// Makes a vault with so many items in the trash.
  private static func stand(
    _ count: Int, made: (String) -> Void = { _ in }
  ) throws -> RoomStand {
    let stand = try RoomStand.unlocked(settings(trash: 86_400), made: made)
    for number in 0..<count { try stand.set("item/\(number)") }
    for number in 0..<count {
      _ = try stand.items.delete([ItemName("item/\(number)")], isForGood: false, for: stand.administrator)
    }
    stand.run()
    return stand
  }

  /// Returns the number of turns until nothing waits.
  private static func turns(_ stand: RoomStand) -> Int {
    stand.hands.stride.value = Turns.length
    defer { stand.hands.stride.value = 0 }
    var count = 0
    while stand.turns.isAwaited, count < 1000 {
      stand.turns.turn()
      count += 1
    }
    return count
  }

  @Test("are not begun by each of many deletes, but by the first and later") func deletes() throws {
    let stand = try Self.stand(200)
    for _ in 0..<50 { stand.rooms.upkeep.trashHasGrown() }
    #expect(!stand.turns.isAwaited)
    stand.hands.pass(seconds: 3600)
    let walk = Self.turns(stand)
    #expect((4...8).contains(walk), "\(walk)")
  }

  @Test("are never more than one at a time, and new settings begin it again") func settings() throws {
    let stand = try Self.stand(200)
    for _ in 0..<50 { stand.rooms.reconfigure(Self.settings(trash: 3600)) }
    let walk = Self.turns(stand)
    #expect((4...8).contains(walk), "\(walk)")
    #expect(try stand.vault.keychain().trashCount == 200)
    stand.rooms.reconfigure(Self.settings(trash: 3600))
    stand.turns.turn()
    stand.rooms.reconfigure(Self.settings(trash: nil))
    stand.run()
    #expect(try stand.vault.keychain().trashCount == 0)
  }

  @Test("wait longer after each fault, which is logged once") func faults() throws {
    var disk: SmallDisk?
    let stand = try Self.stand(3) { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    disk?.fill()
    stand.rooms.reconfigure(Self.settings(trash: nil))
    func lines() -> Int { stand.journal.value.count { $0.contains("the trash cannot") } }
    stand.run()
    for _ in 0..<600 {
      stand.hands.pass(seconds: 1)
      stand.run()
    }
    #expect(disk.map { $0.refused > 0 } == true && lines() == 1)
    #expect(try stand.vault.keychain().trashCount == 3)
    disk?.free()
    stand.hands.pass(seconds: 300)
    stand.run()
    #expect(try stand.vault.keychain().trashCount == 0 && lines() == 1)
  }
}
