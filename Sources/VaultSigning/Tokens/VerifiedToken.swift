/// The content of a token whose signature, times and claims have all been verified.
public struct VerifiedToken: Hashable, Sendable {
  /// All claims as a JSON object in the order of the token, without white space and unnecessary escapes.
  public let claims: String
  /// The subject, if the token has one.
  public let subject: String?
  /// The identifier of the token, the claim `jti`.
  public let identifier: String
  /// The first second in which the token is no longer valid, Unix seconds.
  public let expiresAt: Int64
  /// The second in which the token was made, Unix seconds.
  public let issuedAt: Int64
  /// The key's name in the header, if there is one.
  public let keyID: String?
  /// The names of private claims that the item's terms do not let a caller give: another maker signed with the same
  /// key, or the terms used to be wider. Anyone who decides by such a claim should know this.
  public let unexpectedClaims: [String]
}
