/// Text from elsewhere, made safe for a terminal and for a log.
///
/// An item's name, a daemon's reason, a path, a line of a settings file: whoever chose them may have put in what makes a
/// terminal write the clipboard, what begins a line that looks like the program's own, shows text in another order than it
/// is stored in, or shows nothing at all. Every such character is spelled out, as in `\u{1b}`.
public enum Printable {
  /// The whole text on one line.
  public static func line(_ text: String) -> String {
    if isPlain(text) { return text }
    return text.unicodeScalars.reduce(into: "") { $0 += spelled($1) }
  }

  /// The same, cut to a length that a person reads.
  public static func text(_ text: String) -> String { cut(line(text), 301) }

  /// The same between backquotes, shorter.
  public static func quoted(_ text: String) -> String { "`\(cut(line(text), 80))`" }

  /// True when a terminal shows the text as it is.
  public static func isPlain(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(\.isShown) }

  /// The character itself where a terminal shows it, and otherwise its number.
  public static func spelled(_ scalar: Unicode.Scalar) -> String {
    scalar.isShown ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
  }

  private static func cut(_ text: String, _ most: Int) -> String {
    guard text.unicodeScalars.count > most else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(most - 1))) + "…"
  }
}

extension Unicode.Scalar {
  /// True when a terminal shows it in its place, and does nothing else.
  public var isShown: Bool {
    if isASCII { return value >= 0x20 && value != 0x7F }
    switch properties.generalCategory {
    // Format characters are those that turn the direction around, U+202E among them, and most that have no width.
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    // The rest of those: fillers, joiners and variation selectors.
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }
}
