/// Clauses joined into sentences, with the punctuation between them.
public enum Clauses {
  /// A clause with its consequence after a semicolon. If the clause ends as a question or another sentence, the
  /// consequence becomes a sentence of its own.
  public static func joined(_ text: String, _ more: String?) -> String {
    guard let more else { return text }
    guard isEnded(text) else { return "\(text); \(more)" }
    return "\(text) \(more.prefix(1).uppercased())\(more.dropFirst())"
  }

  /// The cause of a state, to append to a sentence: `by password`, or a sentence in brackets.
  public static func cause(_ text: String) -> String {
    let text = Printable.text(text)
    return text.hasPrefix("by ") ? " \(text)" : " (\(text))"
  }

  /// The proofs that an item requires, worded to follow the verb "requires".
  public static func required(_ name: String) -> String {
    name == "password" ? "the password" : Printable.text(name)
  }

  /// A sentence: the clause with a period after it, unless it has its own punctuation.
  public static func ended(_ text: String) -> String { isEnded(text) ? text : text + "." }

  /// True if the text ends with a mark of its own. A mark after a blank is not counted: the text is
  /// then about that mark.
  private static func isEnded(_ text: String) -> Bool {
    guard let last = text.last, "?!.".contains(last) else { return false }
    return text.dropLast().last != " "
  }
}
