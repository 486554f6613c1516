internal import VaultModel

/// The terms on which an item makes and accepts tokens, set by its attributes.
///
/// - `iss`: the issuer that every token names.
/// - `aud`: the audience, or several separated by spaces.
/// - `max-ttl`: the longest life, such as `15m`, `1h`, `90d`; one hour by default.
/// - `claims`: the names of the private claims that a caller may give, separated by spaces; none by default.
/// - `sub`: a pattern that subjects must match, in which `*` stands for characters other than `/`, `**` for any, `?`
///   for one character other than `/`. Without a star or question mark it is the only allowed subject, and the default.
///   If the attribute is missing, a caller may give any subject, or none.
public struct TokenTerms: Sendable {
  /// The attributes that are read; all others are ignored.
  public static let attributeNames = ["iss", "aud", "max-ttl", "claims", "sub"]
  /// The life of tokens in seconds if there is no attribute `max-ttl`.
  public static let usualLife: Int64 = 3600
  /// The highest allowed `max-ttl` in seconds: 100 years, so that every reader can represent all times exactly.
  public static let greatestLife: Int64 = 100 * 365 * 86_400
  /// The claims that only the maker of a token sets (RFC 7519 section 4.1).
  public static let registeredClaims = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]

  /// The issuer; nil if none is fixed.
  public let issuer: String?
  /// The audiences; empty if none is fixed.
  public let audiences: [String]
  /// The longest life of a token in seconds.
  public let longestLife: Int64
  /// The names of the private claims that a caller may give.
  public let claimNames: [String]

  let subjects: Glob?
  let subjectPattern: String?

  /// Reads the terms from an item's attributes.
  ///
  /// - Throws: ``TokenProblem`` that names the invalid attribute.
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

  /// Checks the attributes of an item that is about to be stored; throws the errors of ``init(attributes:)``.
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
    guard let life = Seconds.parse(text) else {
      throw .attribute("max-ttl", "is \(Printable.quoted(text)), which is not a duration like 15m, 1h or 90d")
    }
    guard life >= 1 else { throw .attribute("max-ttl", "is shorter than a second") }
    guard life <= greatestLife else { throw .attribute("max-ttl", "is longer than 100 years") }
    return life
  }

  /// True if the attribute `sub` stands for several subjects.
  var hasSubjectPattern: Bool {
    subjectPattern?.utf8.contains { [UInt8(ascii: "*"), UInt8(ascii: "?")].contains($0) } ?? false
  }

  /// Checks that a token of these terms can have the subject.
  ///
  /// - Throws: ``TokenProblem`` that quotes the subject and the pattern.
  public func check(subject: String) throws(TokenProblem) {
    guard let subjects, !subjects.matches(subject) else { return }
    throw TokenProblem(
      .subject,
      "the subject \(Printable.quoted(subject)) does not fit the item's \(Printable.quoted(subjectPattern ?? ""))")
  }

  /// True if a caller may give the private claim `name`.
  func allows(_ name: String) -> Bool { claimNames.contains { $0.isSame(as: name) } }
}

extension String {
  /// True if both texts are the same scalars. Swift's own comparison considers canonically equivalent texts equal,
  /// unlike RFC 7519 section 7.3 and other verifiers.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
