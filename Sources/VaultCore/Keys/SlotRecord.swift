public import VaultModel

/// The kind of secret that opens a slot. The numbers are part of the format.
public enum SlotKind: UInt8, Named, Sendable {
  /// An app password, through Argon2id.
  case password = 1
  /// A ``RecoveryCode``.
  case recovery = 2
  /// A random key, which a keystore gives out once PAM has seen one of the users in the slot's ``PresenceTerms``.
  case pam = 3
  /// The login password, through Argon2id; `pam_vault.so` passes it on at login.
  case login = 4

  /// The name people and programs write.
  public var name: String {
    switch self {
    case .password: "password"
    case .recovery: "recovery"
    case .pam: "pam"
    case .login: "login"
    }
  }

  /// True when a slot of this kind opens the vault for as long as somebody has its secret. The others may end by themselves:
  /// a login password is changed without the vault, and a keystore loses what it holds.
  public var isLasting: Bool { self == .password || self == .recovery }

  /// True when a person types the secret, which Argon2id then has to make slow to guess.
  public var usesArgon2id: Bool { self == .password || self == .login }
}

/// One way into the vault: the vault key, wrapped under a key that comes from a password, a recovery code or a keystore.
///
/// All fields but ``wrapped`` lie in the clear in the store, where the list of slots must be readable while locked, and
/// are authenticated together with the vault id as the associated data of ``wrapped``.
public struct SlotRecord: Hashable, Sendable {
  /// The longest label in bytes of UTF-8.
  public static let maximumLabel = 256
  /// The size of ``wrapped`` in bytes.
  static let wrappedCount = checkCount + 32 + AEAD.overhead
  static let checkCount = 32
  /// The size of a presence key in bytes.
  public static let presenceKeyCount = 32

  /// Names the slot within its vault; never used again for another one.
  public let id: UInt32
  public let kind: SlotKind
  /// The name that a person gave it. Not secret.
  public let label: String
  /// Unix seconds.
  public let created: Int64
  /// The cost of the derivation; nil for a recovery code or a random key, which need none.
  public let kdf: Argon2id.Parameters?
  /// 16 random bytes.
  public let salt: [UInt8]
  /// A check value of the slot's key (32 bytes), and the vault key sealed under it.
  public internal(set) var wrapped: [UInt8]
  /// The users whose presence opens the slot; nil unless it is one of kind ``SlotKind/pam``.
  public let terms: PresenceTerms?
  let extensions: Extensions

  init(
    id: UInt32, kind: SlotKind, label: String, created: Int64, kdf: Argon2id.Parameters?, salt: [UInt8],
    wrapped: [UInt8], extensions: Extensions
  ) throws(CryptoError) {
    guard label.utf8.count <= Self.maximumLabel else { throw .limits("slot label is longer than 256 bytes") }
    guard salt.count == Argon2id.saltCount else { throw .malformed("slot salt size") }
    guard wrapped.count == Self.wrappedCount else { throw .malformed("slot key size") }
    guard kind.usesArgon2id == (kdf != nil) else { throw .malformed("slot derivation does not fit its kind") }
    if let kdf { try kdf.validate() }
    terms = kind == .pam ? try PresenceTerms(extensions) : nil
    self.id = id
    self.kind = kind
    self.label = label
    self.created = created
    self.kdf = kdf
    self.salt = salt
    self.wrapped = wrapped
    self.extensions = extensions
  }

  /// Makes a slot with a fresh salt.
  ///
  /// `secret` is the password's bytes, the recovery code as text, or the 32 random bytes of a presence key; `kdf` is
  /// needed for a password and nil otherwise; `terms` are needed for a presence key. Blocks for as long as Argon2id
  /// takes; safe from any thread.
  /// - Throws: ``CryptoError/limits(_:)``, ``CryptoError/malformed(_:)`` (a mistyped recovery code, parameters that do
  ///   not fit the kind, a vault id of another size than 16 bytes), ``CryptoError/outOfMemory``.
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
  /// - Throws: ``CryptoError/authenticationFailed`` for a wrong secret, and for a slot that was changed or belongs to
  ///   another vault, which looks the same; ``CryptoError/malformed(_:)`` for a mistyped recovery code;
  ///   ``CryptoError/limits(_:)``; ``CryptoError/outOfMemory``.
  public func openVaultKey(
    secret: borrowing SecureBytes, vaultID: [UInt8]
  ) throws(CryptoError) -> SecureBytes {
    let vault = try VaultID(vaultID)
    return try openVaultKey(root: try deriveRoot(secret), vault: vault)
  }

  /// Unwraps the vault key with what the secret was derived to.
  func openVaultKey(root: borrowing SecureBytes, vault: VaultID) throws(CryptoError) -> SecureBytes {
    // XChaCha20-Poly1305 does not commit to its key: a message can be made that opens under thousands of chosen
    // passwords, and whoever can write the store would learn from each unlock whether the password is among them
    // (Len, Grubbs, Ristenpart: Partitioning Oracle Attacks, 2021). The check value fits one key alone.
    let bytes = unsafe wrapped.span.bytes  // Bytes have no padding: all are initialized.
    let stored = SecureBytes(copying: bytes.extracting(first: Self.checkCount))
    guard stored.isEqual(to: Self.check(of: root)) else { throw .authenticationFailed }
    return try AEAD.open(
      bytes.extracting(droppingFirst: Self.checkCount), key: Self.wrappingKey(of: root),
      associatedData: associatedData(vault))
  }

  /// The presence key of slot `id` when no keystore but this process's memory is to hold it.
  ///
  /// It comes from the vault key (`crypto_kdf`, context `presence`), so it can be taken up at every unlock with a
  /// secret, and nothing on the disk gives it.
  public static func memoryKey(id: UInt32, vaultKey: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(UInt64(id), context: "presence", of: vaultKey)
  }

  func deriveRoot(_ secret: borrowing SecureBytes) throws(CryptoError) -> SecureBytes {
    switch kind {
    case .password, .login:
      guard let kdf else { throw .malformed("slot derivation does not fit its kind") }
      return try Argon2id.derive(secret, salt: salt, parameters: kdf)
    case .recovery: return try RecoveryCode(typed: secret).key(salt: salt)
    case .pam:
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
