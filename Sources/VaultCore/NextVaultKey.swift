/// Keeping the vault key that is to come, while everything is sealed anew under it: sealed under the present one.
///
/// The wrapping key is derived from the present vault key (`crypto_kdf`, id 1, context `rekeying`), so that every way into
/// the vault also gives the next key and nothing else does. The associated data is format, `next vault key`, vault id.
public enum NextVaultKey {
  /// Seals the 32-byte key `next`.
  public static func seal(
    _ next: borrowing SecureBytes, under present: borrowing SecureBytes, vaultID: VaultID
  ) -> [UInt8] {
    precondition(next.count == 32, "a vault key has 32 bytes")
    let key = wrappingKey(present)
    return next.withBytes { AEAD.seal($0, key: key, associatedData: associatedData(vaultID)) }
  }

  /// Opens what ``seal(_:under:vaultID:)`` made.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for another size, ``CryptoError/authenticationFailed`` for another key or
  ///   vault, or changed bytes.
  public static func open(
    _ sealed: RawSpan, under present: borrowing SecureBytes, vaultID: VaultID
  ) throws(CryptoError) -> SecureBytes {
    guard sealed.byteCount == 32 + AEAD.overhead else { throw .malformed("size of the next vault key") }
    return try AEAD.open(sealed, key: wrappingKey(present), associatedData: associatedData(vaultID))
  }

  private static func wrappingKey(_ present: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(1, context: "rekeying", of: present)
  }

  private static func associatedData(_ vaultID: VaultID) -> [UInt8] {
    AssociatedData.encode(purpose: "next vault key", vaultID, [])
  }
}
