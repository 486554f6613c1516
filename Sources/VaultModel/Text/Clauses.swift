/// Clauses put together to sentences, with the punctuation that stands between them.
public enum Clauses {
  /// A clause with what follows from it, behind a semicolon. Behind a question, or another sentence, that is a sentence of its
  /// own.
  public static func joined(_ text: String, _ more: String?) -> String {
    guard let more else { return text }
    guard isEnded(text) else { return "\(text); \(more)" }
    return "\(text) \(more.prefix(1).uppercased())\(more.dropFirst())"
  }

  /// A sentence: the clause with a stop behind it, unless it has its own.
  public static func ended(_ text: String) -> String { isEnded(text) ? text : text + "." }

  /// A mark behind a blank is one that is spoken of.
  private static func isEnded(_ text: String) -> Bool {
    guard let last = text.last, "?!.".contains(last) else { return false }
    return text.dropLast().last != " "
  }
}
