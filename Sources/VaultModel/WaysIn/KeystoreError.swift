/// The reason why a keystore did not do what it was asked.
public struct KeystoreError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable {
    /// The keystore cannot be reached now; it may be later.
    case unavailable
    /// It holds no such key.
    case notFound = "not-found"
    /// It, or a rule of ours, does not allow it.
    case refused
    /// The keystore holds another key than the one that was put there.
    case damaged
  }

  public let code: Code
  /// For a person; no secret.
  public let reason: String

  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
