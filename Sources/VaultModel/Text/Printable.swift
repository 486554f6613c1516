/// Text from outside, made safe for a terminal and for a log.
///
/// An item's name, a daemon's reason, a path, a line of a settings file: anyone who chose such a text may have put
/// characters into it that make a terminal write the clipboard, begin a line that looks like the program's own, show
/// the text in another order than it is stored in, or show nothing at all. Every such character is spelled out, as in
/// `\u{1b}`.
///
/// Text that is safe already stays as it is, so a sentence that names an item can be made safe again as a whole. A name
/// by which a person or a program decides takes ``field(_:)``, ``whole(_:)`` or ``quoted(_:)`` instead: these never
/// give two names the same text, and are applied once, to the name itself.
public enum Printable {
  /// The whole text on one line, made safe.
  public static func line(_ text: String) -> String {
    if isPlain(text) { return text }
    return text.unicodeScalars.reduce(into: "") { $0 += spelled($1) }
  }

  /// The safe text on one line, cut to a length that a person can read.
  public static func text(_ text: String) -> String { cut(line(text), 301) }

  /// A name on one line, made safe, and different for different names.
  ///
  /// A backslash of the name is doubled before `u{`, before a backslash and before a character that is spelled out,
  /// where it could be taken for the beginning of such a spelling. Elsewhere, as in a systemd unit's name, it stays
  /// single.
  public static func field(_ name: String) -> String { exact(name, spellingBlanks: false, or: nil) }

  /// A name like ``field(_:)``, for questions and lists in which a person compares names: any part may be what tells
  /// two of them apart. So a blank that is no single space between other characters is spelled out, too. Only a name
  /// that is longer than all of these is cut.
  public static func whole(_ name: String) -> String { cut(exact(name, spellingBlanks: true, or: nil), 8192) }

  /// A name like ``whole(_:)``, between backquotes. A backquote in it is spelled out, so that no name seems to end
  /// before its end.
  public static func wholeQuoted(_ name: String) -> String { "`\(cut(quotable(name), 8192))`" }

  /// A name like ``wholeQuoted(_:)``, cut shorter, for messages.
  public static func quoted(_ name: String) -> String { "`\(cut(quotable(name), 80))`" }

  /// Words of a caller between quotation marks, cut to a length that a person can read; see ``words(_:)``.
  public static func said(_ words: String) -> String { "“\(cut(self.words(words), 301))”" }

  /// Words of a caller, made safe to stand within marks of the program's own, so that they do not seem to end before
  /// their end and to go on as if the program spoke.
  ///
  /// Too many characters look like a quotation mark or a parenthesis to be listed. Therefore only characters that words
  /// are made of stay: letters with their marks, digits, ASCII, dashes, signs of currencies, and the marks that end a
  /// sentence. Every other character is spelled out. Quotation marks, which are common, become a single apostrophe
  /// instead, however many follow each other.
  ///
  /// The daemon has spelled out other characters already, so a backslash stays single: two callers' words may have the
  /// same text.
  public static func words(_ words: String) -> String {
    var before: Unicode.Scalar?
    return words.unicodeScalars.reduce(into: "") { text, scalar in
      defer { before = scalar }
      if scalar.isQuote {
        if before?.isQuote != true { text += "'" }
      } else if scalar.properties.generalCategory == .spaceSeparator {
        text += " "
      } else {
        text += scalar.isOfWords(after: before) ? String(scalar) : number(scalar)
      }
    }
  }

  private static func quotable(_ name: String) -> String { exact(name, spellingBlanks: true, or: "`") }

  /// The name, with `quote` and the characters that are not shown spelled out.
  private static func exact(_ name: String, spellingBlanks: Bool, or quote: Unicode.Scalar?) -> String {
    // Almost every name is like this.
    if isPlain(name), !name.utf8.contains(where: { $0 >= 0x7F || " \\`".utf8.contains($0) }) { return name }
    let scalars = Array(name.unicodeScalars)
    func isSpelled(_ index: Int) -> Bool {
      let scalar = scalars[index]
      if !scalar.isShown || scalar == quote { return true }
      guard spellingBlanks, scalar.isBlank else { return false }
      let isBetween = index > 0 && index + 1 < scalars.count && !scalars[index - 1].isBlank
      return scalar != " " || !isBetween || scalars[index + 1].isBlank
    }
    func isAmbiguous(_ index: Int) -> Bool {
      guard scalars[index] == "\\", index + 1 < scalars.count else { return false }
      return scalars[index + 1] == "\\" || scalars[(index + 1)...].starts(with: ["u", "{"]) || isSpelled(index + 1)
    }
    return scalars.indices.reduce(into: "") { text, index in
      if isSpelled(index) {
        text += number(scalars[index])
      } else {
        if isAmbiguous(index) { text += "\\" }
        text.unicodeScalars.append(scalars[index])
      }
    }
  }

