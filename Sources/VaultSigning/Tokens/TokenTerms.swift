internal import VaultModel

/// The terms on which an item makes and accepts tokens, as its attributes fix them.
///
/// - `iss`: the issuer that every token names.
/// - `aud`: the audience, or several separated by spaces.
/// - `max-ttl`: the longest life, as in `15m`, `1h`, `90d`; one hour without it.
/// - `claims`: the names of the private claims that a caller may give, separated by spaces; none without it.
/// - `sub`: a pattern that subjects must fit, in which `*` stands for characters other than `/`, `**` for any, `?` for one
///   other than `/`. Without a star or question mark it is the one subject, and the default. Without it any subject
///   may be given, or none.
public struct TokenTerms: Sendable {
  /// The attributes that are read; all others are ignored.
  public static let attributeNames = ["iss", "aud", "max-ttl", "claims", "sub"]
  /// The life of tokens, in seconds, that the attribute `max-ttl` does not say.
  public static let usualLife: Int64 = 3600
  /// The longest that `max-ttl` may say, in seconds: 100 years, so that all times stay exact in any reader's numbers.
  public static let greatestLife: Int64 = 100 * 365 * 86_400
  /// The claims that a token's maker alone sets (RFC 7519 section 4.1).
  public static let registeredClaims = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]

  /// The issuer; nil when none is fixed.
  public let issuer: String?
  /// The audiences; empty when none is fixed.
  public let audiences: [String]
  /// The longest life of a token, in seconds.
  public let longestLife: Int64
  /// The names of the private claims that a caller may give.
  public let claimNames: [String]

  let subjects: Glob?
  let subjectPattern: String?

  /// Reads the terms from an item's attributes.
  ///
  /// - Throws: ``TokenProblem`` that names the attribute at fault.
  public init(attributes: [String: String]) throws(TokenProblem) {
    for name in Self.attributeNames where name != "claims" {
      if let text = attributes[name], text.allSatisfy({ $0 == " " }) {
        throw .attribute(name, "is empty; give it a value or remove it")
      }
    }
    issuer = attributes["iss"]
    audiences = try Self.words("aud", attributes)
    longestLife = try Self.life(attributes["max-ttl"])
    claimNames = try Self.words("claims", attributes)
    for name in claimNames where Self.registeredClaims.contains(name) {
      throw .attribute("claims", "names '\(name)', which no caller can give: tokens get it from the vault")
    }
    subjectPattern = attributes["sub"]
    subjects = subjectPattern.map { Glob($0) }
  }

  /// Throws what ``init(attributes:)`` would, for an item that is about to be stored.
  public static func validate(_ attributes: [String: String]) throws(TokenProblem) {
    _ = try TokenTerms(attributes: attributes)
  }

  private static func words(_ name: String, _ attributes: [String: String]) throws(TokenProblem) -> [String] {
    var words: [String] = []
    for word in (attributes[name] ?? "").utf8.split(separator: UInt8(ascii: " ")) {
      let word = String(Substring(word))
      if words.contains(where: { $0.isSame(as: word) }) {
        throw .attribute(name, "has \(Printable.quoted(word)) twice")
      }
      words.append(word)
    }
    return words
  }

  private static func life(_ text: String?) throws(TokenProblem) -> Int64 {
    guard let text else { return usualLife }
    guard let life = Seconds.parse(text), life >= 1 else {
      throw .attribute("max-ttl", "is \(Printable.quoted(text)), which is no duration like 15m, 1h or 90d")
    }
    guard life <= greatestLife else { throw .attribute("max-ttl", "is longer than 100 years") }
    return life
  }

  /// True when a caller may give the private claim `name`.
  func allows(_ name: String) -> Bool { claimNames.contains { $0.isSame(as: name) } }
}

extension String {
  /// True when both are the same scalars. Swift's own comparison takes canonically equivalent texts for equal, which RFC 7519
  /// section 7.3 and other verifiers do not.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
