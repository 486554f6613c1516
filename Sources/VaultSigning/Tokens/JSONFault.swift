/// The reason why bytes are not a JSON object as it is read here. It completes "the … ", and quotes nothing.
struct JSONFault: Error, Hashable, Sendable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
