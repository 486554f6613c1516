import VaultCore
import VaultModel

// The vault's box: what is sealed to its public key, in whatever state, opens with its secret key, which is in memory while the
// vault is unlocked. Both follow from the key of the strongest class.
extension Keychain {
  /// The public key as it lies in the store. Nothing but ``publicKey`` vouches for it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is none.
  func storedPublicKey() throws(VaultError) -> [UInt8] {
    guard let key = try database.key(KeyName.box), key.count == SealedBox.keyCount else {
      throw .corrupt("the public key is missing")
    }
    return key
  }

  /// The public key, as far as the keys in memory can tell that it is this vault's: for certain once the vault was unlocked;
  /// with the keys of `always` items the one that was stored last; without any key whatever the store says.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when it is another one, or none.
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

  /// Takes note of the public key that belongs to the keys in memory.
  func learnPublicKey() {
    switch keys.whenUnlocked.box {
    case .some(let secret): bound.publicKey = SealedBox.publicKey(of: secret)
    case .none: break
    }
  }

  /// Lends the secret key of the box.
  ///
  /// - Throws: ``VaultError/locked``.
  func withBoxKey<R: ~Copyable>(
    _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    switch keys.whenUnlocked.box {
    case .some(let key): try body(key)
    case .none: throw .locked
    }
  }
}
