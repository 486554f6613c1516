internal import CSodium

/// Authenticated encryption with XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), from libsodium.
///
/// A sealed message is nonce (24 random bytes) ‖ ciphertext ‖ tag (16 bytes). Nonces are long enough to be drawn at
/// random for any number of messages under one key. A key has 32 bytes; another size is a programming error.
public enum AEAD {
  /// The size of a key in bytes.
  public static let keyCount = 32
  /// The number of bytes by which a sealed message is longer than its plaintext.
  public static let overhead = nonceCount + tagCount
  static let nonceCount = 24
  static let tagCount = 16

  /// Seals `plaintext` under a fresh random nonce.
  public static func seal(_ plaintext: RawSpan, key: borrowing SecureBytes, associatedData: RawSpan) -> [UInt8] {
    precondition(key.count == keyCount, "an AEAD key has 32 bytes")
    let total = plaintext.byteCount + overhead
    return unsafe [UInt8](unsafeUninitializedCapacity: total) { out, initialized in
      let start = out.baseAddress!  // The capacity is never 0.
      unsafe randombytes_buf(start, nonceCount)
      unsafe plaintext.withUnsafeBytes { message in
        unsafe associatedData.withUnsafeBytes { extra in
          // Cannot fail: the sizes are within the construction's limits (2^38 bytes).
          _ = unsafe key.lend { key in
            unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
              start + nonceCount, nil, message.baseAddress, UInt64(message.count), extra.baseAddress,
              UInt64(extra.count), nil, start, key)
          }
        }
      }
      initialized = total
    }
  }

  /// Opens `sealed` into the beginning of `destination`.
  ///
  /// - Returns: The size of the plaintext in bytes, which is `sealed.byteCount - overhead`.
  /// - Throws: ``CryptoError/malformed(_:)`` if `sealed` is too short to be a message or `destination` is too small for
  ///   the plaintext; ``CryptoError/authenticationFailed`` if `sealed` was not sealed with this key and associated
  ///   data. `destination` then holds no plaintext.
  @discardableResult
  public static func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: RawSpan, into destination: inout MutableRawSpan
  ) throws(CryptoError) -> Int {
    precondition(key.count == keyCount, "an AEAD key has 32 bytes")
    let count = sealed.byteCount - overhead
    guard count >= 0 else { throw .malformed("sealed message is too short") }
    guard destination.byteCount >= count else { throw .malformed("sealed message is too long") }
    let status = unsafe destination.withUnsafeMutableBytes { out in
      unsafe sealed.withUnsafeBytes { message in
        unsafe associatedData.withUnsafeBytes { extra in
          // `message` has at least `overhead` bytes, `out` at least the size of the plaintext.
          unsafe key.lend { key in
            unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
              out.baseAddress, nil, nil, message.baseAddress! + nonceCount, UInt64(message.count - nonceCount),
              extra.baseAddress, UInt64(extra.count), message.baseAddress!, key)
          }
        }
      }
    }
    guard status == 0 else { throw .authenticationFailed }
    return count
  }

  /// Opens `sealed` into a new buffer. For keys and single values only, because each buffer costs
  /// pages and system calls.
  public static func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: RawSpan
  ) throws(CryptoError) -> SecureBytes {
    guard sealed.byteCount >= overhead else { throw .malformed("sealed message is too short") }
    return try SecureBytes(count: sealed.byteCount - overhead) { (bytes: inout MutableRawSpan) throws(CryptoError) in
      try open(sealed, key: key, associatedData: associatedData, into: &bytes)
    }
  }
}

// The same functions with associated data in an array, or in the fixed-size form of a record. Bytes have no padding, so
// each of them is initialized, as `span.bytes` requires.
extension AEAD {
  /// Seals `plaintext` under a fresh random nonce.
  public static func seal(_ plaintext: RawSpan, key: borrowing SecureBytes, associatedData: [UInt8]) -> [UInt8] {
    unsafe seal(plaintext, key: key, associatedData: associatedData.span.bytes)
  }

  /// Seals `plaintext` under a fresh random nonce.
  public static func seal(
    _ plaintext: RawSpan, key: borrowing SecureBytes, associatedData: AssociatedData
  ) -> [UInt8] {
    unsafe seal(plaintext, key: key, associatedData: associatedData.storage.span.bytes)
  }

  /// Opens `sealed` into the beginning of `destination` and returns the size of the plaintext in bytes.
  @discardableResult
  public static func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: [UInt8], into destination: inout MutableRawSpan
  ) throws(CryptoError) -> Int {
    try unsafe open(sealed, key: key, associatedData: associatedData.span.bytes, into: &destination)
  }

  /// Opens `sealed` into the beginning of `destination` and returns the size of the plaintext in bytes.
  @discardableResult
  public static func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: AssociatedData,
    into destination: inout MutableRawSpan
  ) throws(CryptoError) -> Int {
    try unsafe open(sealed, key: key, associatedData: associatedData.storage.span.bytes, into: &destination)
  }

  /// Opens `sealed` into a new buffer.
  public static func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: [UInt8]
  ) throws(CryptoError) -> SecureBytes {
    try unsafe open(sealed, key: key, associatedData: associatedData.span.bytes)
  }

  /// Opens `sealed` into a new buffer.
  public static func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: AssociatedData
  ) throws(CryptoError) -> SecureBytes {
    try unsafe open(sealed, key: key, associatedData: associatedData.storage.span.bytes)
  }
}
