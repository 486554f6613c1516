internal import VaultCore
internal import VaultModel

/// A private key, ready to sign.
///
/// Its numbers lie in memory that is locked where there is room for it and wiped when this value ends: an Ed25519 key in
/// ``SecureBytes``, others in libgcrypt's secure memory, which is one small pool for the process. So it is made of an
/// item's value for a signature, or a few, and not kept.
public struct PrivateKey: ~Copyable, Sendable {
  /// The private numbers.
  enum Secret: ~Copyable, Sendable {
    /// Seed and public key.
    case ed25519(SecureBytes)
    case curve(CurveSecret)
    case rsa(RSASecret)
  }

  let secret: Secret
  /// The public half.
  public let publicKey: PublicKey
  /// The comment beside the key, which only OpenSSH's form has; empty otherwise. It is anybody's text.
  public let comment: String

  init(_ secret: consuming Secret, _ publicKey: PublicKey, comment: String = "") {
    self.secret = secret
    self.publicKey = publicKey
    self.comment = comment
  }

  /// The key's type.
  public var type: KeyType { publicKey.type }

  /// Reads the one private key of a PEM text (RFC 7468): PKCS #8 (RFC 5958), OpenSSL's `EC PRIVATE KEY` (RFC 5915) and
  /// `RSA PRIVATE KEY` (RFC 8017), or OpenSSH's form.
  ///
  /// Everything that the text says twice has to agree, above all the public half with the private one, and so does what
  /// stands beside it: a certificate, a public key, the parameters of a curve.
  /// - Throws: ``KeyError``, whose cases say what a person can do.
  public init(_ text: RawSpan) throws(KeyError) {
    defer { Stack.wipe() }
    let key = try Self.read(text, trusting: nil)
    try key.publicKey.agrees(withBlocksOf: text)
    self = key
  }

  /// Reads a private key whose public half is known, from an earlier ``init(_:)`` of the same text: without the checks that
  /// take as long as a signature.
  ///
  /// A public key of another private key is noticed where the text states one, and else not; an Ed25519 signature made
  /// with it tells the private key. So it has to come from where only this program writes.
  public init(_ text: RawSpan, trusting publicKey: PublicKey) throws(KeyError) {
    // Without checks, an Ed25519 key is read and no more.
    defer { Stack.wipe(publicKey.type == .ed25519 ? Stack.call : Stack.job) }
    self = try Self.read(text, trusting: publicKey)
  }

  /// Reads a key as a client hands it to an agent: see ``AddedKey/privateKey``. What it says twice has to agree.
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

  /// In a frame of its own, so that all of it lies below the one that wipes.
  @inline(never)
  private static func read(_ text: RawSpan, trusting publicKey: PublicKey?) throws(KeyError) -> PrivateKey {
    let (form, block) = try PrivateKeyForm.find(in: text)
    var count = 0
    let body: SecureBytes
    do throws(ValueError) {
      body = try SecureBytes(count: PEM.capacity(of: block)) { (room: inout MutableRawSpan) throws(ValueError) in
        count = try PEM.decode(block, in: text, into: &room)
      }
    } catch { throw .damaged(error.reason) }
    return try body.withBytes { (bytes: RawSpan) throws(KeyError) in
      try read(form, bytes.extracting(first: count), trusting: publicKey)
    }
  }

  /// Reads the bytes of a PEM block.
  static func read(
    _ form: PrivateKeyForm, _ bytes: RawSpan, trusting publicKey: PublicKey? = nil
  ) throws(KeyError) -> PrivateKey {
    let parts = try form.parts(bytes)
    let key = try PrivateKey(parts, in: bytes, trusting: publicKey)
    try key.agrees(with: parts, in: bytes)
    return key
  }

  /// Throws unless the public keys that stand beside the private one are this key's.
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
