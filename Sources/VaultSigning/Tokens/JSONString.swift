internal import VaultModel

/// The spelling of JSON strings: any spelling is read, one spelling is written.
enum JSONString {
  /// The scalar of the escape at `offset`, and the number of bytes that it takes; nil if there is no escape, or only
  /// half of a surrogate pair.
  static func escape(_ input: Span<UInt8>, at offset: Int) -> (scalar: Unicode.Scalar, length: Int)? {
    guard offset + 1 < input.count else { return nil }
    switch input[offset + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return (Unicode.Scalar(input[offset + 1]), 2)
    case UInt8(ascii: "b"): return ("\u{8}", 2)
    case UInt8(ascii: "f"): return ("\u{C}", 2)
    case UInt8(ascii: "n"): return ("\n", 2)
    case UInt8(ascii: "r"): return ("\r", 2)
    case UInt8(ascii: "t"): return ("\t", 2)
    case UInt8(ascii: "u"): break
    default: return nil
    }
    guard let first = unit(input, at: offset) else { return nil }
    if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
    guard first & 0xFC00 == 0xD800, let second = unit(input, at: offset + 6), second & 0xFC00 == 0xDC00 else {
      return nil
    }
    return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF).map { ($0, 12) }
  }

  /// The UTF-16 code unit of a `\u` escape at `offset`.
  private static func unit(_ input: Span<UInt8>, at offset: Int) -> UInt32? {
    guard offset + 6 <= input.count, input[offset] == UInt8(ascii: "\\"), input[offset + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var unit: UInt32 = 0
    for place in offset + 2..<offset + 6 {
      guard let digit = hexDigit(input[place]) else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// Writes a scalar in the form that it has within a string.
  static func append(_ scalar: Unicode.Scalar, to text: inout [UInt8]) {
    if scalar.isASCII { append(UInt8(scalar.value), to: &text) } else { text.append(contentsOf: UTF8.encode(scalar)!) }
  }

  /// Writes a whole string with its quotes.
  static func append(_ content: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in content.utf8 { append(byte, to: &text) }
    text.append(UInt8(ascii: "\""))
  }

  /// Writes a byte of UTF-8 in the form that it has within a string.
  private static func append(_ byte: UInt8, to text: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(contentsOf: [UInt8(ascii: "\\"), byte])
    case 0x0A: text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
    case 0x0D: text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
    case 0x09: text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
    case 0x00..<0x20: text.append(contentsOf: "\\u00\([byte].hex)".utf8)
    default: text.append(byte)
    }
  }

  /// Reads the content of a string that this type wrote.
  static func read(_ text: [UInt8], _ range: Range<Int>) -> String {
    guard text[range].contains(UInt8(ascii: "\\")) else { return String(decoding: text[range], as: UTF8.self) }
    var content = String.UnicodeScalarView()
    let span = text.span
    var at = range.lowerBound
    while at < range.upperBound {
      if text[at] == UInt8(ascii: "\\"), let (scalar, length) = escape(span, at: at) {
        content.append(scalar)
        at += length
        continue
      }
      let end = text[at..<range.upperBound].dropFirst().firstIndex(of: UInt8(ascii: "\\")) ?? range.upperBound
      content.append(contentsOf: String(decoding: text[at..<end], as: UTF8.self).unicodeScalars)
      at = end
    }
    return String(content)
  }
}
