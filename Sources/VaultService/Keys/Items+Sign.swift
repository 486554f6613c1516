package import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

/// A signature, with the version of the key and the algorithm that made it.
package struct MadeSignature: Sendable {
  package let version: Int
  package let accessible: AccessClass
  /// The name of the algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1).
  package let algorithm: String
  /// The signature in the form of JSON Web Signatures.
  package let bytes: [UInt8]
  /// An ECDSA signature in DER; nil for other algorithms.
  package let der: [UInt8]?
}

extension Items {
  /// Lends a signature of `message` by an item's key to `answer`.
  ///
  /// - Parameters:
  ///   - algorithm: the name of the algorithm; nil for the usual one of the key.
  ///   - order: the work of this call with large RSA keys, the same object in each attempt; nil for a call with one
  ///     attempt.
  /// - Returns: nil if the signature was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no signature.
  package func sign(
    _ reading: Reading, _ message: borrowing SecureBytes, _ algorithm: String?, _ order: RSAOrder? = nil,
    _ answer: (MadeSignature) -> Void
  ) throws(Refusal) -> Wait? {
    let order = order ?? rsaOrder(for: reading.caller)
    let scheme = try algorithm.map { (name) throws(Refusal) in
      guard let scheme = SignatureScheme(joseName: name) else { throw .invalid("algorithm") }
      return scheme
    }
    return try message.withBytes { (message: RawSpan) throws(Refusal) in
      try use(reading, for: .sign, "signature", order) { (keychain, decide) throws(VaultError) in
        try keychain.withValue(
          of: reading.name, now: vault.clock.wall(), evenExpired: reading.evenExpired, if: decide
        ) { item, version, value in
          do throws(Refusal) { return .success(try Self.sign(message, scheme, item, version, value, order)) } catch {
            return .failure(error)
          }
        }
      } _: { made in
        answer(made)
      }
    }
  }

  private static func sign(
    _ message: RawSpan, _ scheme: SignatureScheme?, _ item: ItemInfo, _ version: Int, _ value: RawSpan,
    _ order: RSAOrder
  ) throws(Refusal) -> MadeSignature {
    let key = try privateKey(item, value)
    let scheme = scheme ?? key.type.facts.usualScheme
    guard scheme.keyType == key.type else { throw .invalid("algorithm") }
    do throws(SigningError) {
      let bytes = try order.sign(message, by: key, scheme, of: item.policy.accessible)
      return MadeSignature(
        version: version, accessible: item.policy.accessible, algorithm: scheme.facts.joseName, bytes: bytes,
        der: ECDSASignature(bytes, key.type)?.der)
    } catch {
      throw .misconfigured(error.reason)
    }
  }

  /// The key that is the current version of an item's value. If its public half was stored with it, the pair was
  /// checked then.
  static func privateKey(_ item: ItemInfo, _ value: RawSpan) throws(Refusal) -> PrivateKey {
    do throws(KeyError) {
      guard let blob = item.publicKey else { return try PrivateKey(value) }
      // Bytes have no padding.
      return try PrivateKey(value, trusting: unsafe PublicKey(sshBlob: blob.span.bytes))
    } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
  }

  /// The key that is a replaced version, with its public half if that is known.
  static func privateKey(replaced value: RawSpan, _ publicKey: PublicKey?) throws(Refusal) -> PrivateKey {
    do throws(KeyError) {
      guard let publicKey else { return try PrivateKey(value) }
      return try PrivateKey(value, trusting: publicKey)
    } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
  }
}
