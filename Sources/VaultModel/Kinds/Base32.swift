/// Base32 (RFC 4648 section 6) as the secrets of one-time codes are written: in either case, with or without padding, which
/// may be `%3D`, and perhaps in groups.
enum Base32 {
  /// The number of bytes that the symbols in `range` stand for; nil when they are no base32.
  ///
  /// - Parameter groups: whether single spaces or dashes may stand between symbols.
  static func count(_ bytes: RawSpan, _ range: Range<Int>, groups: Bool) -> Int? {
    var symbols = 0
    var padding = 0
    var position = range.lowerBound
    var afterSymbol = false
    while position < range.upperBound {
      let byte = bytes.byte(position)
      let isEscapedPad = position + 3 <= range.upperBound && bytes.hasBytes("%3D", at: position)
      if byte == UInt8(ascii: "=") || isEscapedPad {
        padding += 1
        position += isEscapedPad ? 3 : 1
        continue
      }
      if padding > 0 { return nil }
      let isSymbol = value(byte) != nil
      let isBreak = groups && afterSymbol && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-"))
      guard isSymbol || isBreak else { return nil }
      if isSymbol { symbols += 1 }
      afterSymbol = isSymbol
      position += 1
    }
    let isWhole = symbols > 0 && ![1, 3, 6].contains(symbols % 8)
    let isPadded = padding == 0 || (padding < 8 && (symbols + padding) % 8 == 0)
    return isWhole && isPadded && (afterSymbol || padding > 0) ? symbols * 5 / 8 : nil
  }

  /// Writes what the symbols in `range` stand for, byte by byte; what is none there is passed over.
  ///
  /// - Precondition: ``count(_:_:groups:)`` has found them to be base32.
  static func decode(_ bytes: RawSpan, _ range: Range<Int>, to sink: (UInt8) -> Void) {
    var held: UInt32 = 0
    var bits = 0
    for offset in range {
      // Behind it are only more of them, and the digits of `%3D` are none.
      if bytes.byte(offset) == UInt8(ascii: "=") || bytes.byte(offset) == UInt8(ascii: "%") { return }
      guard let value = value(bytes.byte(offset)) else { continue }
      held = held << 5 | UInt32(value)
      bits += 5
      guard bits >= 8 else { continue }
      bits -= 8
      sink(UInt8(truncatingIfNeeded: held >> UInt32(bits)))
      held &= 1 << UInt32(bits) - 1
    }
  }

  /// A symbol as the standard writes it, in upper case; nil for what is none.
  static func symbol(_ byte: UInt8) -> UInt8? { value(byte).map { $0 < 26 ? UInt8(ascii: "A") + $0 : byte } }

  /// The five bits of a symbol.
  private static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a")
    case UInt8(ascii: "2")...UInt8(ascii: "7"): byte - UInt8(ascii: "2") + 26
    default: nil
    }
  }
}
