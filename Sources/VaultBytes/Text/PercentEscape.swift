/// Escapes in a URI (RFC 3986 section 2.1).
package enum PercentEscape {
  /// The byte at `place`, and the number of characters that spell it: three for an escape, otherwise one.
  package static func byte(_ bytes: RawSpan, at place: Int, before end: Int) -> (byte: UInt8, count: Int) {
    let byte = bytes.byte(place)
    guard byte == UInt8(ascii: "%"), place + 3 <= end, let high = hexDigit(bytes.byte(place + 1)),
      let low = hexDigit(bytes.byte(place + 2))
    else { return (byte, 1) }
    return (high << 4 | low, 3)
  }

  /// The text in `range` with its escapes decoded. It must not be secret.
  package static func text(_ bytes: RawSpan, _ range: Range<Int>) -> String {
    var text: [UInt8] = []
    var place = range.lowerBound
    while place < range.upperBound {
      let (byte, count) = byte(bytes, at: place, before: range.upperBound)
      text.append(byte)
      place += count
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text in which each percent sign must begin an escape; nil if one does not. The text must not be
  /// secret.
  package static func strictBytes(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// A text with each byte written as an escape, except the plain ones. These are ASCII characters other than the
  /// percent sign. The text must not be secret.
  package static func escaped(_ text: String, except isPlain: (UInt8) -> Bool) -> String {
    text.utf8.reduce(into: "") { result, byte in
      if isPlain(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "%" + [byte].hex
      }
    }
  }
}
