internal import CGcrypt
public import VaultModel

extension SignatureScheme {
  /// The digest of `message` that is signed; Ed25519 signs the message itself.
  public func digest(of message: RawSpan) throws(SigningError) -> [UInt8] {
    try Gcrypt.start()
    return facts.hash.digest(of: message)
  }

  /// The digest of `message` in libgcrypt's form for RSA and ECDSA.
  func expression(of message: RawSpan) throws(SigningError) -> Expression {
    try expression(ofDigest: try digest(of: message))
  }

  /// A digest in libgcrypt's form for RSA and ECDSA.
  func expression(ofDigest digest: [UInt8]) throws(SigningError) -> Expression {
    let facts = facts
    guard digest.count == facts.hash.count else { throw SigningError("a digest has another size") }
    let count = Int32(digest.count)
    return try unsafe Expression { out in
      // The call reads exactly as many bytes as are passed to it, and the names are C strings for its duration.
      switch facts.encoding {
      case .ecdsa: unsafe vault_ecdsa_message(out, facts.hash.rawValue, digest, count)
      case .pss: unsafe vault_pss_message(out, facts.hash.rawValue, digest, count)
      case .message, .pkcs1: unsafe vault_pkcs1_message(out, facts.hash.rawValue, digest, count)
      }
    }
  }
}
