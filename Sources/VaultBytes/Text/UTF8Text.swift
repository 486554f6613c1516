internal import Glibc

/// Text as UTF-8, checked in place.
extension Span<UInt8> {
  /// The end of the run of bytes, beginning at `start`, that need no escape in a JSON string: printable ASCII without
  /// quotes and backslashes. Eight bytes are tested at a time, because nearly all of a JSON text consists of such runs.
  package func endOfPlainRun(from start: Int) -> Int {
    var at = start
    while at < count {
      let word = at <= count - 8 ? word(at: at) : lastWord(from: at)
      // The top bit of a byte in `odd` is set in four cases: the byte is not ASCII; it is below 0x20, so that
      // subtracting 0x20 borrows; it is a quote or a backslash, so that its XOR with that character is 0 and
      // subtracting 1 borrows; or it is 0x7F, so that adding 1 gives 0x80. A carry or borrow can give a wrong bit to a
      // byte after such a byte, but the first set bit is always right.
      let ones: UInt64 = 0x0101_0101_0101_0101
      let odd =
        word | (word &- ones &* 0x20) | ((word ^ ones &* 0x22) &- ones) | ((word ^ ones &* 0x5C) &- ones)
        | (word &+ ones)
      let found = odd & 0x8080_8080_8080_8080
      // The zeros after the end count as found, too.
      if found != 0 { return at + found.trailingZeroBitCount / 8 }
      at += 8
    }
    return at
  }

  /// The eight bytes from `offset`, which must exist, the first one lowest.
  private func word(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= count - 8)
    // The range is checked, and every bit pattern is an integer.
    return UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The bytes from `offset` to the end, fewer than eight, the first one lowest, with zeros after the end.
  private func lastWord(from offset: Int) -> UInt64 {
    if count >= 8 { return word(at: count - 8) >> UInt64(8 * (8 - (count - offset))) }
    var word: UInt64 = 0
    for index in (offset..<count).reversed() { word = word << 8 | UInt64(self[index]) }
    return word
  }

  /// True if `literal` stands at `offset`.
  func holds(_ literal: StaticString, at offset: Int) -> Bool {
    let length = literal.utf8CodeUnitCount
    guard length <= count - offset else { return false }
    // Both texts have `length` bytes there, and the literal lives as long as the program.
    return unsafe withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return length == 0 }
      return unsafe memcmp(start + offset, literal.utf8Start, length) == 0
    }
  }

  /// True if the bytes of `range` also stand at `offset`; both places must be within the text.
  func holds(_ range: Range<Int>, at offset: Int) -> Bool {
    let other = extracting(offset..<offset + range.count)
    // Both have the same number of bytes.
    return unsafe extracting(range).withUnsafeBytes { one in
      unsafe other.withUnsafeBytes { other in
        guard let one = one.baseAddress, let start = other.baseAddress else { return true }
        return unsafe memcmp(one, start, other.count) == 0
      }
    }
  }

  /// The length of the well-formed UTF-8 sequence of two to four bytes at `offset`; nil if there is none. The ranges
  /// are those of table 3-7 of the Unicode standard: no overlong form, no surrogate, nothing above U+10FFFF.
  @inline(__always) package func scalarLength(at offset: Int) -> Int? {
    let second: ClosedRange<UInt8>
    let length: Int
    switch self[offset] {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard length <= count - offset, second.contains(self[offset + 1]) else { return nil }
    if length > 2, self[offset + 2] & 0xC0 != 0x80 { return nil }
    if length > 3, self[offset + 3] & 0xC0 != 0x80 { return nil }
    return length
  }
}

extension RawSpan {
  /// True if the bytes are UTF-8 without control characters other than tab, CR and LF. Control characters are U+0000 to
  /// U+001F and U+007F to U+009F (Unicode general category Cc).
  public var isText: Bool {
    let text = Span<UInt8>(_bytes: self)
    var at = text.endOfPlainRun(from: 0)
    while at < text.count {
      switch text[at] {
      case 0x20..<0x7F, 0x09, 0x0A, 0x0D: at += 1
      case 0x80...:
        guard let length = text.scalarLength(at: at) else { return false }
        if text[at] == 0xC2, text[at + 1] < 0xA0 { return false }
        at += length
      default: return false
      }
      at = text.endOfPlainRun(from: at)
    }
    return true
  }
}
