internal import CGcrypt
public import VaultCore

/// Keyed hashes for the protocols of other programs: HMAC (RFC 2104) over SHA-1, SHA-256 and SHA-512.
public enum HMAC {
  /// The underlying hash function.
  public enum Hash: CaseIterable, Sendable {
    case sha1, sha256, sha512

    fileprivate var number: Int32 {
      let algorithm =
        switch self {
        case .sha1: GCRY_MD_SHA1
        case .sha256: GCRY_MD_SHA256
        case .sha512: GCRY_MD_SHA512
        }
      return Int32(algorithm.rawValue)
    }
  }

  /// Lends the code of `message` under `key`: 20, 32 or 64 bytes, which must not leave `body`.
  ///
  /// libgcrypt keeps its data about the key in its secure memory, and wipes it; its stack and the
  /// registers are wiped here.
  /// - Throws: ``SigningError`` if the library refuses, as it does for short keys in FIPS mode.
  public static func withCode<R: ~Copyable>(
    of message: RawSpan, key: borrowing SecureBytes, _ hash: Hash, _ body: (RawSpan) -> R
  ) throws(SigningError) -> R {
    try Gcrypt.start()
    defer { Stack.wipe() }
    return try compute(message, key, hash, body)
  }

  /// True if `code` is the complete code of `message` under `key`. The time of the comparison does not reveal
  /// where the codes differ.
  ///
  /// - Throws: The errors of ``withCode(of:key:_:_:)``.
  public static func verifies(
    _ code: RawSpan, of message: RawSpan, key: borrowing SecureBytes, _ hash: Hash
  ) throws(SigningError) -> Bool {
    try withCode(of: message, key: key, hash) { ConstantTime.isEqual($0, code) }
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private static func compute<R: ~Copyable>(
    _ message: RawSpan, _ key: borrowing SecureBytes, _ hash: Hash, _ body: (RawSpan) -> R
  ) throws(SigningError) -> R {
    var handle: gcry_md_hd_t?
    let flags = GCRY_MD_FLAG_SECURE.rawValue | GCRY_MD_FLAG_HMAC.rawValue
    try Gcrypt.check(unsafe gcry_md_open(&handle, hash.number, UInt32(flags)))
    // This call wipes the handle's data about the key and the code.
    defer { unsafe gcry_md_close(handle) }
    try Gcrypt.check(
      key.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe gcry_md_setkey(handle, $0.baseAddress, $0.count) }
      })
    unsafe message.withUnsafeBytes { unsafe gcry_md_write(handle, $0.baseAddress, $0.count) }
    guard let code = unsafe gcry_md_read(handle, hash.number) else { throw SigningError("libgcrypt: no digest") }
    let count = Int(gcry_md_get_algo_dlen(hash.number))
    // The code belongs to the handle, which lives until the end of this function.
    return body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: code, count: count)))
  }
}
