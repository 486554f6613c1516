import Foundation
import Testing
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("The work of a salvage") struct SalvageWorkTests {
  private static func reader(
    _ stand: RoomStand, tell: @escaping () -> Void = {}, end: @escaping (Result<SalvageWork.Result, Refusal>) -> Void
  ) -> SalvageWork.Reader {
    SalvageWork.Reader(ObjectIdentifier(stand)) {
      true
    } tell: { _ in
      tell()
    } end: {
      end($0)
    }
  }

  private static func isThere(_ stand: RoomStand) -> Bool {
    FileManager.default.fileExists(atPath: stand.vault.directory + "/salvage/vault.db")
  }

  @Test("ends with a refusal whose entry the full disk does not take") func unrecorded() throws {
    var settings = VaultSettings()
    settings.audit.mode = .required
    var disk: SmallDisk?
    let stand = try RoomStand.unlocked(settings) { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    for name in ["a", "b"] { try stand.set(name) }
    stand.run()
    disk?.fill()
    let told = RoomStand.Shared(0)
    let reader = Self.reader(stand) {
      told.value += 1
    } end: { _ in
      told.value += 1
    }
    #expect(throws: Refusal.self) { try stand.rooms.upkeep.salvage(reader, for: stand.administrator) }
    #expect(disk.map { $0.refused > 0 } == true)
    stand.run()
    #expect(told.value == 0 && stand.rooms.upkeep.salvage == nil && !Self.isThere(stand))
    disk?.free()
    var saved: Int?
    try stand.rooms.upkeep.salvage(Self.reader(stand) { saved = try? $0.get().saved }, for: stand.administrator)
    stand.run()
    #expect(saved == 2)
  }

  @Test("has closed the second store before its files are removed, also if it fails") func failed() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.run()
    let upkeep = stand.rooms.upkeep
    weak var target: Keychain?
    var isClosed: Bool?
    try upkeep.salvage(Self.reader(stand) { _ in isClosed = target == nil }, for: stand.administrator)
    target = upkeep.salvage?.target
    #expect(target != nil && Self.isThere(stand))
    // Without its keys the store cannot be read.
    try stand.vault.keychain().lock(hidingNames: false)
    stand.run()
    #expect(isClosed == true && upkeep.salvage == nil && !Self.isThere(stand))
  }

  @Test("has closed the second store before a lock removes its files") func locked() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.run()
    let upkeep = stand.rooms.upkeep
    weak var target: Keychain?
    var isClosed: Bool?
    try upkeep.salvage(Self.reader(stand) { _ in isClosed = target == nil }, for: stand.administrator)
    target = upkeep.salvage?.target
    stand.vault.lock(because: .asked)
    #expect(isClosed == true && !Self.isThere(stand))
  }
}