  /// True if a terminal shows the text unchanged.
  public static func isPlain(_ text: String) -> Bool {
    // Bytes have no padding: all are initialized.
    unsafe isPlainASCII(text.utf8Span.span.bytes) || text.unicodeScalars.allSatisfy(\.isShown)
  }

  /// True if the text is printable ASCII, as almost every text is. Eight bytes are tested at a time.
  private static func isPlainASCII(_ text: RawSpan) -> Bool {
    let count = text.byteCount
    for offset in stride(from: 0, to: count - 7, by: 8) { if !isPlain(text, at: offset) { return false } }
    // Some of the last bytes may be tested twice.
    if count >= 8 { return isPlain(text, at: count - 8) }
    return (0..<count).allSatisfy { (0x20..<0x7F).contains(unsafe text.unsafeLoad(fromByteOffset: $0, as: UInt8.self)) }
  }

  /// True if each of eight bytes is from 0x20 to 0x7E. Subtracting 0x20 sets the highest bit of a smaller byte; adding
  /// 1 sets that of 0x7F, and larger bytes have it already. The lowest byte outside the range always shows, whatever it
  /// carries into the others.
  private static func isPlain(_ text: RawSpan, at offset: Int) -> Bool {
    // The offset is checked, and every bit pattern is an integer.
    let word = unsafe text.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return (word | (word &- 0x2020_2020_2020_2020) | (word &+ 0x0101_0101_0101_0101)) & 0x8080_8080_8080_8080 == 0
  }

  /// The character itself if a terminal shows it, otherwise its number.
  public static func spelled(_ scalar: Unicode.Scalar) -> String {
    scalar.isShown ? String(scalar) : number(scalar)
  }

  private static func number(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

  private static func cut(_ text: String, _ most: Int) -> String {
    guard text.unicodeScalars.count > most else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(most - 1))) + "…"
  }
}

extension Unicode.Scalar {
  /// True for a quotation mark of any script, or an accent of ASCII that is used as one.
  fileprivate var isQuote: Bool { properties.isQuotationMark || self == "`" }

  /// True for a character that words are made of, and that looks like no mark around them.
  fileprivate func isOfWords(after before: Unicode.Scalar?) -> Bool {
    guard isShown else { return false }
    if isASCII { return true }
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter: return !Self.strokes.contains(self)
    // Most modifier letters look like accents or apostrophes; the others repeat or lengthen the letter before.
    case .modifierLetter: return properties.isExtender
    case .nonspacingMark, .spacingMark:
      // A mark without a letter is shown alone, and may look like a quotation mark.
      return before.map { $0.isOfWord } ?? false
    case .decimalNumber, .dashPunctuation, .currencySymbol: return true
    default: return Self.endsOfSentences.contains(self)
    }
  }

  private var isOfWord: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .modifierLetter, .nonspacingMark,
      .spacingMark, .decimalNumber:
      true
    default: false
    }
  }

  /// Letters that have the shape of an apostrophe.
  private static let strokes: Set<Unicode.Scalar> = ["\u{A78B}", "\u{A78C}", "\u{141F}", "\u{1420}", "\u{144A}"]

  /// Punctuation of other scripts that ends or divides sentences.
  private static let endsOfSentences: Set<Unicode.Scalar> = [
    "…", "·", "¡", "¿", "、", "。", "！", "，", "：", "；", "？", "・", "،", "؛", "؟", "।",
  ]

  /// True for a character that shows nothing. U+2800 is a braille pattern without a dot.
  public var isBlank: Bool { properties.isWhitespace || self == "\u{2800}" }

  /// True if a terminal shows the character in its place and does nothing else.
  public var isShown: Bool {
    if isASCII { return value >= 0x20 && value != 0x7F }
    switch properties.generalCategory {
    // Format characters include those that change the text direction, such as U+202E, and
    // most characters without width.
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    // Other characters without width: fillers, joiners and variation selectors.
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }
}
