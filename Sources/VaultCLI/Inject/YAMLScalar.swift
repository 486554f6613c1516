internal import VaultBytes
internal import VaultWire

/// Text as a double-quoted scalar of YAML 1.2, the only style that can hold any character (section 5.7).
enum YAMLScalar {
  /// - Parameter utf8: well-formed UTF-8.
  static func append(_ utf8: RawSpan, to text: inout SecretBuffer) {
    let bytes = Span<UInt8>(_bytes: utf8)
    text.reserve(bytes.count + 2)
    text.append(UInt8(ascii: "\""))
    var at = 0
    while at < bytes.count {
      let length = length(bytes[at])
      let scalar = scalar(bytes, at, length)
      switch scalar {
      case 0x22, 0x5C:
        text.append(UInt8(ascii: "\\"))
        text.append(bytes[at])
      case 0x09: text.append("\\t" as StaticString)
      case 0x0A: text.append("\\n" as StaticString)
      case 0x0D: text.append("\\r" as StaticString)
      default:
        if isPlain(scalar) { text.append(utf8.extracting(at..<at + length)) } else { spell(scalar, in: &text) }
      }
      at += length
    }
    text.append(UInt8(ascii: "\""))
  }

  /// Returns true for a character that may stand for itself and is no line break: c-printable (section 5.1) without the
  /// byte order mark.
  private static func isPlain(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x2028, 0x2029, 0xFEFF: false
    case 0x20...0x7E, 0xA0...0xFFFD, 0x10000...: true
    default: false
    }
  }

  private static func spell(_ scalar: UInt32, in text: inout SecretBuffer) {
    text.append("\\u" as StaticString)
    for shift in [12, 8, 4, 0] as [UInt32] {
      let digit = UInt8(scalar >> shift & 15)
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  private static func length(_ lead: UInt8) -> Int { lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4 }

  private static func scalar(_ bytes: Span<UInt8>, _ at: Int, _ length: Int) -> UInt32 {
    if length == 1 { return UInt32(bytes[at]) }
    // RFC 3629, section 3.
    var scalar = UInt32(bytes[at]) & 0xFF >> UInt32(length + 1)
    for index in at + 1..<at + length { scalar = scalar << 6 | UInt32(bytes[index] & 0x3F) }
    return scalar
  }
}
