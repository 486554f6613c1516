internal import CGcrypt
internal import VaultWire

/// The functions of libgcrypt that encrypted exports need.
///
/// Every call below reads and writes exactly the bytes whose number it is told, or those that its declaration in
/// import.h states; the arrays live during the call.
enum BitwardenCrypto {
  /// The result of starting libgcrypt, which must come before any other call.
  private static let isStarted = vault_gcrypt_start() == 1

  /// The SHA-256 digest of a message.
  static func sha256(_ message: [UInt8]) throws(ImportFailure) -> [UInt8] {
    try start()
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe vault_import_sha256(message, message.count, &digest)
    return digest
  }

  /// HMAC-SHA-256 of two parts, one after the other.
  static func hmac(key: [UInt8], _ first: [UInt8], _ second: [UInt8] = []) throws(ImportFailure) -> [UInt8] {
    try start()
    var mac = [UInt8](repeating: 0, count: 32)
    try check(
      "HMAC",
      unsafe vault_import_hmac_sha256(key, key.count, first, first.count, second, second.count, &mac))
    return mac
  }

  /// A key of 32 bytes by PBKDF2 with HMAC-SHA-256.
  static func pbkdf2(_ password: [UInt8], salt: [UInt8], iterations: Int) throws(ImportFailure) -> [UInt8] {
    try start()
    var key = [UInt8](repeating: 0, count: 32)
    let iterations = UInt(clamping: iterations)
    try check(
      "PBKDF2",
      unsafe vault_import_pbkdf2_sha256(password, password.count, salt, salt.count, iterations, &key))
    return key
  }

  /// A key of 32 bytes by Argon2id.
  ///
  /// - Parameter memory: The memory in KiB.
  static func argon2id(
    _ password: [UInt8], salt: [UInt8], memory: Int, passes: Int, lanes: Int
  ) throws(ImportFailure) -> [UInt8] {
    try start()
    var key = [UInt8](repeating: 0, count: 32)
    let (memory, passes, lanes) = (UInt(clamping: memory), UInt(clamping: passes), UInt(clamping: lanes))
    try check(
      "Argon2id",
      unsafe vault_import_argon2id(password, password.count, salt, salt.count, memory, passes, lanes, &key))
    return key
  }

  /// Decrypts bytes, whose number is a multiple of 16, in place by AES-256-CBC; their padding stays.
  static func decrypt(_ bytes: inout [UInt8], key: [UInt8], vector: [UInt8]) throws(ImportFailure) {
    try start()
    guard key.count == 32, vector.count == 16, bytes.count % 16 == 0 else {
      throw ImportFailure(.failed, "AES got parts of a wrong size")
    }
    try check("AES", unsafe vault_import_aes256_cbc_decrypt(key, vector, &bytes, bytes.count))
  }

  private static func start() throws(ImportFailure) {
    guard isStarted else { throw ImportFailure(.failed, "libgcrypt is older than \(GCRYPT_VERSION)") }
  }

  private static func check(_ name: String, _ result: gcry_error_t) throws(ImportFailure) {
    guard result != 0 else { return }
    // The text of a known error is a constant of the library.
    let text = unsafe gcry_strerror(result).map { unsafe String(cString: $0) } ?? "error \(result)"
    throw ImportFailure(.failed, "\(name) could not be computed: \(text)")
  }
}
