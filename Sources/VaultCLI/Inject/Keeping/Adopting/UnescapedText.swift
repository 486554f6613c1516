internal import VaultBytes
internal import VaultWire

/// A text with all escapes of JSON and YAML strings undone, so that a value is found however its characters are
/// spelled.
struct UnescapedText: ~Copyable {
  let bytes: SecretBuffer
  /// The offset of each byte in the original text, followed by the end of that text.
  private let origins: [UInt32]

  init(_ text: RawSpan) {
    let text = Span<UInt8>(_bytes: text)
    var bytes = SecretBuffer(capacity: text.count)
    var origins: [UInt32] = []
    var at = 0
    while at < text.count {
      let start = at
      if let scalar = Self.escape(in: text, &at), let encoded = UTF8.encode(scalar) {
        for byte in encoded {
          bytes.append(byte)
          origins.append(UInt32(start))
        }
      } else {
        bytes.append(text[start])
        origins.append(UInt32(start))
        at = start + 1
      }
    }
    origins.append(UInt32(text.count))
    self.bytes = bytes
    self.origins = origins
  }

  /// Returns the place of some bytes in the original text.
  func origin(of place: Range<Int>) -> Range<Int> { origin(of: place.lowerBound)..<origin(of: place.upperBound) }

  /// Returns the offset of one byte in the original text; for the end of the bytes, the end of that text.
  func origin(of place: Int) -> Int { Int(origins[place]) }

  /// Returns the character that the escape at `at` stands for, and moves `at` behind the escape; nil if there is none.
  private static func escape(in text: Span<UInt8>, _ at: inout Int) -> Unicode.Scalar? {
    guard text[at] == UInt8(ascii: "\\"), at + 1 < text.count else { return nil }
    let letter = text[at + 1]
    let digits: Int
    switch letter {
    case UInt8(ascii: "x"): digits = 2
    case UInt8(ascii: "u"): digits = 4
    case UInt8(ascii: "U"): digits = 8
    default:
      at += 2
      return simple(letter)
    }
    guard let first = number(in: text, at + 2, digits) else { return nil }
    at += 2 + digits
    if let scalar = Unicode.Scalar(first) { return scalar }
    // The first half of a surrogate pair, which the second half must follow.
    guard 0xD800..<0xDC00 ~= first, at + 1 < text.count, text[at] == UInt8(ascii: "\\"),
      text[at + 1] == UInt8(ascii: "u"), let second = number(in: text, at + 2, 4), 0xDC00..<0xE000 ~= second
    else { return nil }
    at += 6
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private static func simple(_ letter: UInt8) -> Unicode.Scalar? {
    switch letter {
    case UInt8(ascii: "0"): "\0"
    case UInt8(ascii: "a"): "\u{7}"
    case UInt8(ascii: "b"): "\u{8}"
    case UInt8(ascii: "e"): "\u{1B}"
    case UInt8(ascii: "f"): "\u{C}"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"), 0x09: "\t"
    case UInt8(ascii: "v"): "\u{B}"
    case UInt8(ascii: "N"): "\u{85}"
    case UInt8(ascii: "_"): "\u{A0}"
    case UInt8(ascii: "L"): "\u{2028}"
    case UInt8(ascii: "P"): "\u{2029}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), 0x20: Unicode.Scalar(letter)
    default: nil
    }
  }

  private static func number(in text: Span<UInt8>, _ start: Int, _ digits: Int) -> UInt32? {
    guard start + digits <= text.count else { return nil }
    var number: UInt32 = 0
    for index in start..<start + digits {
      guard let digit = Character(Unicode.Scalar(text[index])).hexDigitValue else { return nil }
      number = number << 4 | UInt32(digit)
    }
    return number
  }
}
