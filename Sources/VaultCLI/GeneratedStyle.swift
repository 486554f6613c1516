internal import ArgumentParser
internal import VaultWire

/// The kinds of secrets that the daemon draws when it is asked for a new one.
enum GeneratedStyle: String, ExpressibleByArgument, CaseIterable {
  case password
  case phrase
  case ed25519
  case p256
  case rsa3072
  case rsa4096
  case hmac256

  /// True for a key, which is made for a use.
  var isKey: Bool { self != .password && self != .phrase }

  /// As the daemon knows it.
  var recipe: Wire.Generator {
    switch self {
    case .password, .phrase, .ed25519, .p256: Wire.Generator(style: rawValue)
    case .rsa3072: Wire.Generator(style: "rsa", length: 3072)
    case .rsa4096: Wire.Generator(style: "rsa", length: 4096)
    case .hmac256: Wire.Generator(style: "hmac")
    }
  }
}
