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
  public static func isPlain(_ text: String) -> Bool {
    // Bytes have no padding: all are initialized.
    unsafe isPlainASCII(text.utf8Span.span.bytes) || text.unicodeScalars.allSatisfy(\.isShown)
  }

  /// The same of almost every text: printable ASCII, of which eight bytes are looked at together.
  private static func isPlainASCII(_ text: RawSpan) -> Bool {
    let count = text.byteCount
    for offset in stride(from: 0, to: count - 7, by: 8) { if !isPlain(text, at: offset) { return false } }
    // Some of the last ones may be looked at twice.
    if count >= 8 { return isPlain(text, at: count - 8) }
    return (0..<count).allSatisfy { (0x20..<0x7F).contains(unsafe text.unsafeLoad(fromByteOffset: $0, as: UInt8.self)) }
  }

  /// True when each of eight bytes is from 0x20 to 0x7E: a smaller one, less 0x20, and a larger one, and 1, has the highest
  /// bit. The lowest byte that is none of these says so, whatever it carries into the others.
  private static func isPlain(_ text: RawSpan, at offset: Int) -> Bool {
    // The offset is checked, and every bit pattern is an integer.
    let word = unsafe text.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return (word | (word &- 0x2020_2020_2020_2020) | (word &+ 0x0101_0101_0101_0101)) & 0x8080_8080_8080_8080 == 0
  }

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
