import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

extension RoomStand {
  /// Adds a slot that a password opens.
  func addPasswordSlot() throws {
    let keychain = try vault.keychain()
    let key = Self.vaultKey()
    let slot = try SlotRecord.make(
      id: 2, kind: .password, label: "", created: 1, secret: Self.secret(Array("password".utf8)), kdf: .floor,
      vaultKey: key, vaultID: keychain.vaultID)
    try keychain.addSlot(slot, given: [], vaultKey: key)
  }

  /// Adds a slot that PAM opens for these users.
  func addSlot(for users: [UInt32]) throws {
    let keychain = try vault.keychain()
    let key = Self.vaultKey()
    let terms = try PresenceTerms(keystore: "memory", locator: [], users: users, fingers: [])
    let presenceKey = Self.secret([UInt8](repeating: 5, count: SlotRecord.presenceKeyCount))
    let slot = try SlotRecord.make(
      id: 2, kind: .pam, label: "", created: 1, secret: presenceKey, kdf: nil, terms: terms, vaultKey: key,
      vaultID: keychain.vaultID)
    try keychain.addSlot(slot, given: [], vaultKey: key)
  }
}
