internal import CGcrypt
public import VaultCore
internal import VaultModel

/// New keys, made in secure memory.
public enum NewKey {
  /// The kinds of new keys.
  public enum Kind: Hashable, Sendable {
    case ed25519, p256, p384, p521
    /// RSA with a modulus of `bits` bits.
    case rsa(bits: Int)
  }

  /// The sizes of new RSA keys in bits: from the size that NIST (SP 800-57 part 1) considers sufficient beyond 2030 to
  /// the largest usable one.
  public static let rsaBits = KeyType.rsa.facts.newSizes

  /// The PEM text of a new key in PKCS #8; see ``key(_:)``.
  public static func make(_ kind: Kind) throws(SigningError) -> SecureBytes { try key(kind).pkcs8() }

  /// Makes a new key.
  ///
  /// All randomness comes from the kernel's generator. It is ready before any daemon starts, except in the first
  /// seconds of a boot, when the call waits for it. An RSA key takes a second or more, so it must be made on another
  /// thread than the one that answers callers.
  /// - Throws: ``SigningError`` for a size outside ``rsaBits``, or if the library refuses.
  public static func key(_ kind: Kind) throws(SigningError) -> PrivateKey {
    defer { Stack.wipe() }
    return try compute(kind)
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private static func compute(_ kind: Kind) throws(SigningError) -> PrivateKey {
    switch kind {
    case .ed25519:
      let secret = RandomBytes.secret(count: Ed25519.seedCount).withBytes { Ed25519.secretKey(seed: $0) }
      let form = PublicKey.Form.ed25519(Ed25519.publicKey(of: secret))
      return PrivateKey(.ed25519(secret), try publicKey(form))
    case .p256: return try curve(.p256)
    case .p384: return try curve(.p384)
    case .p521: return try curve(.p521)
    case .rsa(let bits): return try rsa(bits)
    }
  }

  private static func curve(_ curve: Curve) throws(SigningError) -> PrivateKey {
    let scalar = try curve.newScalar()
    guard let point = try curve.publicPoint(of: scalar) else { throw SigningError("libgcrypt: no public point") }
    return PrivateKey(.curve(CurveSecret(curve, scalar)), try publicKey(.curve(curve, point)))
  }

  private static func rsa(_ bits: Int) throws(SigningError) -> PrivateKey {
    guard rsaBits.contains(bits) else {
      throw SigningError("a new RSA key has \(rsaBits.lowerBound) to \(rsaBits.upperBound) bits")
    }
    let order = try unsafe Expression { out in unsafe vault_rsa_order(out, Int32(bits)) }
    let pair = try unsafe Expression { out in unsafe gcry_pk_genkey(out, order.handle) }
    // `pair` has a list for each half of the key. Both lists have n and e; only the private one has d, p, q and u.
    // libgcrypt's u is the inverse of its first prime modulo its second, so p and q are exchanged.
    let key = RSASecret(
      n: try pair.secretNumber("n"), e: try pair.secretNumber("e"), d: try pair.secretNumber("d"),
      p: try pair.secretNumber("q"), q: try pair.secretNumber("p"), qInv: try pair.secretNumber("u"))
    guard try key.isConsistent(), let modulus = key.n.digits(count: key.n.byteCount),
      let exponent = key.e.digits(count: key.e.byteCount)
    else { throw SigningError("libgcrypt: a new key does not fit itself") }
    return PrivateKey(.rsa(key), try publicKey(.rsa(modulus: modulus, exponent: exponent)))
  }

  /// The public half of a new key, which always passes its check.
  private static func publicKey(_ form: PublicKey.Form) throws(SigningError) -> PublicKey {
    do { return try PublicKey(checking: form) } catch { throw SigningError(error.reason) }
  }
}
