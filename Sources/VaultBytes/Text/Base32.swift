/// Base32 (RFC 4648 section 6) in the form in which people write the secrets of one-time codes: in upper or lower case,
/// with or without padding, and perhaps in groups separated by blanks or dashes. Within a URI, each character may be
/// escaped (RFC 3986 section 2.1), and a blank may be a `+`.
package enum Base32 {
  /// The number of bytes that the symbols in `range` encode; nil if they are not base32.
  package static func count(_ bytes: RawSpan, _ range: Range<Int>) -> Int? {
    var (symbols, padding) = (0, 0)
    var reader = Reader(range)
    while let character = reader.next(bytes) {
      switch character {
      case .symbol:
        if padding > 0 { return nil }
        symbols += 1
      case .padding: padding += 1
      case .gap: break
      case .other: return nil
      }
    }
    let isWhole = symbols > 0 && ![1, 3, 6].contains(symbols % 8)
    let isPadded = padding == 0 || (padding < 8 && (symbols + padding) % 8 == 0)
    return isWhole && isPadded ? symbols * 5 / 8 : nil
  }

  /// Writes the bytes that the symbols in `range` encode, one by one, to `sink`.
  ///
  /// - Precondition: ``count(_:_:)`` accepted the range as base32.
  package static func decode(_ bytes: RawSpan, _ range: Range<Int>, to sink: (UInt8) -> Void) {
    var held: UInt32 = 0
    var bits = 0
    var reader = Reader(range)
    while let character = reader.next(bytes) {
      guard case .symbol(let value) = character else { continue }
      held = held << 5 | UInt32(value)
      bits += 5
      guard bits >= 8 else { continue }
      bits -= 8
      sink(UInt8(truncatingIfNeeded: held >> UInt32(bits)))
      held &= 1 << UInt32(bits) - 1
    }
  }

  /// Writes the symbols in `range` in their standard form: in upper case, without padding and groups.
  package static func write(_ bytes: RawSpan, _ range: Range<Int>, to sink: (UInt8) -> Void) {
    var reader = Reader(range)
    while let character = reader.next(bytes) {
      guard case .symbol(let value) = character else { continue }
      sink(value < 26 ? UInt8(ascii: "A") + value : UInt8(ascii: "2") + value - 26)
    }
  }

  private enum Character {
    /// A symbol, which stands for five bits.
    case symbol(UInt8)
    case padding
    case gap
    case other
  }

  private struct Reader {
    private var rest: Range<Int>

    init(_ range: Range<Int>) { rest = range }

    mutating func next(_ bytes: RawSpan) -> Character? {
      guard let place = rest.first else { return nil }
      let (byte, count) = PercentEscape.byte(bytes, at: place, before: rest.upperBound)
      rest = place + count..<rest.upperBound
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): return .symbol(byte - UInt8(ascii: "A"))
      case UInt8(ascii: "a")...UInt8(ascii: "z"): return .symbol(byte - UInt8(ascii: "a"))
      case UInt8(ascii: "2")...UInt8(ascii: "7"): return .symbol(byte - UInt8(ascii: "2") + 26)
      case UInt8(ascii: "="): return .padding
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "+"): return .gap
      case 0xC2: return skip([0xA0], bytes) ? .gap : .other
      case 0xE2: return skip([0x80, 0x87], bytes) || skip([0x80, 0xAF], bytes) ? .gap : .other
      default: return .other
      }
    }

    /// Takes the further bytes of a no-break space (U+00A0, U+2007 or U+202F), as web pages contain it.
    private mutating func skip(_ tail: [UInt8], _ bytes: RawSpan) -> Bool {
      var left = rest
      for expected in tail {
        guard let place = left.first,
          case (expected, let count) = PercentEscape.byte(bytes, at: place, before: rest.upperBound)
        else { return false }
        left = place + count..<rest.upperBound
      }
      rest = left
      return true
    }
  }
}
