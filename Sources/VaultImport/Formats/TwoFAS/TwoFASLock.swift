internal import VaultBytes
internal import VaultWire

/// The encryption of a backup of 2FAS: the services under AES-256-GCM with the tag at the end, the salt and the
/// initialization vector, in base64 with colons between them
/// (core/cipher/src/main/java/com/twofasapp/cipher/backup in twofas/2fas-android).
struct TwoFASLock {
  /// The iterations of PBKDF2 with HMAC-SHA-256, which are the same for all backups.
  private static let iterations: UInt = 10_000
  private static let longestSalt = 4096

  private let sealed: [UInt8]
  private let salt: [UInt8]
  private let vector: [UInt8]

  init(_ text: String) throws(ImportFailure) {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .compactMap { [UInt8](base64: Substring($0)) }
    guard parts.count == 3, (1...Self.longestSalt).contains(parts[1].count) else {
      throw ImportFailure(.damaged, "the encrypted services are not whole")
    }
    (sealed, salt, vector) = (parts[0], parts[1], parts[2])
  }

  /// The services; nil if the password is wrong.
  func open(_ password: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    let key = try AuthenticatorCrypto.pbkdf2SHA256(password, salt: salt, iterations: Self.iterations)
    return try AuthenticatorCrypto.open(sealed, key: key, vector: vector)
  }
}
