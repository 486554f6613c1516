/// The signature schemes. None uses SHA-1. All that sets them apart is in their ``facts``.
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

  /// The form in which a digest is signed.
  public enum Encoding: Sendable {
    /// None: the scheme hashes the message itself.
    case message
    case ecdsa, pkcs1, pss
  }

  /// The data in which the schemes differ.
  public struct Facts: Sendable {
    /// The type of key that the scheme is for.
    public let keyType: KeyType
    /// The hash of the message; Ed25519 hashes the message itself.
    public let hash: SignatureHash
    public let encoding: Encoding
    /// The name in JSON Web Algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1).
    public let joseName: String
    /// The name of the algorithm in SSH (RFC 8709 section 6, RFC 5656 section 3.1.2, RFC 8332 section 3); nil for a
    /// scheme that SSH does not use.
    public let sshName: String?
    /// The flag by which an SSH agent's client asks for the scheme (RFC 9987 section 3.6.1); 0 for the only scheme of a
    /// type in SSH, which needs no flag.
    public let agentFlag: UInt32
    /// The sizes of a signature in bytes, as in JSON Web Signatures.
    public let signatureCounts: ClosedRange<Int>

    fileprivate init(
      _ keyType: KeyType, _ hash: SignatureHash, _ encoding: Encoding, jose joseName: String,
      ssh sshName: String? = nil, flag agentFlag: UInt32 = 0, counts signatureCounts: ClosedRange<Int>
    ) {
      (self.keyType, self.hash, self.encoding) = (keyType, hash, encoding)
      (self.joseName, self.sshName, self.agentFlag) = (joseName, sshName, agentFlag)
      self.signatureCounts = signatureCounts
    }
  }

  public var facts: Facts {
    switch self {
    case .ed25519: Facts(.ed25519, .sha512, .message, jose: "EdDSA", ssh: "ssh-ed25519", counts: 64...64)
    case .ecdsaSHA256: Facts(.p256, .sha256, .ecdsa, jose: "ES256", ssh: "ecdsa-sha2-nistp256", counts: 64...64)
    case .ecdsaSHA384: Facts(.p384, .sha384, .ecdsa, jose: "ES384", ssh: "ecdsa-sha2-nistp384", counts: 96...96)
    case .ecdsaSHA512: Facts(.p521, .sha512, .ecdsa, jose: "ES512", ssh: "ecdsa-sha2-nistp521", counts: 132...132)
    case .rsaPKCS1SHA256:
      Facts(.rsa, .sha256, .pkcs1, jose: "RS256", ssh: "rsa-sha2-256", flag: 2, counts: 256...1024)
    case .rsaPKCS1SHA384: Facts(.rsa, .sha384, .pkcs1, jose: "RS384", counts: 256...1024)
    case .rsaPKCS1SHA512:
      Facts(.rsa, .sha512, .pkcs1, jose: "RS512", ssh: "rsa-sha2-512", flag: 4, counts: 256...1024)
    case .rsaPSSSHA256: Facts(.rsa, .sha256, .pss, jose: "PS256", counts: 256...1024)
    case .rsaPSSSHA384: Facts(.rsa, .sha384, .pss, jose: "PS384", counts: 256...1024)
    case .rsaPSSSHA512: Facts(.rsa, .sha512, .pss, jose: "PS512", counts: 256...1024)
    }
  }

  /// The schemes that SSH uses. If an agent's flags ask for two, the first one counts, as in OpenSSH's agent.
  public static let ofSSH: [SignatureScheme] = allCases.filter { $0.facts.sshName != nil }

  /// The type of key that the scheme is for.
  public var keyType: KeyType { facts.keyType }

  /// The scheme with that name in SSH; nil for any other name.
  public init?(sshName: String) {
    guard let scheme = Self.ofSSH.first(where: { $0.facts.sshName == sshName }) else { return nil }
    self = scheme
  }

  /// The scheme with that name in JSON Web Algorithms; nil for any other name.
  public init?(joseName: String) {
    guard let scheme = Self.allCases.first(where: { $0.facts.joseName == joseName }) else { return nil }
    self = scheme
  }
}

/// The hash functions of signatures (FIPS 180-4). The raw value is the name in libgcrypt.
public enum SignatureHash: String, Sendable {
  case sha256, sha384, sha512

  /// The size of a digest in bytes.
  public var count: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }
}
