/// A writer of SSH's data types (RFC 4251 section 5), for content that is not secret.
package struct SSHWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  package mutating func boolean(_ value: Bool) { bytes.append(value ? 1 : 0) }

  package mutating func uint32(_ number: UInt32) {
    for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// Writes a string of these bytes, which must be fewer than 4 GiB.
  package mutating func string(_ content: some Collection<UInt8>) {
    uint32(UInt32(content.count))
    bytes.append(contentsOf: content)
  }

  package mutating func string(_ text: String) { string(text.utf8) }

  /// Writes the mpint of a non-negative number: `digits` are big-endian, with any number of leading zeros.
  package mutating func unsignedInteger(_ digits: some Collection<UInt8>) {
    let digits = digits.drop { $0 == 0 }
    let sign: [UInt8] = digits.first.map { $0 >= 0x80 } == true ? [0] : []
    uint32(UInt32(sign.count + digits.count))
    bytes.append(contentsOf: sign)
    bytes.append(contentsOf: digits)
  }
}
