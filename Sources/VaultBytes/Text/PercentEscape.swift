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
}
