import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

extension RoomStand {
  /// The vault key after a rekey.
  static let nextKey = [UInt8](repeating: 9, count: 32)

  /// Begins to give the vault new keys, and runs the work until it ends or pauses.
  ///
  /// - Parameter atStep: called at each step of the end; its error stops the rekey there.
  func rekey(_ atStep: @escaping (ReplacementStep) throws(VaultError) -> Void = { _ in }) throws {
    try beginRekey(atStep)
    run()
  }

  /// Begins to give the vault new keys; ``stepRekey()`` does the work.
  func beginRekey(_ atStep: @escaping (ReplacementStep) throws(VaultError) -> Void = { _ in }) throws {
    let keychain = try vault.keychain()
    let nextKey = Self.secret(Self.nextKey)
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
  }

  /// Runs one slice of work, whose time is up after the first step; or, if all work waits, lets the time pass until it
  /// continues.
  func stepRekey() {
    hands.stride.value = 10_000_000
    defer { hands.stride.value = 0 }
    turns.turn()
    if runner.isBusy { runner.turn() } else { hands.pass(20_000_000) }
  }
}
