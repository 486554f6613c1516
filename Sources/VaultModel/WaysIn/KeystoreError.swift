/// The reason that a keystore did not do what it was asked to do.
public struct KeystoreError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable {
    /// The keystore cannot be reached now, but perhaps later.
    case unavailable
    /// The keystore has no such key.
    case notFound = "not-found"
    /// The keystore, or a rule of this program, does not allow the operation.
    case refused
    /// The keystore holds another key than the one put there.
    case damaged
  }

  public let code: Code
  /// The explanation for a person. It contains no secret.
  public let reason: String

  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
