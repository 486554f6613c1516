/// The reason that no token can be made: an item's attribute or a caller's request is invalid.
public struct TokenProblem: Error, Hashable, Sendable {
  /// The part that is at fault.
  public enum Part: Hashable, Sendable {
    /// The attribute of this name, which the owner of the item has to change.
    case attribute(String)
    /// The requested subject.
    case subject
    /// The requested life.
    case life
    /// The requested claims.
    case claims
    /// The identifier, which the program itself made.
    case identifier
  }

  public let part: Part
  /// The whole sentence, without a period, ready for a person; texts from outside are made printable.
  public let reason: String

  init(_ part: Part, _ reason: String) {
    self.part = part
    self.reason = reason
  }

  static func attribute(_ name: String, _ reason: String) -> TokenProblem {
    TokenProblem(.attribute(name), "attribute '\(name)' \(reason)")
  }
}
