/// The content of a token whose signature, times and claims have all been checked.
public struct VerifiedToken: Hashable, Sendable {
  /// All claims as a JSON object in the order of the token, without white space and with no escape that is not needed.
  public let claims: String
  /// The subject, if it has one.
  public let subject: String?
  /// Its own name, the claim `jti`.
  public let identifier: String
  /// The first second in which it is no longer valid, in Unix seconds.
  public let expiresAt: Int64
  /// The second in which it was made, in Unix seconds.
  public let issuedAt: Int64
  /// The key's name in its header, if it has one.
  public let keyID: String?
  /// The names of private claims that the item's terms do not let a caller give: another maker signed with the same key, or
  /// the terms were wider once. Whoever decides by such a claim should know.
  public let unexpectedClaims: [String]
}
