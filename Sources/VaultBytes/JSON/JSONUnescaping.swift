/// A walk over the UTF-8 bytes of a JSON string with its escapes decoded.
package struct JSONUnescaping {
  private var at: Int
  private let end: Int
  /// The remaining bytes of a scalar that was written as an escape; the next byte is the lowest.
  private var rest: UInt32 = 0
  private var restCount = 0

  init(_ string: JSONParser.Record) { self.init(Int(string.start)..<Int(string.end)) }

  /// Begins a walk over the string in `range`, without its quotes.
  package init(_ range: Range<Int>) { (at, end) = (range.lowerBound, range.upperBound) }

  /// Returns the next byte, or nil at the end. `text` must be the text that the parser has checked.
  package mutating func next(_ text: Span<UInt8>) -> UInt8? {
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
      // The parser has verified the second half.
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
