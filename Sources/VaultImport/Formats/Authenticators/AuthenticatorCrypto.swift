internal import CGcrypt
internal import VaultWire

/// The functions of libgcrypt that encrypted exports of authenticators need.
///
/// Every call below reads and writes exactly the bytes whose number it is told, or those that its declaration in
/// import.h states; the arrays live during the call. The passwords and salts are not empty: libgcrypt takes no others.
enum AuthenticatorCrypto {
  /// The most iterations of PBKDF2 that are computed, which take some seconds.
  static let mostIterations = 10_000_000
  /// The sizes of a key, of the tag and of an initialization vector in bytes.
  private static let (keyCount, tagCount, vectorCounts) = (32, 16, 8...64)

  /// A key of 32 bytes by PBKDF2 with HMAC-SHA-1.
  static func pbkdf2SHA1(_ password: [UInt8], salt: [UInt8], iterations: UInt) throws(ImportFailure) -> [UInt8] {
    try ImportFailure.startGcrypt()
    var key = [UInt8](repeating: 0, count: keyCount)
    try ImportFailure.check(
      unsafe vault_import_pbkdf2_sha1(password, password.count, salt, salt.count, iterations, &key))
    return key
  }

  /// A key of 32 bytes by PBKDF2 with HMAC-SHA-256.
  static func pbkdf2SHA256(_ password: [UInt8], salt: [UInt8], iterations: UInt) throws(ImportFailure) -> [UInt8] {
    try ImportFailure.startGcrypt()
    var key = [UInt8](repeating: 0, count: keyCount)
    try ImportFailure.check(
      unsafe vault_import_pbkdf2_sha256(password, password.count, salt, salt.count, iterations, &key))
    return key
  }

  /// A key of 32 bytes by scrypt with r = 8.
  ///
  /// - Parameters:
  ///   - cost: N, a power of two.
  ///   - lanes: p.
  static func scrypt(_ password: [UInt8], salt: [UInt8], cost: Int, lanes: Int) throws(ImportFailure) -> [UInt8] {
    try ImportFailure.startGcrypt()
    var key = [UInt8](repeating: 0, count: keyCount)
    try ImportFailure.check(
      unsafe vault_import_scrypt(
        password, password.count, salt, salt.count, Int32(clamping: cost), UInt(clamping: lanes), &key))
    return key
  }

  /// The SHA-256 digest of a message.
  static func sha256(_ message: [UInt8]) throws(ImportFailure) -> [UInt8] {
    try ImportFailure.startGcrypt()
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe vault_import_sha256(message, message.count, &digest)
    return digest
  }

  /// The text of bytes that end with their tag; see ``open(_:tag:key:vector:)``.
  static func open(
    _ sealed: some Collection<UInt8>, key: [UInt8], vector: [UInt8]
  ) throws(ImportFailure) -> [UInt8]? {
    guard sealed.count >= tagCount else { throw ImportFailure(.damaged, "the encrypted part is too short") }
    return try open(Array(sealed.dropLast(tagCount)), tag: Array(sealed.suffix(tagCount)), key: key, vector: vector)
  }

  /// The text of bytes under AES-256-GCM; nil if the key is wrong, or the bytes were changed.
  static func open(
    _ sealed: [UInt8], tag: [UInt8], key: [UInt8], vector: [UInt8]
  ) throws(ImportFailure) -> [UInt8]? {
    guard tag.count == tagCount, key.count == keyCount, vectorCounts.contains(vector.count) else {
      throw ImportFailure(.damaged, "a part of the encryption has a wrong size")
    }
    try ImportFailure.startGcrypt()
    var text = sealed
    let result = unsafe vault_import_aes256_gcm_decrypt(key, vector, vector.count, &text, text.count, tag)
    if vault_import_is_wrong_tag(result) == 1 { return nil }
    try ImportFailure.check(result)
    return text
  }
}
