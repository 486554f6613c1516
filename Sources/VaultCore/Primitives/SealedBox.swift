internal import CSodium

/// Anonymous encryption to a public key (libsodium's `crypto_box_seal`: an ephemeral X25519 key, XSalsa20-Poly1305).
///
/// A box does not tell the reader who wrote the message: authenticate the writer separately.
public enum SealedBox {
  /// The size in bytes of a public key, and of a secret key.
  public static let keyCount = 32
  /// The number of bytes by which a sealed message is longer than its plaintext.
  public static let overhead = 48

  /// Returns a new secret key.
  public static func secretKey() -> SecureBytes { RandomBytes.secret(count: keyCount) }

  /// The public key of `secretKey` (RFC 7748, section 5: X25519 with the base point 9).
  public static func publicKey(of secretKey: borrowing SecureBytes) -> [UInt8] {
    precondition(secretKey.count == keyCount, "a secret key has 32 bytes")
    return unsafe [UInt8](unsafeUninitializedCapacity: keyCount) { out, initialized in
      // Both buffers have 32 bytes; a scalar multiplication of the base point does not fail.
      _ = unsafe secretKey.lend(stack: Stack.exchange) { key in unsafe crypto_scalarmult_base(out.baseAddress!, key) }
      initialized = keyCount
    }
  }

  /// Seals `plaintext` to `publicKey`.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` if the key is invalid: not 32 bytes, or a point of low order.
  public static func seal(_ plaintext: RawSpan, to publicKey: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard publicKey.count == keyCount else { throw .malformed("public key size") }
    Sodium.start()
    var status: Int32 = -1
    let total = plaintext.byteCount + overhead
    let sealed = unsafe [UInt8](unsafeUninitializedCapacity: total) { out, initialized in
      unsafe plaintext.withUnsafeBytes { message in
        status = unsafe crypto_box_seal(out.baseAddress!, message.baseAddress, UInt64(message.count), publicKey)
      }
      initialized = status == 0 ? total : 0
    }
    guard status == 0 else { throw .malformed("public key") }
    return sealed
  }

  /// Opens a message that was sealed to the public key of `secretKey`.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` if the message is too short; ``CryptoError/authenticationFailed`` if it
  ///   was sealed to another key or was changed.
  public static func open(_ sealed: RawSpan, secretKey: borrowing SecureBytes) throws(CryptoError) -> SecureBytes {
    guard sealed.byteCount >= overhead else { throw .malformed("sealed message is too short") }
    var plaintext = SecureBytes(count: sealed.byteCount - overhead)
    let publicKey = publicKey(of: secretKey)
    _ = try plaintext.withMutableBytes { (bytes: inout MutableRawSpan) throws(CryptoError) in
      try open(sealed, publicKey: publicKey, secretKey: secretKey, into: &bytes)
    }
    return plaintext
  }

  /// Opens a message that was sealed to `publicKey`, which belongs to `secretKey`, into the beginning of `destination`.
  /// Traps if `destination` has no room for the plaintext.
  ///
  /// - Returns: The size of the plaintext in bytes.
  /// - Throws: The errors of ``open(_:secretKey:)``.
  static func open(
    _ sealed: RawSpan, publicKey: [UInt8], secretKey: borrowing SecureBytes, into destination: inout MutableRawSpan
  ) throws(CryptoError) -> Int {
    guard sealed.byteCount >= overhead else { throw .malformed("sealed message is too short") }
    guard publicKey.count == keyCount else { throw .malformed("public key size") }
    let count = sealed.byteCount - overhead
    precondition(destination.byteCount >= count, "there is no room for a plaintext")
    let status = unsafe destination.withUnsafeMutableBytes { out in
      unsafe sealed.withUnsafeBytes { message in
        unsafe secretKey.lend(stack: Stack.exchange) { key in
          // Both keys have 32 bytes, and there is room for the plaintext.
          unsafe crypto_box_seal_open(
            out.baseAddress, message.baseAddress!, UInt64(message.count), publicKey, key)
        }
      }
    }
    guard status == 0 else { throw .authenticationFailed }
    return count
  }
}
