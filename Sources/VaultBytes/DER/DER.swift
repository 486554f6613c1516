/// A writer of the distinguished encoding of ASN.1 (ITU-T X.690), for content that is not secret.
package enum DER {
  /// An element with its tag and its length.
  package static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    header(tag, count: content.count) + content
  }

  /// The octets before the contents of an element with `count` contents octets; the length takes one octet, or
  /// one to four more.
  package static func header(_ tag: UInt8, count: Int) -> [UInt8] {
    guard count >= 0x80 else { return [tag, UInt8(count)] }
    let octets = (1...4).first { count >> (8 * $0) == 0 }!
    return [tag, 0x80 | UInt8(octets)]
      + (0..<octets).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
  }

  /// A non-negative INTEGER: `digits` are big-endian, with any number of leading zeros.
  package static func unsigned(_ digits: some Collection<UInt8>) -> [UInt8] {
    let digits = Array(digits.drop { $0 == 0 })
    return element(DERTag.integer, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
  }

  /// A BIT STRING of whole octets.
  package static func bits(_ content: [UInt8]) -> [UInt8] { element(DERTag.bitString, [0] + content) }
}
