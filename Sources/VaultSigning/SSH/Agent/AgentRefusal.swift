/// The reason why an agent does not do what a well-formed request asks for. The text quotes nothing of the request.
public struct AgentRefusal: Error, Hashable, Sendable {
  /// The sentence for a log or a person.
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
