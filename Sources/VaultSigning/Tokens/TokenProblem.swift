/// The reason why no token can be made: an item's attribute or a caller's request is not as it must be.
public struct TokenProblem: Error, Hashable, Sendable {
  /// The part that is at fault.
  public enum Part: Hashable, Sendable {
    /// The attribute of this name: whoever keeps the item has to change it.
    case attribute(String)
    /// The subject that was asked for.
    case subject
    /// The life that was asked for.
    case life
    /// The claims that were asked for.
    case claims
    /// The identifier that the program itself made.
    case identifier
  }

  public let part: Part
  /// The whole sentence, without a period, ready for a person: texts from elsewhere in it are made printable.
  public let reason: String

  init(_ part: Part, _ reason: String) {
    self.part = part
    self.reason = reason
  }

  static func attribute(_ name: String, _ reason: String) -> TokenProblem {
    TokenProblem(.attribute(name), "attribute '\(name)' \(reason)")
  }
}
