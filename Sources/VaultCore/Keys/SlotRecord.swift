public import VaultModel

/// One way into the vault: the vault key, wrapped under a key from a password, a recovery code or a keystore.
///
/// All fields but ``wrapped`` lie in the clear in the store, because the list of slots must be readable while the vault
/// is locked. The fields and the vault id are the associated data of ``wrapped``, which authenticates them.
public struct SlotRecord: Hashable, Sendable {
  /// The longest label in bytes of UTF-8.
  public static let maximumLabel = 256
  /// The size of ``wrapped`` in bytes.
  static let wrappedCount = checkCount + 32 + AEAD.overhead
  static let checkCount = 32
  /// The size of a presence key in bytes.
  public static let presenceKeyCount = 32

  /// The number of the slot within its vault; never used again for another slot.
  public let id: UInt32
  public let kind: SlotKind
  /// The name that a person gave the slot. Not secret.
  public let label: String
  /// The time at which the slot was made, Unix seconds.
  public let created: Int64
  /// The cost of the derivation; nil for a recovery code or a random key, which need none.
  public let kdf: Argon2id.Parameters?
  /// The salt of the derivation: 16 random bytes.
  public let salt: [UInt8]
  /// A check value of the slot's key (32 bytes), then the vault key sealed under the slot's key.
  public internal(set) var wrapped: [UInt8]
  /// The users whose presence opens the slot; nil unless the kind is ``SlotKind/pam``.
  public let terms: PresenceTerms?
  let extensions: Extensions

  init(
    id: UInt32, kind: SlotKind, label: String, created: Int64, kdf: Argon2id.Parameters?, salt: [UInt8],
    wrapped: [UInt8], extensions: Extensions
  ) throws(CryptoError) {
    guard label.utf8.count <= Self.maximumLabel else { throw .limits("slot label is longer than 256 bytes") }
    guard salt.count == Argon2id.saltCount else { throw .malformed("slot salt size") }
    guard wrapped.count == Self.wrappedCount else { throw .malformed("slot key size") }
    guard (kind.facts.secret == .password) == (kdf != nil) else {
      throw .malformed("slot derivation does not fit its kind")
    }
    if let kdf { try kdf.validate() }
    terms = kind.facts.secret == .presenceKey ? try PresenceTerms(extensions) : nil
    self.id = id
    self.kind = kind
    self.label = label
    self.created = created
    self.kdf = kdf
    self.salt = salt
    self.wrapped = wrapped
    self.extensions = extensions
  }

  /// Makes a slot with a fresh salt. Blocks for as long as Argon2id takes; safe from any thread.
  ///
  /// - Parameters:
  ///   - secret: The bytes of the password, the recovery code as text, or the 32 random bytes of a presence key.
  ///   - kdf: The cost of Argon2id; required for a password, nil otherwise.
  ///   - terms: Required for a presence key.
  /// - Throws: ``CryptoError/limits(_:)``, ``CryptoError/malformed(_:)`` (a mistyped recovery code, parameters that do
  ///   not fit the kind, a vault id that does not have 16 bytes), ``CryptoError/outOfMemory``.
  public static func make(
    id: UInt32, kind: SlotKind, label: String, created: Int64, secret: borrowing SecureBytes,
    kdf: Argon2id.Parameters?, terms: PresenceTerms? = nil, vaultKey: borrowing SecureBytes, vaultID: [UInt8]
  ) throws(CryptoError) -> SlotRecord {
    precondition(vaultKey.count == 32, "a vault key has 32 bytes")
    var slot = try SlotRecord(
      id: id, kind: kind, label: label, created: created, kdf: kdf,
      salt: RandomBytes.array(count: Argon2id.saltCount), wrapped: [UInt8](repeating: 0, count: wrappedCount),
      extensions: terms?.extensions ?? Extensions())
    let context = slot.associatedData(try VaultID(vaultID))
    let root = try slot.deriveRoot(secret)
    slot.wrapped =
      check(of: root).withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }  // Not secret: it is stored.
      + vaultKey.withBytes { AEAD.seal($0, key: wrappingKey(of: root), associatedData: context) }
    return slot
  }

  /// Unwraps the vault key. Blocks for as long as Argon2id takes; safe from any thread.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` for a wrong secret, and also for a slot that was changed or belongs
  ///   to another vault, which looks the same; ``CryptoError/malformed(_:)`` for a mistyped recovery code;
  ///   ``CryptoError/limits(_:)``; ``CryptoError/outOfMemory``.
  public func openVaultKey(
    secret: borrowing SecureBytes, vaultID: [UInt8]
  ) throws(CryptoError) -> SecureBytes {
    let vault = try VaultID(vaultID)
    return try openVaultKey(root: try deriveRoot(secret), vault: vault)
  }

  /// Unwraps the vault key with the root key that was derived from the secret.
  func openVaultKey(root: borrowing SecureBytes, vault: VaultID) throws(CryptoError) -> SecureBytes {
    // XChaCha20-Poly1305 does not commit to its key: an attacker can make a message that opens under thousands of
    // chosen passwords. An attacker who can write the store would learn from each unlock whether the password is among
    // these (Len, Grubbs, Ristenpart: Partitioning Oracle Attacks, 2021). The check value fits only one key.
    let bytes = unsafe wrapped.span.bytes  // Bytes have no padding: all are initialized.
    let stored = SecureBytes(copying: bytes.extracting(first: Self.checkCount))
    guard stored.isEqual(to: Self.check(of: root)) else { throw .authenticationFailed }
    return try AEAD.open(
      bytes.extracting(droppingFirst: Self.checkCount), key: Self.wrappingKey(of: root),
      associatedData: associatedData(vault))
  }

  /// The presence key of slot `id` if only the memory of this process is to hold the key.
  ///
  /// The key is derived from the vault key (`crypto_kdf`, context `presence`), so the daemon can restore it at every
  /// unlock with a secret, and nothing on the disk yields it.
  public static func memoryKey(id: UInt32, vaultKey: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(UInt64(id), context: "presence", of: vaultKey)
  }

  func deriveRoot(_ secret: borrowing SecureBytes) throws(CryptoError) -> SecureBytes {
    switch kind.facts.secret {
    case .password:
      guard let kdf else { throw .malformed("slot derivation does not fit its kind") }
      return try Argon2id.derive(secret, salt: salt, parameters: kdf)
    case .code: return try RecoveryCode(typed: secret).key(salt: salt)
    case .presenceKey:
      guard secret.count == Self.presenceKeyCount else { throw .malformed("a presence key has 32 bytes") }
      return SecureBytes(count: 32) { root in
        unsafe KeyedHash.hash(
          AssociatedData.encode([AssociatedData.formatField, Array("presence".utf8), salt]).span.bytes, key: secret,
          into: &root)
      }
    }
  }

  private static func wrappingKey(of root: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(1, context: "slot-key", of: root)
  }

  private static func check(of root: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(2, context: "slot-key", of: root)
  }

  private func associatedData(_ vault: VaultID) -> [UInt8] {
    AssociatedData.encode(purpose: "slot", vault, [encodedFields()])
  }
}
