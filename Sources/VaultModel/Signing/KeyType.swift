/// The types of keys that sign. All that sets them apart as data is in their ``facts``; code that differs goes by
/// ``Family``.
public enum KeyType: String, CaseIterable, Sendable {
  /// Ed25519 (RFC 8032).
  case ed25519
  /// ECDSA with NIST's curves (FIPS 186-4 appendix D.1.2).
  case p256, p384, p521
  /// RSA (RFC 8017), of 2048 to 8192 bits.
  case rsa

  /// The types that have the same kinds of numbers, and so the same forms and computations.
  public enum Family: Hashable, Sendable {
    case ed25519
    case curve(Curve)
    case rsa
  }

  /// The library that computes with private keys.
  public enum Library: Sendable {
    /// libsodium, which wipes the traces of its computations.
    case sodium
    /// libgcrypt, which leaves traces on the stack.
    case gcrypt
  }

  /// The data in which the types differ.
  public struct Facts: Sendable {
    public let family: Family
    public let library: Library
    /// The sizes of usable keys in bits: of the modulus of an RSA key, and of the field for other keys. A smaller RSA
    /// modulus can be factored at great expense; a larger one only costs time.
    public let sizes: ClosedRange<Int>
    /// The sizes of new keys in bits. For RSA they begin with the size that NIST (SP 800-57 part 1) considers
    /// sufficient beyond 2030.
    public let newSizes: ClosedRange<Int>
    /// The size in bits of the largest key that signs in the process that answers callers; a signature with a larger
    /// key would keep other callers waiting too long, so another process makes it.
    public let mostBitsAtOnce: Int
    /// The name in SSH (RFC 8709 section 4, RFC 5656 section 3.1, RFC 4253 section 6.6).
    public let sshName: String
    /// The number of fields after the name in a public key blob of SSH.
    public let sshFields: Int
    /// The scheme of a signature if the caller names none.
    public let usualScheme: SignatureScheme
    /// The scheme by which tokens are signed; nil for a type that signs no tokens.
    public let tokenScheme: SignatureScheme?
    /// The time to check a private key, in microseconds of one core of a small server, on which it was measured. For
    /// RSA it is the time for a key that signs in the process that answers callers.
    public let checkTime: Int
  }

  public var facts: Facts {
    switch self {
    case .ed25519:
      Facts(
        family: .ed25519, library: .sodium, sizes: 256...256, newSizes: 256...256, mostBitsAtOnce: 256,
        sshName: "ssh-ed25519", sshFields: 1, usualScheme: .ed25519, tokenScheme: .ed25519, checkTime: 150)
    case .p256:
      Facts(
        family: .curve(.p256), library: .gcrypt, sizes: 256...256, newSizes: 256...256, mostBitsAtOnce: 256,
        sshName: "ecdsa-sha2-nistp256", sshFields: 2, usualScheme: .ecdsaSHA256, tokenScheme: .ecdsaSHA256,
        checkTime: 1800)
    case .p384:
      Facts(
        family: .curve(.p384), library: .gcrypt, sizes: 384...384, newSizes: 384...384, mostBitsAtOnce: 384,
        sshName: "ecdsa-sha2-nistp384", sshFields: 2, usualScheme: .ecdsaSHA384, tokenScheme: nil, checkTime: 4000)
    case .p521:
      Facts(
        family: .curve(.p521), library: .gcrypt, sizes: 521...521, newSizes: 521...521, mostBitsAtOnce: 521,
        sshName: "ecdsa-sha2-nistp521", sshFields: 2, usualScheme: .ecdsaSHA512, tokenScheme: nil, checkTime: 4500)
    case .rsa:
      Facts(
        family: .rsa, library: .gcrypt, sizes: 2048...8192, newSizes: 3072...8192, mostBitsAtOnce: 2048,
        sshName: "ssh-rsa", sshFields: 2, usualScheme: .rsaPSSSHA256, tokenScheme: .rsaPKCS1SHA256, checkTime: 4600)
    }
  }

  /// The type with that name in SSH; nil for a name of another type.
  public init?(sshName: String) {
    guard let type = Self.allCases.first(where: { $0.facts.sshName == sshName }) else { return nil }
    self = type
  }

  /// The schemes for such a key, the shortest hash first.
  public var schemes: [SignatureScheme] { SignatureScheme.allCases.filter { $0.keyType == self } }

  /// The scheme that an SSH agent's flags ask for (RFC 9987 section 3.6.1); nil if they ask for none of this type.
  public func scheme(agentFlags: UInt32) -> SignatureScheme? {
    SignatureScheme.ofSSH.first { scheme in
      let facts = scheme.facts
      return facts.keyType == self && (facts.agentFlag == 0 || facts.agentFlag & agentFlags != 0)
    }
  }
}
