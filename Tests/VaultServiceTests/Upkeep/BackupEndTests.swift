import Testing
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The check of a backup that does not come to its end") struct BackupEndTests {
  /// A backup that is under way.
  private final class Scene {
    let stand: RoomStand
    private(set) var transfer: Transfer?
    private var then: ((Bool) -> Void)?

    init(_ stand: RoomStand) throws {
      self.stand = stand
      try stand.rooms.upkeep.backUp(isOfSalvage: false, for: stand.administrator) { _ in
        TransferWork(stop: {}) { [unowned self] in (transfer, then) = ($0, $1) }
      }
    }

    func end(isWhole: Bool) { then?(isWhole) }
    func forget() { (transfer, then) = (nil, nil) }
  }

  /// Makes a vault whose store was not checked since it was opened.
  private static func unchecked() throws -> RoomStand {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    try stand.restart()
    // No unlock that begins a check.
    try stand.vault.keychain().unlock(vaultKey: RoomStand.vaultKey())
    return stand
  }

  @Test("no longer waits for a check of the records") func records() throws {
    let scene = try Scene(Self.unchecked())
    let check = scene.stand.rooms.upkeep.check
    #expect(check.isAwaited)
    scene.end(isWhole: false)
    #expect(!check.isAwaited && !scene.stand.rooms.upkeep.isTransferring)
  }

  @Test("does not read the audit log any further") func log() throws {
    let stand = try RoomStand.unlocked()
    for number in 0..<10 { try stand.set("item/\(number)") }
    stand.run()
    let scene = try Scene(stand)
    weak let check = scene.transfer?.check
    scene.end(isWhole: false)
    scene.forget()
    #expect(check == nil)
  }

  @Test("ends when the receiver of the whole copy has gone", arguments: [true, false])
  func unwanted(isChecked: Bool) throws {
    let scene = try Scene(isChecked ? RoomStand.unlocked() : Self.unchecked())
    scene.end(isWhole: true)
    var isWanted = true
    var end: Result<[String], Refusal>?
    scene.transfer?.whenChecked(isWanted: { isWanted }, { end = $0 })
    isWanted = false
    scene.stand.run()
    #expect(throws: Refusal.cancelled) { try end?.get() }
    #expect(!scene.stand.rooms.upkeep.check.isAwaited)
    #expect(scene.stand.rooms.upkeep.status().lastBackup == nil)
  }
}
