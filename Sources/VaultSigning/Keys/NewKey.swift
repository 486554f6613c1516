internal import CGcrypt
internal import VaultCore
public import VaultModel

/// New keys, made in secure memory.
public enum NewKey {
  /// Makes a new key.
  ///
  /// All randomness comes from the kernel's generator. In the first seconds of a boot, before the generator is ready,
  /// the call waits. An RSA key takes a second or more, so make it on a thread other than the one that answers callers.
  /// - Parameter bits: The size of the key; nil for the smallest size in ``KeyType/Facts/newSizes``.
  /// - Throws: ``SigningError`` for a size outside ``KeyType/Facts/newSizes``, or if the library refuses.
  public static func key(_ type: KeyType, bits: Int? = nil) throws(SigningError) -> PrivateKey {
    defer { Stack.wipe() }
    return try compute(type, bits)
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private static func compute(_ type: KeyType, _ bits: Int?) throws(SigningError) -> PrivateKey {
    let facts = type.facts
    let sizes = facts.newSizes
    let bits = bits ?? sizes.lowerBound
    guard sizes.contains(bits) else {
      throw SigningError("a new \(type.rawValue.uppercased()) key has \(sizes.lowerBound) to \(sizes.upperBound) bits")
    }
    switch facts.family {
    case .ed25519:
      let secret = RandomBytes.secret(count: Ed25519.seedCount).withBytes { Ed25519.secretKey(seed: $0) }
      let form = PublicKey.Form.ed25519(Ed25519.publicKey(of: secret))
      return PrivateKey(.ed25519(secret), try publicKey(form))
    case .curve(let curve): return try key(on: curve)
    case .rsa: return try rsa(bits)
    }
  }

  private static func key(on curve: Curve) throws(SigningError) -> PrivateKey {
    let scalar = try curve.newScalar()
    guard let point = try curve.publicPoint(of: scalar) else { throw SigningError("libgcrypt: no public point") }
    return PrivateKey(.curve(CurveSecret(curve, scalar)), try publicKey(.curve(curve, point)))
  }

  private static func rsa(_ bits: Int) throws(SigningError) -> PrivateKey {
    let parameters = try unsafe Expression { out in unsafe vault_rsa_order(out, Int32(bits)) }
    let pair = try unsafe Expression { out in unsafe gcry_pk_genkey(out, parameters.handle) }
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
