/// The signature schemes. None uses SHA-1.
public enum SignatureScheme: String, CaseIterable, Sendable {
  /// Ed25519 (RFC 8032): 64 bytes.
  case ed25519
  /// ECDSA (FIPS 186-4), deterministic (RFC 6979), as r followed by s, as in JWS (RFC 7518 section 3.4). SHA-256 is
  /// only for P-256, SHA-384 only for P-384, and SHA-512 only for P-521.
  case ecdsaSHA256, ecdsaSHA384, ecdsaSHA512
  /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2); the signature is as long as the modulus.
  case rsaPKCS1SHA256, rsaPKCS1SHA384, rsaPKCS1SHA512
  /// RSASSA-PSS (RFC 8017 section 8.1) with MGF1 of the same hash and a salt as long as the digest.
  case rsaPSSSHA256, rsaPSSSHA384, rsaPSSSHA512

  /// The type of key that the scheme is for.
  public var keyType: KeyType {
    switch self {
    case .ed25519: .ed25519
    case .ecdsaSHA256: .p256
    case .ecdsaSHA384: .p384
    case .ecdsaSHA512: .p521
    case .rsaPKCS1SHA256, .rsaPKCS1SHA384, .rsaPKCS1SHA512, .rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512: .rsa
    }
  }

  /// The hash of the message; Ed25519 hashes the message itself.
  var hash: SignatureHash {
    switch self {
    case .ecdsaSHA256, .rsaPKCS1SHA256, .rsaPSSSHA256: .sha256
    case .ecdsaSHA384, .rsaPKCS1SHA384, .rsaPSSSHA384: .sha384
    case .ed25519, .ecdsaSHA512, .rsaPKCS1SHA512, .rsaPSSSHA512: .sha512
    }
  }
}

extension KeyType {
  /// The schemes for such a key, the usual one first.
  public var schemes: [SignatureScheme] { SignatureScheme.allCases.filter { $0.keyType == self } }
}
