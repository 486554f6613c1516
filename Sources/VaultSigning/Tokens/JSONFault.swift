/// The reason that bytes are not a JSON object in the sense of ``JSONObject``. The text follows the name of the bytes
/// in a sentence, and quotes nothing.
struct JSONFault: Error, Hashable, Sendable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
