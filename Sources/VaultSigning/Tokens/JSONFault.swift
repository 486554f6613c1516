/// The reason that bytes are not a JSON object in the sense of ``JSONObject``. It completes a sentence "the …
/// " and quotes nothing.
struct JSONFault: Error, Hashable, Sendable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
