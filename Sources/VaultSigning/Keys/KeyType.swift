/// The types of keys that sign.
public enum KeyType: String, CaseIterable, Sendable {
  /// Ed25519 (RFC 8032).
  case ed25519
  /// ECDSA with NIST's curves (FIPS 186-4 appendix D.1.2).
  case p256, p384, p521
  /// RSA (RFC 8017), of 2048 to 8192 bits.
  case rsa
}
