/// The checksum of gzip and zip: CRC-32 (RFC 1952 section 8).
struct CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  private var state = UInt32.max

  /// The checksum of all bytes so far.
  var value: UInt32 { ~state }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    let table = Self.table
    for byte in bytes { state = table[Int((state ^ UInt32(byte)) & 0xFF)] ^ state >> 8 }
  }
}
