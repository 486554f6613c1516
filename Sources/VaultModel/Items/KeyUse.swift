/// The only purpose of a key. The methods for other purposes refuse the key, because a signature or a code of one kind
/// can pass for another. Raw values are stored and never change.
public enum KeyUse: UInt8, Named, Sendable {
  /// Logins and signatures by SSH, through the ssh-agent.
  case ssh = 1
  /// JSON Web Tokens (RFC 7519).
  case jwt = 2
  /// Keyed hashes: HMAC (RFC 2104).
  case mac = 3
  /// Signatures of any message.
  case sign = 4
  /// One-time codes (RFC 4226, RFC 6238).
  case totp = 5

  /// The data in which the uses differ.
  public struct Facts: Sendable {
    /// The name that people and programs write.
    public let name: String
    /// The kind that all items for this use have, and no other items; nil for a use that items of several kinds can
    /// have.
    public let kind: ItemKind?
    /// True if a private key can have this use. Only such an item can have a public half.
    public let takesPrivateKeys: Bool
    /// True if a key of plain bytes can have this use.
    public let takesBytes: Bool
    /// True if nobody outside the vault needs the key itself: its public half or its keyed hashes suffice. Only such a
    /// key can be never read.
    public let mayBeNeverRead: Bool
  }

  public var facts: Facts {
    switch self {
    case .ssh:
      Facts(name: "ssh", kind: .sshKey, takesPrivateKeys: true, takesBytes: false, mayBeNeverRead: true)
    case .jwt: Facts(name: "jwt", kind: nil, takesPrivateKeys: true, takesBytes: true, mayBeNeverRead: true)
    case .mac: Facts(name: "mac", kind: nil, takesPrivateKeys: false, takesBytes: true, mayBeNeverRead: true)
    case .sign: Facts(name: "sign", kind: nil, takesPrivateKeys: true, takesBytes: false, mayBeNeverRead: true)
    case .totp: Facts(name: "totp", kind: .totp, takesPrivateKeys: false, takesBytes: false, mayBeNeverRead: false)
    }
  }

  /// The name that people and programs write.
  public var name: String { facts.name }

  /// The kind that all items for this use have, and no other items; nil for a use that items of several kinds can have.
  public var kind: ItemKind? { facts.kind }
}
