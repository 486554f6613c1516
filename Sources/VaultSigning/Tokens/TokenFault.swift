/// The reason that a token is not accepted.
public struct TokenFault: Error, Hashable, Sendable {
  /// The kind of fault, for programs.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// The text is not a token in compact form, or is a token with refused parts.
    case malformed
    /// The token names an algorithm other than that of the item's key.
    case algorithm
    /// The token is not signed with the item's key.
    case signature
    /// The token is signed, but its claims are invalid or do not fit the item.
    case claims
    /// The token has expired.
    case expired
    /// The token is not valid yet, or the clock of its maker is ahead.
    case notYetValid
    /// The token, or its subject up to some time, was revoked.
    case revoked
  }

  public let code: Code
  /// The whole sentence, without a period, ready for a person; texts from the token are made printable and short.
  public let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The fault of a token that is valid except for its revocation.
  public static var revoked: TokenFault { TokenFault(.revoked, "the token was revoked") }

  static func malformed(_ reason: String) -> TokenFault { TokenFault(.malformed, "this is not a token: \(reason)") }

  static func notBase64(_ part: String) -> TokenFault { .malformed("its \(part) is not base64url without padding") }

  static func claims(_ reason: String) -> TokenFault { TokenFault(.claims, reason) }
}
