import VaultCore
import VaultModel

// The vault's box. In any state, anything can be sealed to its public key; its secret key, which is in memory while the
// vault is unlocked, opens what was sealed. Both keys are derived from the key of the strongest class.
extension Keychain {
  /// The public key as the store has it. Only ``publicKey`` is known to be the vault's.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is none.
  func storedPublicKey() throws(VaultError) -> [UInt8] {
    guard let key = try database.key(KeyName.box), key.count == SealedBox.keyCount else {
      throw .corrupt("the public key is missing")
    }
    return key
  }

  /// The public key, checked as far as the keys in memory allow. Once the vault was unlocked, the key is certainly this
  /// vault's. With the keys of `always` items, it is the key that was stored last. Without any key, it is whatever the
  /// store says.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the store has another key or none.
  func checkedPublicKey() throws(VaultError) -> [UInt8] {
    if let publicKey { return publicKey }
    let stored = try storedPublicKey()
    guard holdsIntegrityKey(.always) else { return stored }
    let mark = try mark(key: KeyName.box, stored, .always)
    guard try classRecord(.always).sets[Self.place(key: KeyName.box)].isSet(RecordSet(), with: mark) else {
      throw .corrupt("the public key is not the one that was stored last")
    }
    return stored
  }

  /// Derives the public key from the keys in memory, if they include the box's secret key.
  func learnPublicKey() {
    switch keys.whenUnlocked.box {
    case .some(let secret): bound.publicKey = SealedBox.publicKey(of: secret)
    case .none: break
    }
  }

  /// Lends the secret key of the box.
  ///
  /// - Throws: ``VaultError/locked`` when it is not in memory.
  func withBoxKey<R: ~Copyable>(
    _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    switch keys.whenUnlocked.box {
    case .some(let key): try body(key)
    case .none: throw .locked
    }
  }
}
