internal import CGcrypt
internal import VaultWire

/// The functions of libgcrypt that Ansible's vaults need.
///
/// Every call below reads and writes exactly the bytes whose number it is told, or those that its declaration in
/// import.h states; the arrays live during the call.
enum AnsibleCrypto {
  private static let isStarted = vault_gcrypt_start() == 1

  /// A key of `count` bytes by PBKDF2 with HMAC-SHA-256.
  static func pbkdf2(_ password: [UInt8], salt: [UInt8], iterations: UInt, count: Int) throws(ImportFailure) -> [UInt8]
  {
    try start()
    var key = [UInt8](repeating: 0, count: count)
    try check(
      unsafe vault_import_pbkdf2_sha256_long(
        password, password.count, salt, salt.count, iterations, &key, count))
    return key
  }

  /// HMAC-SHA-256 of a message.
  static func hmac(key: [UInt8], _ message: [UInt8]) throws(ImportFailure) -> [UInt8] {
    try start()
    var mac = [UInt8](repeating: 0, count: 32)
    try check(unsafe vault_import_hmac_sha256(key, key.count, message, message.count, message, 0, &mac))
    return mac
  }

  /// Decrypts bytes in place by AES-256-CTR.
  static func decrypt(_ bytes: inout [UInt8], key: [UInt8], counter: [UInt8]) throws(ImportFailure) {
    try start()
    guard key.count == 32, counter.count == 16 else { throw ImportFailure(.failed, "AES got parts of a wrong size") }
    try check(unsafe vault_import_aes256_ctr(key, counter, &bytes, bytes.count))
  }

  private static func start() throws(ImportFailure) {
    guard isStarted else { throw ImportFailure(.failed, "libgcrypt is older than \(GCRYPT_VERSION)") }
  }

  private static func check(_ result: gcry_error_t) throws(ImportFailure) {
    guard result != 0 else { return }
    // The text of a known error is a constant of the library.
    let text = unsafe gcry_strerror(result).map { unsafe String(cString: $0) } ?? "error \(result)"
    throw ImportFailure(.failed, "a vault of Ansible could not be computed: \(text)")
  }
}
