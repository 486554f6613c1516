/// The reason why a token is not accepted.
public struct TokenFault: Error, Hashable, Sendable {
  /// The kind of fault, for programs.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// No token in its compact form, or one with parts that are refused.
    case malformed
    /// Signed by another algorithm than the item's key has, or said to be.
    case algorithm
    /// Not signed by the item's key.
    case signature
    /// Signed, but its claims are not as they must be, or not the item's.
    case claims
    /// Its time has passed.
    case expired
    /// Its time has not come, or its maker's clock is ahead.
    case notYetValid
    /// It, or its subject up to some time, was revoked.
    case revoked
  }

  public let code: Code
  /// The whole sentence, without a period, ready for a person: texts from the token in it are made printable and short.
  public let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The fault of a token that is good but for its revocation.
  public static var revoked: TokenFault { TokenFault(.revoked, "the token was revoked") }

  static func malformed(_ reason: String) -> TokenFault { TokenFault(.malformed, "this is no token: \(reason)") }

  static func notBase64(_ part: String) -> TokenFault { .malformed("its \(part) is not base64url without padding") }

  static func claims(_ reason: String) -> TokenFault { TokenFault(.claims, reason) }
}
