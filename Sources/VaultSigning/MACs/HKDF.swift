internal import VaultBytes
public import VaultCore

/// Key derivation from a secret whose bits are not all equally likely: HKDF (RFC 5869) with SHA-256.
///
/// None of a vault's own keys is derived here; they come from ``KDF``.
public enum HKDF {
  /// The size of SHA-256's digest in bytes.
  private static let digestCount = 32

  /// Derives `count` bytes, at most 8160, from `secret`.
  ///
  /// - Parameters:
  ///   - secret: the input keying material.
  ///   - salt: may be empty, which means 32 zero bytes (section 2.2).
  ///   - info: what the derived key is for; may be empty.
  /// - Throws: The errors of ``HMAC/withCode(of:key:_:_:)``.
  public static func derive(
    count: Int, from secret: borrowing SecureBytes, salt: [UInt8] = [], info: [UInt8] = []
  ) throws(SigningError) -> SecureBytes {
    precondition((1...255 * digestCount).contains(count), "HKDF gives 255 digests at most")
    let salt = salt.isEmpty ? SecureBytes(count: digestCount) : salt.withSpan { SecureBytes(copying: $0) }
    let key = try secret.withBytes { (secret: RawSpan) throws(SigningError) in
      try HMAC.withCode(of: secret, key: salt, .sha256) { SecureBytes(copying: $0) }
    }
    var derived = SecureBytes(count: count)
    // A block is the code of the block before it, the info and the block's number.
    var message = SecureBytes(count: digestCount + info.count + 1)
    message.withMutableBytes { message in info.withSpan { message.copy($0, at: digestCount) } }
    for (number, place) in stride(from: 0, to: count, by: digestCount).enumerated() {
      message.withMutableBytes { $0.set(UInt8(number + 1), at: $0.byteCount - 1) }
      let block = try message.withBytes { (message: RawSpan) throws(SigningError) in
        // The first block has none before it.
        let message = number == 0 ? message.extracting(droppingFirst: digestCount) : message
        return try HMAC.withCode(of: message, key: key, .sha256) { SecureBytes(copying: $0) }
      }
      block.withBytes { block in
        message.withMutableBytes { $0.copy(block) }
        derived.withMutableBytes { $0.copy(block.extracting(first: min(digestCount, count - place)), at: place) }
      }
    }
    return derived
  }
}
