internal import CLinux
internal import Glibc
internal import VaultWire

/// The comparison of the text around a value's old place with the text around a candidate place, by which the value is
/// recognized in a text with other blanks and another order. Before both places, the same text must stand. After both,
/// the same byte must follow, or a blank or separator.
enum Context {
  /// The most bytes before a value that are compared, not counting blanks.
  static let most = 128
  /// The number of compared bytes that suffices if no word is among them, as in a list of lists.
  private static let enough = 16

  /// Calls `add` with each byte of the text before a place that is compared: without blanks, the nearest byte first.
  /// Read backward, the text ends at the first separator or line break after it holds a word or ``enough`` bytes.
  ///
  /// - Returns: true if the text counts only where it stands apart: at the beginning of a text, or after a blank or
  ///   separator.
  static func forEachByte(before end: Int, in text: RawSpan, _ add: (UInt8) -> Void) -> Bool {
    let text = Span<UInt8>(_bytes: text)
    var (left, count, hasWord) = (end, 0, false)
    while count < most {
      let isAfterBreak = skipBlanks(text, &left).hasBreak
      if left == 0 { return true }
      let byte = text[left - 1]
      if isAfterBreak || isSeparator(byte), hasWord || count >= enough { return isWord(text[left]) }
      add(byte)
      if isWord(byte) { hasWord = true }
      (left, count) = (left - 1, count + 1)
    }
    return false
  }

  /// Moves `end` back over blanks; returns true if the text after it stands apart.
  static func isApart(_ text: Span<UInt8>, _ end: inout Int) -> Bool {
    skipBlanks(text, &end).isAny || end == 0 || isSeparator(text[end - 1])
  }

  /// Returns the byte after a value as it is compared: one and the same for each blank, each separator and the end of
  /// the text.
  static func byte(after end: Int, in text: RawSpan) -> UInt8 {
    let text = Span<UInt8>(_bytes: text)
    guard end < text.count else { return 0x20 }
    return isBlank(text[end]) || isSeparator(text[end]) ? 0x20 : text[end]
  }

  private static func skipBlanks(_ text: Span<UInt8>, _ end: inout Int) -> (isAny: Bool, hasBreak: Bool) {
    let start = end
    var hasBreak = false
    while end > 0, isBlank(text[end - 1]) {
      if text[end - 1] == 0x0A { hasBreak = true }
      end -= 1
    }
    return (end < start, hasBreak)
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["),
      UInt8(ascii: "]"):
      true
    default: false
    }
  }

  /// Returns true for letters and digits, and for any byte that is not ASCII.
  private static func isWord(_ byte: UInt8) -> Bool { byte >= 0x80 || VariableName.isPart(byte) }
}

extension RawSpan {
  /// Returns the first offset at or after `start` at which the bytes of `form` occur; nil if there is none or `form` is
  /// empty.
  func firstPlace(of form: RawSpan, from start: Int) -> Int? {
    guard form.byteCount > 0, start + form.byteCount <= byteCount else { return nil }
    // Both are lent for the call.
    return unsafe withUnsafeBytes { text -> Int? in
      unsafe form.withUnsafeBytes { form -> Int? in
        let begin = text.baseAddress!
        guard
          let found = unsafe vault_find_bytes(begin + start, text.count - start, form.baseAddress!, form.count)
        else { return nil }
        return unsafe found - begin
      }
    }
  }

  /// Returns true if both hold the same bytes.
  func hasSameBytes(as other: RawSpan) -> Bool {
    byteCount == other.byteCount && (byteCount == 0 || firstPlace(of: other, from: 0) == 0)
  }
}
