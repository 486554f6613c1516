internal import VaultBytes
public import VaultCore
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

  /// Seals bytes that only this vault, while it is unlocked, can open.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the store's public key is not the vault's, as far as that can be told.
  public func seal(_ bytes: RawSpan) throws(VaultError) -> [UInt8] {
    let key = try checkedPublicKey()
    do throws(CryptoError) { return try SealedBox.seal(bytes, to: key) } catch {
      throw .corrupt("the public key cannot be used")
    }
  }

  /// Opens what ``seal(_:)`` has sealed; nil if it was sealed to another key.
  ///
  /// - Throws: ``VaultError/locked`` while the vault is locked.
  public func open(sealed: [UInt8]) throws(VaultError) -> SecureBytes? {
    try withBoxKey { key in
      sealed.withSpan { bytes in try? SealedBox.open(bytes, secretKey: key) }
    }
  }

  /// Wraps a key that only the daemon's memory has, under the key of `after-first-unlock` items.
  ///
  /// - Throws: ``VaultError/locked`` while that key is not in memory.
  public func wrap(session key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
    try withSessionKey { (wrapping: borrowing SecureBytes) throws(VaultError) in
      key.withBytes { key in vaultID.withSpan { AEAD.seal(key, key: wrapping, associatedData: $0) } }
    }
  }

  /// Opens what ``wrap(session:)`` has wrapped; nil if that was done under another key.
  ///
  /// - Throws: ``VaultError/locked`` while the key of `after-first-unlock` items is not in memory.
  public func unwrap(session wrapped: [UInt8]) throws(VaultError) -> SecureBytes? {
    try withSessionKey { (wrapping: borrowing SecureBytes) throws(VaultError) in
      wrapped.withSpan { wrapped in
        vaultID.withSpan { try? AEAD.open(wrapped, key: wrapping, associatedData: $0) }
      }
    }
  }

  private func withSessionKey<R: ~Copyable>(
    _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try withKeys(.afterFirstUnlock) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.session {
      case .some(let key): return try body(key)
      case .none: throw .locked
      }
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
