internal import VaultWire

/// The encryption of a backup of andOTP: AES-256-GCM with the initialization vector before the text and the tag after
/// it.
///
/// Since version 0.6.3, the iterations of PBKDF2 with HMAC-SHA-1 (4 bytes, the highest first) and the salt (12 bytes)
/// come before it. Earlier, the key was the SHA-256 digest of the password. Nothing in the file says which it is.
struct AndOTPLock {
  /// The iterations that andOTP chooses (Utilities/Constants.java).
  private static let usual = 140_000...160_000
  private static let (saltCount, vectorCount, tagCount) = (12, 12, 16)

  private let bytes: [UInt8]
  private(set) var detail = ""

  init(_ bytes: [UInt8]) throws(ImportFailure) {
    guard bytes.count > Self.vectorCount + Self.tagCount else {
      throw ImportFailure(.damaged, "the encrypted backup is too short")
    }
    self.bytes = bytes
  }

  /// True if a file begins with as many iterations as andOTP chooses.
  static func isUsual(_ bytes: [UInt8]) -> Bool { iterations(bytes).map(usual.contains) ?? false }

  /// The iterations with which a file begins; nil if it is too short.
  private static func iterations(_ bytes: [UInt8]) -> Int? {
    guard bytes.count > 4 + saltCount + vectorCount + tagCount else { return nil }
    return bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }

  /// The text; nil if the password is wrong.
  mutating func open(_ password: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    if let iterations = Self.iterations(bytes), (1...AuthenticatorCrypto.mostIterations).contains(iterations) {
      let key = try AuthenticatorCrypto.pbkdf2SHA1(
        password, salt: Array(bytes[4..<4 + Self.saltCount]), iterations: UInt(iterations))
      if let text = try text(bytes.dropFirst(4 + Self.saltCount), key: key) {
        detail = "PBKDF2 with \(KDBXWords.counted(iterations, "iteration"))"
        return text
      }
    }
    guard let text = try text(bytes[...], key: AuthenticatorCrypto.sha256(password)) else { return nil }
    detail = "a key of the old form"
    return text
  }

  private func text(_ sealed: ArraySlice<UInt8>, key: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    let vector = Array(sealed.prefix(Self.vectorCount))
    return try AuthenticatorCrypto.open(sealed.dropFirst(vector.count), key: key, vector: vector)
  }
}
