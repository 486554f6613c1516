/// The reason that an operation with a key failed. The text names no content.
public struct SigningError: Error, Hashable, Sendable {
  public let reason: String

  public init(_ reason: String) { self.reason = reason }

  /// Makes the error for a key that cannot be read.
  public init(_ error: KeyError) { self.init(error.reason) }
}
