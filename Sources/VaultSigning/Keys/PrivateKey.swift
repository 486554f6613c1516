internal import VaultBytes
internal import VaultCore
public import VaultModel

/// A private key, ready to sign.
///
/// The numbers lie in memory that is locked if there is room for that, and wiped when this value ends: an Ed25519 key
/// in ``SecureBytes``, other keys in libgcrypt's secure memory, which is one small pool for the whole process. So make
/// the key from an item's value for a few signatures at most, and do not keep it.
public struct PrivateKey: ~Copyable, Sendable {
  /// The private numbers.
  enum Secret: ~Copyable, Sendable {
    /// The seed and the public key.
    case ed25519(SecureBytes)
    case curve(CurveSecret)
    case rsa(RSASecret)
  }

  let secret: Secret
  /// The public half.
  public let publicKey: PublicKey
  /// The comment beside the key, which only OpenSSH's form has; otherwise empty. Anybody may have written this text.
  public let comment: String

  init(_ secret: consuming Secret, _ publicKey: PublicKey, comment: String = "") {
    self.secret = secret
    self.publicKey = publicKey
    self.comment = comment
  }

  /// The key's type.
  public var type: KeyType { publicKey.type }

  /// Reads the only private key of a PEM text (RFC 7468): PKCS #8 (RFC 5958), OpenSSL's `EC PRIVATE KEY` (RFC 5915) and
  /// `RSA PRIVATE KEY` (RFC 8017), or OpenSSH's form.
  ///
  /// All data that the text contains twice must agree, above all the public half with the private half, and so must the
  /// parts beside the key: a certificate, a public key, the parameters of a curve.
  /// - Throws: ``KeyError``, whose cases tell a person what to do.
  public init(_ text: RawSpan) throws(KeyError) {
    defer { Stack.wipe() }
    let key = try Self.read(text, trusting: nil)
    try key.publicKey.agrees(withBlocksOf: text)
    self = key
  }

  /// Reads a private key whose public half is known from an earlier ``init(_:)`` of the same text, without the checks
  /// that take as long as a signature.
  ///
  /// If the public key belongs to another private key, this is detected only if the text states the public half. An
  /// Ed25519 signature made with a wrong public key reveals the private key. So `publicKey` must come from a place that
  /// only this program can write.
  public init(_ text: RawSpan, trusting publicKey: PublicKey) throws(KeyError) {
    // Without checks, reading an Ed25519 key takes no more stack than `Stack.call`.
    defer { Stack.wipe(publicKey.type.facts.library == .sodium ? Stack.call : Stack.job) }
    self = try Self.read(text, trusting: publicKey)
  }

  /// Reads a key as a client passes it to an agent: see ``AddedKey/privateKey``. Data that the key contains twice must
  /// agree.
  public init(agentForm bytes: RawSpan) throws(KeyError) {
    defer { Stack.wipe() }
    self = try Self.read(agentForm: bytes)
  }

  @inline(never)
  private static func read(agentForm bytes: RawSpan) throws(KeyError) -> PrivateKey {
    let parts = try OpenSSHPrivate.agentParts(bytes)
    let key = try PrivateKey(parts, in: bytes, trusting: nil)
    try key.agrees(with: parts, in: bytes)
    return key
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private static func read(_ text: RawSpan, trusting publicKey: PublicKey?) throws(KeyError) -> PrivateKey {
    let (form, block) = try PrivateKeyForm.find(in: text)
    return try block.withKey(in: text) { (bytes: RawSpan) throws(KeyError) in
      try read(form, bytes, trusting: publicKey)
    }
  }

  /// Reads the decoded bytes of a PEM block.
  static func read(
    _ form: PrivateKeyForm, _ bytes: RawSpan, trusting publicKey: PublicKey? = nil
  ) throws(KeyError) -> PrivateKey {
    let parts = try form.parts(bytes)
    let key = try PrivateKey(parts, in: bytes, trusting: publicKey)
    try key.agrees(with: parts, in: bytes)
    return key
  }

  /// Throws unless the public keys stated beside the private key are those of this key.
  private borrowing func agrees(with parts: KeyParts, in bytes: RawSpan) throws(KeyError) {
    if let blob = parts.blob {
      guard bytes.isEqual(blob, publicKey.sshBlob) else { throw .mismatched }
    }
    for range in parts.stated {
      switch publicKey.form {
      case .ed25519(let key): guard bytes.isEqual(range, key) else { throw .mismatched }
      case .curve(_, let point):
        if let first = range.first, (2...3).contains(bytes.byte(first)) { throw .compressedPoint }
        guard bytes.isEqual(range, point) else { throw .mismatched }
      case .rsa: break
      }
    }
  }
}
