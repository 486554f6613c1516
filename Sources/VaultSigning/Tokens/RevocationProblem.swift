/// The reason that a text is not a list of revoked tokens, that a list cannot be written as a text, or that something
/// cannot be revoked. After such an error, any token may be a revoked one.
public struct RevocationProblem: Error, Hashable, Sendable {
  /// The whole sentence, without a period, ready for a person; it quotes nothing.
  public let reason: String

  public init(_ reason: String) { self.reason = reason }
}
