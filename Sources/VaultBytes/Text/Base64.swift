/// Base64 with padding (RFC 4648 section 4), between spans that the caller owns.
///
/// Secrets pass through this code, so there are no tables: the bytes that it reads and the branches that it takes
/// depend only on the length.
public enum Base64 {
  /// The size in bytes of the text that encodes `count` bytes.
  public static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

  /// The number of bytes that `text` encodes, or `nil` if its length is not a multiple of four. Only
  /// the padding is examined.
  public static func decodedCount(_ text: RawSpan) -> Int? {
    let count = text.byteCount
    guard count % 4 == 0 else { return nil }
    guard count > 0 else { return 0 }
    var padding = 0
    if text.byte(count - 1) == pad { padding = text.byte(count - 2) == pad ? 2 : 1 }
    return count / 4 * 3 - padding
  }

  /// Writes `bytes` as base64 to the start of `text`.
  ///
  /// - Precondition: `text` has room for ``encodedCount(_:)`` bytes.
  public static func encode(_ bytes: RawSpan, into text: inout MutableRawSpan) {
    precondition(text.byteCount >= encodedCount(bytes.byteCount), "no room for the base64 text")
    var target = 0
    var source = 0
    while source < bytes.byteCount {
      let count = min(3, bytes.byteCount - source)
      var group = Int(bytes.byte(source)) << 16
      if count > 1 { group |= Int(bytes.byte(source + 1)) << 8 }
      if count > 2 { group |= Int(bytes.byte(source + 2)) }
      text.set(symbol(group >> 18), at: target)
      text.set(symbol(group >> 12 & 63), at: target + 1)
      text.set(count > 1 ? symbol(group >> 6 & 63) : pad, at: target + 2)
      text.set(count > 2 ? symbol(group & 63) : pad, at: target + 3)
      source += 3
      target += 4
    }
  }

  /// Writes the bytes that `text` encodes to `bytes`, which must have exactly ``decodedCount(_:)`` bytes.
  ///
  /// - Returns: `false` if `text` is not base64 as an encoder writes it: another symbol (including white space),
  ///   padding in the wrong place, leftover bits that are not zero. The content of `bytes` is then meaningless.
  public static func decode(_ text: RawSpan, into bytes: inout MutableRawSpan) -> Bool {
    guard let count = decodedCount(text), count == bytes.byteCount else { return false }
    var isValid = true
    var target = 0
    for source in stride(from: 0, to: text.byteCount, by: 4) {
      let isLast = source + 4 == text.byteCount
      let kept = isLast ? count - target : 3
      var group = 0
      for index in 0..<4 {
        // Two symbols encode one byte, three encode two; the rest is the padding that was counted.
        let value = index <= kept ? Self.value(of: text.byte(source + index)) : 0
        isValid = (value >= 0) && isValid
        group = group << 6 | (value & 63)
      }
      if kept < 3, group & (1 << (24 - 8 * kept) - 1) != 0 { isValid = false }
      for index in 0..<kept { bytes.set(UInt8(group >> (16 - 8 * index) & 0xFF), at: target + index) }
      target += kept
    }
    return isValid
  }

  private static let pad = UInt8(ascii: "=")

  /// The symbol for 0…63. Each term adds the jump between two ranges of the alphabet if the value lies past it.
  @inline(__always)
  static func symbol(_ value: Int) -> UInt8 {
    let jumps = ((25 - value) >> 8 & 6) - ((51 - value) >> 8 & 75) - ((61 - value) >> 8 & 15) + ((62 - value) >> 8 & 3)
    return UInt8(value + 65 + jumps)
  }

  /// The value of a symbol, or -1.
  @inline(__always)
  static func value(of symbol: UInt8) -> Int {
    let code = Int(symbol)
    let upper = within(code, 65, 90)
    let lower = within(code, 97, 122)
    let digit = within(code, 48, 57)
    let plus = within(code, 43, 43)
    let slash = within(code, 47, 47)
    let value = upper & (code - 65) | lower & (code - 71) | digit & (code + 4) | plus & 62 | slash & 63
    return value | ~(upper | lower | digit | plus | slash)
  }

  /// All ones if `low` ≤ `code` ≤ `high`, otherwise zero.
  @inline(__always)
  static func within(_ code: Int, _ low: Int, _ high: Int) -> Int {
    ((low - 1 - code) & (code - high - 1)) >> 8
  }
}
