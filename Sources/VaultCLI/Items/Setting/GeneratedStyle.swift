internal import ArgumentParser
internal import VaultModel
internal import VaultWire

/// The kinds of secrets that the daemon can generate.
enum GeneratedStyle: String, ExpressibleByArgument, CaseIterable {
  case password
  case phrase
  case ed25519
  case p256
  case rsa3072
  case rsa4096
  case hmac256

  /// The styles whose secrets may be printed.
  static let printed = allCases.filter { !$0.isKey }

  /// The names of all styles, separated by commas.
  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// The styles of keys that an item with this use can have.
  static func keys(for use: KeyUse) -> [GeneratedStyle] {
    switch use {
    case .ssh, .sign: [.ed25519, .p256, .rsa3072, .rsa4096]
    case .jwt: [.ed25519, .p256, .rsa3072, .rsa4096, .hmac256]
    case .mac: [.hmac256]
    case .totp: []
    }
  }

  /// The advice after a style that does not fit a use; nil for a use without any style.
  static func advice(for use: KeyUse) -> String? {
    let styles = keys(for: use).map(\.rawValue)
    guard !styles.isEmpty else { return nil }
    return "for \(use.name) give --generate \(styles.count > 1 ? "one of " : "")\(styles.joined(separator: ", "))"
  }

  /// True for a key, which is made for a use.
  var isKey: Bool { self != .password && self != .phrase }

  /// The style in the form of the daemon's interface.
  var recipe: Wire.Generator {
    switch self {
    case .password, .phrase, .ed25519, .p256: Wire.Generator(style: rawValue)
    case .rsa3072: Wire.Generator(style: "rsa", length: 3072)
    case .rsa4096: Wire.Generator(style: "rsa", length: 4096)
    case .hmac256: Wire.Generator(style: "hmac")
    }
  }
}
