/// The only purpose of a key. Every other method refuses the key, because a signature or a code of one kind can pass
/// for another. Raw values are stored and never change.
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

  /// The name that people and programs write.
  public var name: String {
    switch self {
    case .ssh: "ssh"
    case .jwt: "jwt"
    case .mac: "mac"
    case .sign: "sign"
    case .totp: "totp"
    }
  }

  /// The kind that all items for this use have, and no other items; nil for a use that items of several kinds can have.
  public var kind: ItemKind? {
    switch self {
    case .ssh: .sshKey
    case .totp: .totp
    case .jwt, .mac, .sign: nil
    }
  }
}

extension ItemKind {
  /// The use that all items of this kind have; nil if each item states its own.
  public var use: KeyUse? {
    switch self {
    case .sshKey: .ssh
    case .totp: .totp
    case .password, .apiKey, .deviceToken, .wifi, .pairingCode, .tlsKey, .certificate, .note, .blob: nil
    }
  }
}
