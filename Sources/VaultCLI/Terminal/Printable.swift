/// Text from elsewhere, made safe for a terminal.
///
/// An item's name, a daemon's reason, a path: whoever chose them may have put in what makes a terminal write the clipboard,
/// show text in another order than it is stored in, or show nothing at all. Every such character is spelled out, as in
/// `\u{1b}`. ``Output`` and ``Keyboard`` pass through here whatever they show.
enum Printable {
  /// The whole text on one line.
  static func line(_ text: String) -> String { escape(text) { _ in false } }

  /// The same, cut to a length that a person reads.
  static func text(_ text: String) -> String { cut(line(text), 301) }

  /// The same between backquotes, shorter.
  static func quoted(_ text: String) -> String { "`\(cut(line(text), 80))`" }

  /// Text of this program's own with text from elsewhere in it: newlines and ``Style`` stay.
  static func screen(_ text: String) -> String { escape(text) { $0 == "\n" || $0 == Style.escape } }

  /// A cell of a table: ``Style`` stays.
  static func cell(_ text: String) -> String { escape(text) { $0 == Style.escape } }

  /// Whether a terminal shows the text as it is.
  static func isPlain(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(\.isShown) }

  /// - Parameter keeps: a newline or an escape character that this program may have written itself. Of the latter only
  ///   those that begin a sequence of ``Style`` stay.
  private static func escape(_ text: String, keeping keeps: (Unicode.Scalar) -> Bool) -> String {
    if isPlain(text) { return text }
    var result = ""
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.first {
      if scalar == Style.escape, keeps(scalar), let sequence = Style.sequences.first(where: { rest.starts(with: $0) }) {
        result.unicodeScalars.append(contentsOf: sequence)
        rest = rest.dropFirst(sequence.count)
        continue
      }
      if scalar.isShown || scalar == "\n" && keeps(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      }
      rest.removeFirst()
    }
    return result
  }

  private static func cut(_ text: String, _ most: Int) -> String {
    guard text.unicodeScalars.count > most else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(most - 1))) + "…"
  }
}

extension Unicode.Scalar {
  /// Whether a terminal shows it in its place, and does nothing else.
  var isShown: Bool {
    if isASCII { return value >= 0x20 && value != 0x7F }
    switch properties.generalCategory {
    // Format characters are those that turn the direction around, U+202E among them, and most that have no width.
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    // The rest of those: fillers, joiners and variation selectors.
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }
}
