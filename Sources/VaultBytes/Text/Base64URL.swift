/// Base64 for URLs, without padding (RFC 4648 section 5, as in RFC 7515), between spans that the caller owns.
///
/// As in ``Base64``, the bytes that are read and the branches that are taken depend only on the length.
public enum Base64URL {
  /// The size in bytes of the text that encodes `count` bytes.
  public static func encodedCount(_ count: Int) -> Int { (count * 4 + 2) / 3 }

  /// The number of bytes that a text of `count` bytes encodes, or `nil` if no text has that length.
  public static func decodedCount(_ count: Int) -> Int? { count % 4 == 1 ? nil : count / 4 * 3 + count % 4 * 3 / 4 }

  /// Writes `bytes` as base64 to `text`, from `offset` on.
  ///
  /// - Precondition: `text` has room there for ``encodedCount(_:)`` bytes.
  public static func encode(_ bytes: RawSpan, into text: inout MutableRawSpan, at offset: Int = 0) {
    precondition(text.byteCount - offset >= encodedCount(bytes.byteCount), "no room for the base64 text")
    var target = offset
    let whole = bytes.byteCount / 3 * 3
    for source in stride(from: 0, to: whole, by: 3) {
      text.storeBytes(
        of: symbols(bytes.byte(source), bytes.byte(source + 1), bytes.byte(source + 2)).bigEndian, toByteOffset: target,
        as: UInt32.self)
      target += 4
    }
    let rest = bytes.byteCount - whole
    guard rest > 0 else { return }
    let last = symbols(bytes.byte(whole), rest > 1 ? bytes.byte(whole + 1) : 0, 0)
    for place in 0...rest { text.set(UInt8(truncatingIfNeeded: last >> (24 - 8 * place)), at: target + place) }
  }

  /// Writes the bytes that `text` encodes to `bytes`, from `offset` on.
  ///
  /// - Precondition: `bytes` has room there for ``decodedCount(_:)`` bytes.
  /// - Returns: `false` if `text` is not what an encoder writes: another length, another symbol (including padding and
  ///   white space), or leftover bits that are not zero. The bytes written are then meaningless.
  public static func decode(_ text: RawSpan, into bytes: inout MutableRawSpan, at offset: Int = 0) -> Bool {
    guard let count = decodedCount(text.byteCount) else { return false }
    precondition(bytes.byteCount - offset >= count, "no room for the decoded bytes")
    var isValid = true
    var target = offset
    for source in stride(from: 0, to: text.byteCount, by: 4) {
      let symbols = min(4, text.byteCount - source)
      var group = 0
      for place in 0..<4 {
        let value = place < symbols ? Self.value(of: text.byte(source + place)) : 0
        isValid = (value >= 0) && isValid
        group = group << 6 | (value & 63)
      }
      let kept = symbols - 1
      if kept < 3, group & (1 << (24 - 8 * kept) - 1) != 0 { isValid = false }
      for place in 0..<kept { bytes.set(UInt8(group >> (16 - 8 * place) & 0xFF), at: target + place) }
      target += kept
    }
    return isValid
  }

  /// The four symbols for three bytes, the first in the highest byte, computed in parallel.
  @inline(__always)
  private static func symbols(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> UInt32 {
    let group = UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
    let values = (group & 0xFC0000) << 6 | (group & 0x3F000) << 4 | (group & 0xFC0) << 2 | group & 0x3F
    let ones: UInt32 = 0x0101_0101
    /// A one in each byte whose value is `bound` or more. All values are below 64, so no sum carries
    /// into the next byte.
    func isAtLeast(_ bound: UInt32) -> UInt32 { (values + ones * (128 - bound)) >> 7 & ones }
    // The symbols begin at A; a is 6 further than the successor of Z, 0 is 75 before the successor of z, and so on. A
    // part of the sum may borrow from the next byte; that does not matter, because each byte is a symbol in the end.
    return values &+ ones * 65 &+ isAtLeast(26) * 6 &- isAtLeast(52) * 75 &- isAtLeast(62) * 13 &+ isAtLeast(63) * 49
  }

  /// The value of a symbol, or -1.
  @inline(__always)
  private static func value(of symbol: UInt8) -> Int {
    let code = Int(symbol)
    let upper = Base64.within(code, 65, 90)
    let lower = Base64.within(code, 97, 122)
    let digit = Base64.within(code, 48, 57)
    let minus = Base64.within(code, 45, 45)
    let line = Base64.within(code, 95, 95)
    let value = upper & (code - 65) | lower & (code - 71) | digit & (code + 4) | minus & 62 | line & 63
    return value | ~(upper | lower | digit | minus | line)
  }
}
