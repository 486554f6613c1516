/// The columns that text takes on a terminal.
enum TextWidth {
  /// The characters with two columns that are no emoji: Unicode's East Asian Width W and F (UAX #11), in their order.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF,
    0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]

  static func columns(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    // The vowels and finals of Hangul share the column of the consonant before them.
    if 0x1160...0x11FF ~= value || 0xD7B0...0xD7FB ~= value { return 0 }
    // Two of the letters that make a flag share the two columns of an emoji.
    if 0x1F1E6...0x1F1FF ~= value { return 1 }
    if value >= 0x231A, scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0 ~= value } ? 2 : 1
  }

  static func columns(_ text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + columns($1) }
  }

  /// Returns the text. If it has more than `most` columns, it is cut and ends with an ellipsis.
  static func cut(_ text: String, to most: Int) -> String {
    guard columns(text) > most else { return text }
    guard most > 0 else { return "" }
    var result = String.UnicodeScalarView()
    var used = 0
    for scalar in text.unicodeScalars {
      used += columns(scalar)
      if used > most - 1 { break }
      result.append(scalar)
    }
    return String(result) + "…"
  }

  /// Returns the end of the text, at most `most` columns wide.
  static func end(of text: String, _ most: Int) -> String {
    var result: [Unicode.Scalar] = []
    var used = 0
    for scalar in text.unicodeScalars.reversed() {
      used += columns(scalar)
      if used > most { break }
      result.append(scalar)
    }
    return String(String.UnicodeScalarView(result.reversed()))
  }
}
