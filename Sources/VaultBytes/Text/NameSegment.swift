/// Another program's name, such as a host or a user, as one part of an item's name.
///
/// ASCII letters, digits and `-_.@:+,` stand for themselves. Every other byte becomes `%` and two upper-case
/// hexadecimal digits (RFC 3986, section 2.1). So no name leaves its folder, and different names stay different. Two
/// rules go beyond RFC 3986: an empty name becomes `%` alone, and the dots of `.` and `..` are encoded.
package enum NameSegment {
  /// Returns the part for a name; the bytes need not be UTF-8.
  package static func encode(_ name: [UInt8]) -> String {
    if name.isEmpty { return "%" }
    let areDotsPlain = name.contains { $0 != UInt8(ascii: ".") } || name.count > 2
    var text: [UInt8] = []
    text.reserveCapacity(name.count)
    for byte in name {
      if isPlain(byte), byte != UInt8(ascii: ".") || areDotsPlain {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the part for a name that is text.
  package static func encode(_ name: String) -> String { encode(Array(name.utf8)) }

  /// Returns the name that ``encode(_:)`` turned into the part; nil for any other text.
  package static func decode(_ segment: some StringProtocol) -> [UInt8]? {
    if segment == "%" { return [] }
    guard let name = PercentEscape.strictBytes(Substring(segment)) else { return nil }
    // Only the spelling that ``encode(_:)`` produces counts.
    return encode(name).utf8.elementsEqual(segment.utf8) ? name : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
      UInt8(ascii: "@"), UInt8(ascii: ":"), UInt8(ascii: "+"), UInt8(ascii: ","):
      true
    default: false
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
