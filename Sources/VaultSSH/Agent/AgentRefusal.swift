/// The reason that an agent refuses a well-formed request. The text quotes nothing from the request.
public struct AgentRefusal: Error, Hashable, Sendable {
  /// The sentence for a log or a person.
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
