package import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

/// A keyed hash, or the result of comparing one.
package struct MadeMAC: ~Copyable {
  package enum Result: ~Copyable {
    /// The hash: 32 or 64 bytes.
    case code(SecureBytes)
    /// The result of a comparison.
    case isValid(Bool)
  }

  package let version: Int
  package let accessible: AccessClass
  package let result: Result
}

extension Items {
  /// The hash functions for keyed hashes, by their names in JSON Web Algorithms (RFC 7518 section 3.1).
  private static let hashes: [String: HMAC.Hash] = ["HS256": .sha256, "HS512": .sha512]

  /// Lends the keyed hash of `message` under an item's key to `answer`, or the result of comparing it. The time of the
  /// comparison does not tell where two hashes differ.
  ///
  /// - Parameters:
  ///   - algorithm: the name of the algorithm; nil for HS256.
  ///   - code: the hash to compare; nil to make one.
  /// - Returns: nil if the result was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no result.
  package func mac(
    _ reading: Reading, _ message: borrowing SecureBytes, _ algorithm: String?, comparing code: [UInt8]?,
    _ answer: (borrowing MadeMAC) -> Void
  ) throws(Refusal) -> Wait? {
    guard let hash = Self.hashes[algorithm ?? "HS256"] else { throw .invalid("algorithm") }
    let detail = code == nil ? "keyed hash" : "comparison of a keyed hash"
    return try message.withBytes { (message: RawSpan) throws(Refusal) in
      try use(reading, for: .mac, detail) { (keychain, decide) throws(VaultError) in
        try keychain.withValue(
          of: reading.name, now: vault.clock.wall(), evenExpired: reading.evenExpired, if: decide
        ) { item, version, value in
          Self.mac(message, hash, code, item, version, SecureBytes(copying: value))
        }
      } _: { made in
        answer(made)
      }
    }
  }

  private static func mac(
    _ message: RawSpan, _ hash: HMAC.Hash, _ code: [UInt8]?, _ item: ItemInfo, _ version: Int,
    _ key: borrowing SecureBytes
  ) -> Made<MadeMAC> {
    let accessible = item.policy.accessible
    do throws(SigningError) {
      guard let code else {
        let made = try HMAC.withCode(of: message, key: key, hash) { SecureBytes(copying: $0) }
        return .success(MadeMAC(version: version, accessible: accessible, result: .code(made)))
      }
      // Bytes have no padding.
      let isValid = try unsafe HMAC.verifies(code.span.bytes, of: message, key: key, hash)
      return .success(MadeMAC(version: version, accessible: accessible, result: .isValid(isValid)))
    } catch {
      return .failure(.misconfigured(error.reason))
    }
  }
}
