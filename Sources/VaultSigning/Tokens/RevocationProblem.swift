/// The reason why a text is no list of revoked tokens, a list has no text, or something cannot be revoked. Nothing may be taken
/// as not revoked then.
public struct RevocationProblem: Error, Hashable, Sendable {
  /// The whole sentence, without a period, ready for a person; it quotes nothing.
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
