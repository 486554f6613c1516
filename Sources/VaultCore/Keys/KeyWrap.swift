public import VaultModel

/// The wrapping of class keys for the store. Each class key is sealed under the vault key; that of `always` also under
/// the boot key.
///
/// The wrapping key is derived from the vault key or the boot key (`crypto_kdf`, id 1, contexts `vaultkey` and
/// `boot-key`), so that both may serve other purposes too. The associated data is format, `class key`, vault id, class,
/// and which key wraps: a wrapped key that was moved to another class, another vault or the other wrapping does not
/// open.
public enum KeyWrap {
  /// The key under which class keys are wrapped.
  public enum WrappingKey: UInt8, CaseIterable, Sendable {
    case vault = 1
    case boot = 2
  }

  /// The size of a wrapped key in bytes.
  public static let wrappedCount = 32 + AEAD.overhead

  /// Wraps the 32-byte key of `accessible` under `key`.
  public static func wrap(
    classKey: borrowing SecureBytes, of accessible: AccessClass, under wrapping: WrappingKey,
    key: borrowing SecureBytes, vaultID: VaultID
  ) -> [UInt8] {
    precondition(classKey.count == 32, "a class key has 32 bytes")
    let context = associatedData(accessible, wrapping, vaultID)
    let wrappingKey = derive(wrapping, key)
    return classKey.withBytes { AEAD.seal($0, key: wrappingKey, associatedData: context) }
  }

  /// Unwraps a key that ``wrap(classKey:of:under:key:vaultID:)`` wrapped.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for another size; ``CryptoError/authenticationFailed`` for another key,
  ///   class or vault, or for changed bytes.
  public static func unwrap(
    _ wrapped: RawSpan, of accessible: AccessClass, under wrapping: WrappingKey, key: borrowing SecureBytes,
    vaultID: VaultID
  ) throws(CryptoError) -> SecureBytes {
    guard wrapped.byteCount == wrappedCount else { throw .malformed("wrapped key size") }
    return try AEAD.open(
      wrapped, key: derive(wrapping, key), associatedData: associatedData(accessible, wrapping, vaultID))
  }

  private static func derive(_ wrapping: WrappingKey, _ key: borrowing SecureBytes) -> SecureBytes {
    switch wrapping {
    case .vault: KDF.subkey(1, context: "vaultkey", of: key)
    case .boot: KDF.subkey(1, context: "boot-key", of: key)
    }
  }

  private static func associatedData(
    _ accessible: AccessClass, _ wrapping: WrappingKey, _ vaultID: VaultID
  ) -> [UInt8] {
    AssociatedData.encode(purpose: "class key", vaultID, [[accessible.rawValue], [wrapping.rawValue]])
  }
}
