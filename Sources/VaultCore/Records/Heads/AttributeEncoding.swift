internal import VaultBytes
internal import VaultModel

/// The encoding of attributes in records, numbers little-endian:
///
///   2  number of attributes, then for each, in ascending order of the keys' bytes:
///        1  key's size    …  key, ASCII    2  value's size    …  value, UTF-8
enum AttributeEncoding {
  static func write(_ attributes: [String: String], _ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    writer.uint16(attributes.count, &out)
    for (key, value) in attributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      writer.uint8(UInt8(key.utf8.count), &out)
      writer.text(key, &out)
      writer.sized(value, &out)
    }
  }

  static func read(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> [String: String] {
    let count = try reader.uint16(input)
    guard count > 0 else { return [:] }
    guard count <= Attributes.maximumCount else { throw .malformed("too many attributes") }
    var attributes = [String: String](minimumCapacity: count)
    var last = 0..<0
    for _ in 0..<count {
      var size = Int(try reader.uint8(input))
      let start = reader.offset
      let key = try reader.text(size, input)
      let range = start..<reader.offset
      guard precedes(last, range, input) else { throw .malformed("attributes are out of order") }
      guard isKey(key) else { throw .malformed("attribute's name") }
      size = try reader.uint16(input)
      guard size <= Attributes.maximumValueBytes else { throw .malformed("attribute is too long") }
      attributes[key] = try reader.text(size, input)
      last = range
    }
    return attributes
  }

  /// True if `key` is ASCII of a valid length. In ASCII, two different keys are never canonically equivalent.
  static func isKey(_ key: String) -> Bool {
    1...Attributes.maximumKeyBytes ~= key.utf8.count && key.utf8.allSatisfy { $0 < 0x80 }
  }

  /// True if the bytes of `first` come before those of `second`; an empty range comes before all others.
  private static func precedes(_ first: Range<Int>, _ second: Range<Int>, _ input: RawSpan) -> Bool {
    for index in 0..<min(first.count, second.count) {
      let (left, right) = (input.byte(first.lowerBound + index), input.byte(second.lowerBound + index))
      if left != right { return left < right }
    }
    return first.count < second.count
  }
}
