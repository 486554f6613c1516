/// The reason why libgcrypt did not do what it was asked for. The text is the library's own and names no content.
public struct SigningError: Error, Hashable, Sendable {
  public let reason: String

  public init(_ reason: String) { self.reason = reason }

  /// The same for a key that cannot be read.
  public init(_ error: KeyError) { self.init(error.reason) }
}
