/// The explanations in the replies of helper programs, which no reader may trust.
enum HelperReason {
  /// The first 1000 characters of a text, which are all of it that a person sees.
  static func cut(_ text: String) -> String { String(text.unicodeScalars.prefix(1000)) }
}
