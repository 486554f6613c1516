internal import CGcrypt
internal import VaultCore
public import VaultModel

extension PrivateKey {
  /// Hashes and signs `message`.
  ///
  /// Ed25519, ECDSA and PKCS #1 give the same bytes each time; PSS has a random salt. The traces of the call on the
  /// stack and in the registers are wiped; libgcrypt's copies in the ordinary heap are wiped if the program's free(3)
  /// does so.
  /// - Throws: ``SigningError`` if the scheme is for another type of key, or if the library refuses.
  public borrowing func sign(_ message: RawSpan, _ scheme: SignatureScheme) throws(SigningError) -> [UInt8] {
    guard scheme.keyType == type else { throw SigningError("the scheme is for another type of key") }
    // A signature by libsodium wipes its own traces.
    defer { if type.facts.library == .gcrypt { Stack.wipe() } }
    return try compute(message, scheme)
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private borrowing func compute(_ message: RawSpan, _ scheme: SignatureScheme) throws(SigningError) -> [UInt8] {
    switch secret {
    case .ed25519(let key): return Ed25519.sign(message, secretKey: key)
    case .curve(let secret):
      let curve = secret.curve
      let key = try unsafe Expression { out in unsafe vault_ec_secret_key(out, curve.name, secret.scalar.handle) }
      let signature = try key.sign(scheme.expression(of: message))
      guard let r = try signature.number("r").digits(count: curve.count),
        let s = try signature.number("s").digits(count: curve.count)
      else { throw SigningError("libgcrypt: a signature is too long") }
      return r + s
    case .rsa(let rsa): return try rsa.sign(scheme.expression(of: message))
    }
  }

  /// Signs the digest of a message with an RSA key; see ``sign(_:_:)``.
  public borrowing func sign(digest: [UInt8], _ scheme: SignatureScheme) throws(SigningError) -> [UInt8] {
    guard scheme.keyType == .rsa else { throw SigningError("the scheme is for another type of key") }
    defer { Stack.wipe() }
    return try compute(digest: digest, scheme)
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private borrowing func compute(digest: [UInt8], _ scheme: SignatureScheme) throws(SigningError) -> [UInt8] {
    switch secret {
    case .rsa(let rsa): return try rsa.sign(scheme.expression(ofDigest: digest))
    case .ed25519: throw SigningError("the scheme is for another type of key")
    case .curve: throw SigningError("the scheme is for another type of key")
    }
  }
}

extension RSASecret {
  fileprivate func sign(_ message: consuming Expression) throws(SigningError) -> [UInt8] {
    // libgcrypt requires the inverse of the first prime modulo the second.
    let key = try unsafe Expression { out in
      unsafe vault_rsa_secret_key(out, n.handle, e.handle, d.handle, q.handle, p.handle, qInv.handle)
    }
    let signature = try key.sign(message)
    guard let s = try signature.number("s").digits(count: n.byteCount) else {
      throw SigningError("libgcrypt: a signature is too long")
    }
    return s
  }
}

extension Expression {
  /// Signs with this key.
  fileprivate func sign(_ message: consuming Expression) throws(SigningError) -> Expression {
    try unsafe Expression { out in unsafe gcry_pk_sign(out, message.handle, handle) }
  }
}
