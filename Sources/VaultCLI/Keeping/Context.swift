internal import CLinux
internal import Glibc
internal import VaultWire

/// Compares the text around values. By that text, a value's place is recognized in a text with other blanks and another
/// order.
enum Context {
  /// The most bytes before a value that are compared, not counting blanks.
  private static let most = 128
  /// The number of compared bytes that suffices if no word is among them, as in a list of lists.
  private static let enough = 16

  /// Returns true if the text before both places is the same and both values end alike. The text is compared back to a
  /// separator or the beginning of a line, as soon as the compared text holds a word. After both values, the same byte
  /// must follow, or a blank or separator after each.
  static func isSame(_ one: RawSpan, _ place: Range<Int>, _ other: RawSpan, _ otherPlace: Range<Int>) -> Bool {
    let (one, other) = (Span<UInt8>(_bytes: one), Span<UInt8>(_bytes: other))
    return isSameBefore(one, place.lowerBound, other, otherPlace.lowerBound)
      && isSameBehind(one, place.upperBound, other, otherPlace.upperBound)
  }

  /// Returns the first place in `text` that has the same text before it as `place` has in `rendered`; nil if there is
  /// none.
  static func find(_ rendered: RawSpan, _ place: Range<Int>, in text: RawSpan) -> Int? {
    let (rendered, text) = (Span<UInt8>(_bytes: rendered), Span<UInt8>(_bytes: text))
    for at in text.indices.dropFirst() where !isBlank(text[at]) {
      if isSameBefore(rendered, place.lowerBound, text, at) { return at }
    }
    return nil
  }

  private static func isSameBefore(_ one: Span<UInt8>, _ end: Int, _ other: Span<UInt8>, _ otherEnd: Int) -> Bool {
    var (left, right) = (end, otherEnd)
    var (count, hasWord) = (0, false)
    while count < most {
      let isAfterBreak = skipBlanks(one, &left).hasBreak
      let isApart = skipBlanks(other, &right).isAny || right == 0 || isSeparator(other[right - 1])
      if left == 0 { return isApart }
      let byte = one[left - 1]
      if isAfterBreak || isSeparator(byte), hasWord || count >= enough { return isApart || !isWord(one[left]) }
      guard right > 0, other[right - 1] == byte else { return false }
      if isWord(byte) { hasWord = true }
      (left, right, count) = (left - 1, right - 1, count + 1)
    }
    return true
  }

  private static func isSameBehind(_ one: Span<UInt8>, _ place: Int, _ other: Span<UInt8>, _ otherPlace: Int) -> Bool {
    let (mine, theirs) = (place < one.count ? one[place] : 0x20, otherPlace < other.count ? other[otherPlace] : 0x20)
    if isBlank(mine) || isSeparator(mine) { return isBlank(theirs) || isSeparator(theirs) }
    return mine == theirs
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

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private static func isSeparator(_ byte: UInt8) -> Bool {
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
