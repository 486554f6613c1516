/// One page of the database file, and the encodings of numbers in its format (sqlite.org/fileformat2.html §1.6, §2.1).
struct Page {
  static let size = DatabaseHeader.pageSize

  /// The page's number in the file, counted from 1.
  let number: Int
  let bytes: [UInt8]

  /// The two bytes at `offset` as a number, the most significant byte first.
  func number16(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }

  /// The four bytes at `offset` as a number, the most significant byte first.
  func number32(at offset: Int) -> Int { number16(at: offset) << 16 | number16(at: offset + 2) }

  /// The variable-length number at `offset`, and its end.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the number reaches beyond `end`, or is longer than SQLite would write
  ///   it: each number must have exactly one encoding.
  func varint(at offset: Int, before end: Int) throws(VaultError) -> (value: UInt64, end: Int) {
    // Most numbers take one byte.
    if offset < end, bytes[offset] < 0x80 { return (UInt64(bytes[offset]), offset + 1) }
    var value: UInt64 = 0
    for index in 0..<9 {
      guard offset + index < end else { break }
      let byte = bytes[offset + index]
      if index == 8 { return try checked(value << 8 | UInt64(byte), from: offset, to: offset + 9) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return try checked(value, from: offset, to: offset + index + 1) }
    }
    throw damaged("a number that does not end")
  }

  private func checked(_ value: UInt64, from start: Int, to end: Int) throws(VaultError) -> (value: UInt64, end: Int) {
    let bits = UInt64.bitWidth - value.leadingZeroBitCount
    guard end - start == (bits > 56 ? 9 : (bits + 6) / 7) else { throw damaged("a number of too many bytes") }
    return (value, end)
  }

  /// The error for a page with content that it must not have.
  func damaged(_ what: String) -> VaultError { .corrupt("page \(number) has \(what)") }
}
