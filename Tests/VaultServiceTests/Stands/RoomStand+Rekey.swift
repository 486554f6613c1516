import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

extension RoomStand {
  /// Begins to give the vault new keys, and runs the work until it ends or pauses.
  ///
  /// - Parameter atStep: called at each step of the end; its error stops the rekey there.
  func rekey(_ atStep: @escaping (ReplacementStep) throws(VaultError) -> Void = { _ in }) throws {
    let keychain = try vault.keychain()
    let nextKey = RandomBytes.secret(count: 32)
    let slot = try SlotRecord.make(
      id: 1, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil,
      vaultKey: nextKey, vaultID: keychain.vaultID)
    let rekey = try Rekey(
      keychain, carrying: keychain.slots, slots: [slot], nextKey: nextKey, vaultKey: Self.vaultKey(),
      bootKey: Self.secret([UInt8](repeating: 8, count: 32)), now: 2000)
    rekey.atStep = atStep
    let work = RekeyWork(rooms.upkeep, keychain, rekey, nextKey: nextKey)
    rooms.upkeep.rekey = work
    work.goOn()
    run()
  }
}
