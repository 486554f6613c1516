/// The reason that a text is no list of revoked tokens, that a list has no text, or that something cannot be revoked.
/// No token may then be assumed not to be revoked.
public struct RevocationProblem: Error, Hashable, Sendable {
  /// The whole sentence, without a period, ready for a person; it quotes nothing.
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
