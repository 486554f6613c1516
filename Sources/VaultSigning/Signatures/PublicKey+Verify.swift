internal import CGcrypt
internal import VaultCore
public import VaultModel

extension PublicKey {
  /// True if `signature` is a signature of `message` by this key.
  ///
  /// Each signature has only one accepted form: the halves of ECDSA have their full length and lie between 0 and the
  /// group's order, the number of RSA has the length of the modulus and lies below it, and S of Ed25519 lies below the
  /// order. The result is false for a scheme for another type of key.
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
        // Both have the same number of bytes. libgcrypt refuses 0 and numbers that are not below the order.
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

  /// Asks libgcrypt; anything that it cannot read is not a valid signature.
  private static func isRight(
    key: () throws(SigningError) -> Expression, message: () throws(SigningError) -> Expression,
    signature: () throws(SigningError) -> Expression
  ) -> Bool {
    guard let key = try? key(), let message = try? message(), let signature = try? signature() else { return false }
    return unsafe gcry_pk_verify(signature.handle, message.handle, key.handle) == 0
  }
}
