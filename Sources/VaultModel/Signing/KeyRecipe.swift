/// The keys that the vault makes, and that nobody has seen. A raw value is the name on the command line. All that sets
/// them apart is in their ``facts``.
public enum KeyRecipe: String, CaseIterable, Sendable {
  case ed25519, p256, rsa3072, rsa4096
  /// Plain bytes for keyed hashes.
  case hmac = "hmac256"

  /// The data in which the keys differ.
  public struct Facts: Sendable {
    /// The type of a private key; nil for plain bytes.
    public let type: KeyType?
    /// The size in bits.
    public let bits: Int
    /// The style in the daemon's interface.
    public let style: String
    /// The length in the daemon's interface; nil for a style of one size.
    public let length: Int?
    /// The time to make the key and to check it as a given key is checked, in microseconds as in
    /// ``KeyType/Facts/checkTime``; nil for a key that takes a second or more, and is made by another process.
    public let time: Int?
  }

  public var facts: Facts {
    switch self {
    case .ed25519: Facts(type: .ed25519, bits: 256, style: "ed25519", length: nil, time: 200)
    case .p256: Facts(type: .p256, bits: 256, style: "p256", length: nil, time: 2100)
    case .rsa3072: Facts(type: .rsa, bits: 3072, style: "rsa", length: 3072, time: nil)
    case .rsa4096: Facts(type: .rsa, bits: 4096, style: "rsa", length: 4096, time: nil)
    case .hmac: Facts(type: nil, bits: 256, style: "hmac", length: nil, time: 0)
    }
  }

  /// The key of a style in the daemon's interface, the smallest if no length is given; nil for an unknown one.
  public init?(style: String, length: Int?) {
    let found = Self.allCases.first { recipe in
      let facts = recipe.facts
      return facts.style == style && (length == nil || facts.length == length)
    }
    guard let found else { return nil }
    self = found
  }

  /// True for a key that takes a second or more to make.
  public var takesLong: Bool { facts.time == nil }

  /// True if such a key can have this use.
  public func suits(_ use: KeyUse) -> Bool {
    guard let type = facts.type else { return use.facts.takesBytes }
    return use.facts.takesPrivateKeys && (use != .jwt || type.facts.tokenScheme != nil)
  }
}
