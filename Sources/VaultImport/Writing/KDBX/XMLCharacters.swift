/// The texts that a document in XML can hold (XML 1.0, section 2.2).
enum XMLCharacters {
  /// True if every character of a text in UTF-8 is allowed.
  static func isAllowed(_ text: [UInt8]) -> Bool {
    guard let text = String(validating: text, as: UTF8.self) else { return false }
    return text.unicodeScalars.allSatisfy(isAllowed)
  }

  /// The text with a question mark in place of each character that is not allowed.
  static func allowed(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy(isAllowed) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { isAllowed($0) ? $0 : "?" }))
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x1_0000...: true
    default: false
    }
  }
}
