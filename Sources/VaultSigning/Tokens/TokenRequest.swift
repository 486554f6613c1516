/// A caller's wishes for one token, which ``TokenClaims`` compares with an item's terms.
public struct TokenRequest: Hashable, Sendable {
  /// The subject; nil for the subject that the terms fix, or for none.
  public var subject: String?
  /// The life in seconds; nil for the longest that the terms allow.
  public var life: Int64?
  /// The private claims, as one JSON object in UTF-8; nil for none.
  public var claims: [UInt8]?

  public init(subject: String? = nil, life: Int64? = nil, claims: [UInt8]? = nil) {
    self.subject = subject
    self.life = life
    self.claims = claims
  }
}
