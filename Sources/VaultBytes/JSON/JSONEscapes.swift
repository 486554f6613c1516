/// The spelling of strings in JSON (RFC 8259 section 7), as the parser checks it.
extension Span<UInt8> {
  /// True if `string`, a string of this text, equals `literal` after its escapes are decoded.
  func reads(_ literal: StaticString, at string: JSONParser.Record) -> Bool {
    guard string.escaped else {
      return Int(string.end - string.start) == literal.utf8CodeUnitCount && holds(literal, at: Int(string.start))
    }
    var bytes = JSONUnescaping(string)
    for index in 0..<literal.utf8CodeUnitCount {
      // The index is below `utf8CodeUnitCount`, and the literal lives as long as the program.
      guard unsafe bytes.next(self) == literal.utf8Start[index] else { return false }
    }
    return bytes.next(self) == nil
  }

  /// The value of the four hexadecimal digits at `offset`; nil if there are none.
  func hexUnit(at offset: Int) -> UInt32? {
    guard offset <= count - 4 else { return nil }
    var unit: UInt32 = 0
    for index in offset..<offset + 4 {
      guard let digit = hexDigit(self[index]) else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// The size in bytes of the escape whose backslash is at `offset`, and of the UTF-8 that it means; nil if there is no
  /// escape, or only half of a surrogate pair.
  @inline(__always) package func escapeLength(at offset: Int) -> (length: Int, meant: Int)? {
    guard offset + 1 < count else { return nil }
    switch self[offset + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return (2, 1)
    case UInt8(ascii: "u"):
      guard let unit = hexUnit(at: offset + 2) else { return nil }
      if unit & 0xF800 != 0xD800 { return (6, unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3) }
      guard unit & 0xFC00 == 0xD800, holds("\\u", at: offset + 6), let second = hexUnit(at: offset + 8),
        second & 0xFC00 == 0xDC00
      else { return nil }
      return (12, 4)
    default: return nil
    }
  }
}
