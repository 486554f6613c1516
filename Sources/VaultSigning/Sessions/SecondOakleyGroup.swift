internal import CGcrypt
internal import VaultBytes
internal import VaultCore

/// Key agreement in the second Oakley group (RFC 2409 section 6.2): Diffie and Hellman's protocol modulo a safe prime
/// of 1024 bits, with the generator 2.
///
/// The group is weak by today's measure. The Secret Service defines no other. The group hides secrets from programs
/// that store messages of the bus, not from an attacker with means.
struct SecondOakleyGroup: ~Copyable {
  /// The size of the prime, of a public key and of a shared secret in bytes.
  static let count = 128
  /// The size of a private exponent in bits. The group's strength is below 112 bits, and an exponent of twice as many
  /// bits is enough (NIST SP 800-56A revision 3, section 5.6.1.1.1). An exponent of full size takes four times as long.
  static let exponentBits = 256

  /// The prime in big-endian digits: 2^1024 − 2^960 − 1 + 2^64 · (⌊2^894 π⌋ + 129093).
  static let prime: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC9, 0x0F, 0xDA, 0xA2, 0x21, 0x68, 0xC2, 0x34,
    0xC4, 0xC6, 0x62, 0x8B, 0x80, 0xDC, 0x1C, 0xD1, 0x29, 0x02, 0x4E, 0x08, 0x8A, 0x67, 0xCC, 0x74,
    0x02, 0x0B, 0xBE, 0xA6, 0x3B, 0x13, 0x9B, 0x22, 0x51, 0x4A, 0x08, 0x79, 0x8E, 0x34, 0x04, 0xDD,
    0xEF, 0x95, 0x19, 0xB3, 0xCD, 0x3A, 0x43, 0x1B, 0x30, 0x2B, 0x0A, 0x6D, 0xF2, 0x5F, 0x14, 0x37,
    0x4F, 0xE1, 0x35, 0x6D, 0x6D, 0x51, 0xC2, 0x45, 0xE4, 0x85, 0xB5, 0x76, 0x62, 0x5E, 0x7E, 0xC6,
    0xF4, 0x4C, 0x42, 0xE9, 0xA6, 0x37, 0xED, 0x6B, 0x0B, 0xFF, 0x5C, 0xB6, 0xF4, 0x06, 0xB7, 0xED,
    0xEE, 0x38, 0x6B, 0xFB, 0x5A, 0x89, 0x9F, 0xA5, 0xAE, 0x9F, 0x24, 0x11, 0x7C, 0x4B, 0x1F, 0xE6,
    0x49, 0x28, 0x66, 0x51, 0xEC, 0xE6, 0x53, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
  ]

  private let modulus: Number
  private let generator: Number

  init() throws(SigningError) {
    let modulus = try Self.prime.withSpan { (digits: RawSpan) throws(SigningError) in try Number(secret: digits) }
    let generator = try [2].withSpan { (digits: RawSpan) throws(SigningError) in try Number(secret: digits) }
    self.modulus = modulus
    self.generator = generator
  }

  /// A random exponent above 0.
  static func newExponent() throws(SigningError) -> Number {
    while true {
      let exponent = try Number.random(bitCount: exponentBits)
      if exponent.compare(0) > 0 { return exponent }
    }
  }

  /// The public key of an exponent, with leading zeros up to ``count`` bytes.
  func publicKey(of exponent: borrowing Number) throws(SigningError) -> [UInt8] {
    guard let digits = try generator.power(exponent, modulus).digits(count: Self.count) else {
      throw SigningError("libgcrypt: a remainder is too long")
    }
    return digits
  }

  /// Reads a peer's public key, big-endian digits with any number of leading zeros. Nil unless the key lies from 2 to
  /// the prime minus 2: with any other key, anybody can tell the shared secret (NIST SP 800-56A revision 3, section
  /// 5.6.2.3.1).
  func peer(_ digits: RawSpan) throws(SigningError) -> Number? {
    let start = digits.byteOffsets.first { digits.byte($0) != 0 } ?? digits.byteCount
    let digits = digits.extracting(droppingFirst: start)
    guard digits.byteCount <= Self.count else { return nil }
    let key = try Number(secret: digits)
    guard key.compare(1) > 0, key.compare(try modulus.minusOne()) < 0 else { return nil }
    return key
  }

  /// The secret shared with the owner of a public key, with leading zeros up to ``count`` bytes.
  func sharedSecret(with peer: borrowing Number, _ exponent: borrowing Number) throws(SigningError) -> SecureBytes {
    var secret = SecretWriter(capacity: Self.count)
    secret.number(try peer.power(exponent, modulus), count: Self.count)
    return secret.finish()
  }
}
