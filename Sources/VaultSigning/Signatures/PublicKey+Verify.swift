internal import CGcrypt
internal import VaultCore

extension PublicKey {
  /// True when `signature` is one of `message` by this key.
  ///
  /// There is one form of each: ECDSA's halves have their full length and lie between 0 and the group's order, RSA's number
  /// has the modulus' length and lies below it, Ed25519's S below the order. A scheme for another type of key is false.
  public func verifies(_ signature: [UInt8], of message: RawSpan, _ scheme: SignatureScheme) -> Bool {
    guard scheme.keyType == type else { return false }
    switch form {
    case .ed25519(let key): return Ed25519.verifies(signature, of: message, publicKey: key)
    case .curve(let curve, let point):
      guard signature.count == 2 * curve.count else { return false }
      let r = Array(signature.prefix(curve.count))
      let s = Array(signature.suffix(curve.count))
      return Self.isRight {
        () throws(SigningError) in
        try unsafe Expression { out in unsafe vault_ec_public_key(out, curve.name, point, Int32(point.count)) }
      } message: {
        () throws(SigningError) in
        try scheme.expression(of: message)
      } signature: {
        // Both have as many bytes. libgcrypt refuses 0 and what is not below the order.
        () throws(SigningError) in
        try unsafe Expression { out in unsafe vault_ecdsa_signature(out, r, s, Int32(r.count)) }
      }
    case .rsa(let modulus, let exponent):
      guard signature.count == modulus.count, signature.lexicographicallyPrecedes(modulus) else { return false }
      return Self.isRight {
        () throws(SigningError) in
        try unsafe Expression { out in
          unsafe vault_rsa_public_key(out, modulus, Int32(modulus.count), exponent, Int32(exponent.count))
        }
      } message: {
        () throws(SigningError) in
        try scheme.expression(of: message)
      } signature: {
        () throws(SigningError) in
        try unsafe Expression { out in unsafe vault_rsa_signature(out, signature, Int32(signature.count)) }
      }
    }
  }

  /// Asks libgcrypt; what it cannot take is not right.
  private static func isRight(
    key: () throws(SigningError) -> Expression, message: () throws(SigningError) -> Expression,
    signature: () throws(SigningError) -> Expression
  ) -> Bool {
    guard let key = try? key(), let message = try? message(), let signature = try? signature() else { return false }
    return unsafe gcry_pk_verify(signature.handle, message.handle, key.handle) == 0
  }
}
