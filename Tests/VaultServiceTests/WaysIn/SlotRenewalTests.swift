import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("The renewal of slots for the fingers that are enrolled now") struct SlotRenewalTests {
  /// Keystores whose answers come when the test says so, and cannot be cancelled.
  private final class LateKeystores: Keystores {
    private(set) var stored = 0
    private(set) var fetched: [(consuming Result<SecureBytes, KeystoreError>) -> Void] = []

    func store(
      _ key: borrowing SecureBytes, in kind: KeystoreKind, vault: [UInt8],
      then: @escaping (Result<[UInt8], KeystoreError>) -> Void
    ) -> () -> Void {
      stored += 1
      then(.success([UInt8](repeating: 2, count: 8)))
      return {}
    }

    func fetch(
      _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8],
      then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
    ) -> () -> Void {
      fetched.append(then)
      return {}
    }

    func remove(
      _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8], then: @escaping (KeystoreError?) -> Void
    ) { then(nil) }
  }

  @Test("uses no key that is fetched before a lock and comes after it", arguments: [false, true])
  func late(isLocked: Bool) throws {
    let keystores = LateKeystores()
    let presenceKey = [UInt8](repeating: 5, count: SlotRecord.presenceKeyCount)
    let stand = try RoomStand(keystores: keystores, fingers: ["left-thumb"]) { store in
      let id = VaultID.random().bytes
      let key = RoomStand.vaultKey()
      let terms = try PresenceTerms(
        keystore: "file", locator: [UInt8](repeating: 1, count: 8), users: [RoomStand.owner],
        fingers: ["\(RoomStand.owner)/right-thumb"])
      let slots = [
        try SlotRecord.make(
          id: 1, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil, vaultKey: key,
          vaultID: id),
        try SlotRecord.make(
          id: 2, kind: .pam, label: "", created: 1, secret: RoomStand.secret(presenceKey), kdf: nil, terms: terms,
          vaultKey: key, vaultID: id),
      ]
      try Keychain.create(
        in: store, slots: slots, vaultID: id, vaultKey: key,
        bootKey: RoomStand.secret([UInt8](repeating: 8, count: 32)), now: 1)
    }
    try stand.unlock()
    let (ways, keychain) = (stand.rooms.waysIn, try stand.vault.keychain())
    ways.takeUpPresenceKeys(RoomStand.vaultKey(), keychain, uid: RoomStand.owner, provenBy: keychain.slots[0])
    let answer = try #require(keystores.fetched.first)
    if isLocked { stand.vault.lock(because: .asked) }
    answer(.success(RoomStand.secret(presenceKey)))
    #expect(keystores.stored == (isLocked ? 0 : 1))
    #expect(stand.journal.value.contains { $0.contains("slot 2") } == !isLocked)
    #expect(keychain.slots[1].terms?.fingers(of: RoomStand.owner) == [isLocked ? "right-thumb" : "left-thumb"])
    #expect(ways.renewal == nil)
  }
}
