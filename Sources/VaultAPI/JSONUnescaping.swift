/// Walks over the bytes a JSON string means, its escapes undone, as UTF-8.
struct JSONUnescaping {
  private var at: Int
  private let end: Int
  /// The rest of a scalar that was written as an escape; the next byte is the lowest.
  private var rest: UInt32 = 0
  private var restCount = 0

  init(_ string: JSONParser.Record) {
    at = Int(string.start)
    end = Int(string.end)
  }

  /// The next byte, or nil at the end. `text` must be the one the parser has checked.
  mutating func next(_ text: Span<UInt8>) -> UInt8? {
    if restCount > 0 {
      let byte = UInt8(truncatingIfNeeded: rest)
      rest >>= 8
      restCount -= 1
      return byte
    }
    guard at < end else { return nil }
    let byte = text[at]
    guard byte == UInt8(ascii: "\\") else {
      at += 1
      return byte
    }
    switch text[at + 1] {
    case UInt8(ascii: "u"): return nextFromHex(text)
    case UInt8(ascii: "b"): return simple(0x08)
    case UInt8(ascii: "t"): return simple(0x09)
    case UInt8(ascii: "n"): return simple(0x0A)
    case UInt8(ascii: "f"): return simple(0x0C)
    case UInt8(ascii: "r"): return simple(0x0D)
    case let other: return simple(other)
    }
  }

  private mutating func simple(_ byte: UInt8) -> UInt8 {
    at += 2
    return byte
  }

  private mutating func nextFromHex(_ text: Span<UInt8>) -> UInt8? {
    var scalar = text.hexUnit(at: at + 2) ?? 0
    at += 6
    if scalar & 0xFC00 == 0xD800 {
      // The parser has seen the second half.
      scalar = 0x10000 + (scalar & 0x3FF) << 10 + (text.hexUnit(at: at + 2) ?? 0) & 0x3FF
      at += 6
    }
    // RFC 3629, section 3.
    switch scalar {
    case ..<0x80: return UInt8(scalar)
    case ..<0x800: return first(0xC0 | scalar >> 6, then: 1, of: scalar)
    case ..<0x10000: return first(0xE0 | scalar >> 12, then: 2, of: scalar)
    default: return first(0xF0 | scalar >> 18, then: 3, of: scalar)
    }
  }

  private mutating func first(_ lead: UInt32, then count: Int, of scalar: UInt32) -> UInt8 {
    for place in 0..<count { rest = rest << 8 | 0x80 | scalar >> UInt32(6 * place) & 0x3F }
    restCount = count
    return UInt8(truncatingIfNeeded: lead)
  }
}

extension Span<UInt8> {
  /// Whether `literal` stands at `offset`.
  func holds(_ literal: StaticString, at offset: Int) -> Bool {
    guard literal.utf8CodeUnitCount <= count - offset else { return false }
    for index in 0..<literal.utf8CodeUnitCount {
      // Below `utf8CodeUnitCount`; the literal lives as long as the program.
      if unsafe self[offset + index] != literal.utf8Start[index] { return false }
    }
    return true
  }

  /// The value of the four hexadecimal digits at `offset`, or nil when they are not that.
  func hexUnit(at offset: Int) -> UInt32? {
    guard offset <= count - 4 else { return nil }
    var unit: UInt32 = 0
    for index in offset..<offset + 4 {
      let digit: UInt8
      switch self[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = self[index] - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = self[index] - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = self[index] - UInt8(ascii: "A") + 10
      default: return nil
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// How long the escape is whose backslash stands at `offset`; nil when it is none, or half a surrogate pair.
  func escapeLength(at offset: Int) -> Int? {
    guard offset + 1 < count else { return nil }
    switch self[offset + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return 2
    case UInt8(ascii: "u"):
      guard let unit = hexUnit(at: offset + 2) else { return nil }
      if unit & 0xF800 != 0xD800 { return 6 }
      guard unit & 0xFC00 == 0xD800, holds("\\u", at: offset + 6), let second = hexUnit(at: offset + 8),
        second & 0xFC00 == 0xDC00
      else { return nil }
      return 12
    default: return nil
    }
  }

  /// How long the well-formed UTF-8 sequence of two to four bytes at `offset` is; nil when it is none.
  /// The ranges are table 3-7 of the Unicode standard: no overlong form, no surrogate, nothing above U+10FFFF.
  func scalarLength(at offset: Int) -> Int? {
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
    for index in offset + 2..<offset + max(length, 2) where self[index] & 0xC0 != 0x80 { return nil }
    return length
  }
}
