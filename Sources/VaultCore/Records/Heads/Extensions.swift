/// Fields that later programs may add at the end of a record. They are kept unchanged, so that rewriting
/// a record loses nothing.
///
/// The encoding is the size in bytes (2, little-endian) and then the fields, each a type byte, a size (2) and the
/// content, in ascending order of their types. A field of type 128 or above changes the meaning of the rest, so a
/// program that does not know the field must refuse the record.
public struct Extensions: Hashable, Sendable {
  /// The encoded fields, without the size before them.
  let bytes: [UInt8]

  /// Makes an empty set of fields.
  public init() { bytes = [] }

  /// Encodes fields of this program, which must be in ascending order of their types.
  init(_ fields: [(type: UInt8, content: [UInt8])]) {
    var bytes: [UInt8] = []
    for (type, content) in fields {
      bytes.append(type)
      bytes.append(UInt8(truncatingIfNeeded: content.count))
      bytes.append(UInt8(content.count >> 8))
      bytes.append(contentsOf: content)
    }
    self.bytes = bytes
  }

  /// Returns the same fields, with `content` in the field of this type; nil removes the field.
  func replacing(_ type: UInt8, with content: [UInt8]?) -> Extensions {
    if bytes.isEmpty { return content.map { Extensions([(type, $0)]) } ?? self }
    var fields = self.fields.filter { $0.type != type }
    if let content { fields.append((type, content)) }
    return Extensions(fields.sorted { $0.type < $1.type })
  }

  /// The content of the field of this type; nil if there is no such field.
  func field(_ type: UInt8) -> [UInt8]? { bytes.isEmpty ? nil : fields.first { $0.type == type }?.content }

  /// Returns the fields that `take` leaves: `take` sees each field, and takes those for which it returns true.
  func taking(
    _ take: (_ type: UInt8, _ content: [UInt8]) throws(CryptoError) -> Bool
  ) throws(CryptoError) -> Extensions {
    if bytes.isEmpty { return self }
    var left: [(type: UInt8, content: [UInt8])] = []
    for field in fields where try !take(field.type, field.content) { left.append(field) }
    return left.isEmpty ? Extensions() : Extensions(left)
  }

  private var fields: [(type: UInt8, content: [UInt8])] {
    var fields: [(type: UInt8, content: [UInt8])] = []
    var rest = bytes[...]
    while let type = rest.first {
      // The sizes were checked when the record was read.
      let start = rest.startIndex + 3
      let end = start + Int(rest[start - 2]) + Int(rest[start - 1]) << 8
      fields.append((type, Array(rest[start..<end])))
      rest = rest[end...]
    }
    return fields
  }

  var encodedCount: Int { 2 + bytes.count }

  /// True if the size of the fields fits the two bytes that state it. Fields that were read always fit, but may no
  /// longer fit after other fields are added.
  var fitsEncoding: Bool { UInt16(exactly: bytes.count) != nil }

  func write(_ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    writer.uint16(bytes.count, &out)
    unsafe writer.bytes(bytes.span.bytes, &out)  // Bytes have no padding: all are initialized.
  }

  /// Reads the fields of a record.
  ///
  /// - Parameter decisive: The types of 128 and above that this program knows in such a record.
  init(_ reader: inout ByteReader, _ input: RawSpan, decisive: [UInt8] = []) throws(CryptoError) {
    let count = try reader.uint16(input)
    let end = reader.offset + count
    var fields = reader
    var last = -1
    while fields.offset < end {
      let type = Int(try fields.uint8(input))
      guard type > last else { throw .malformed("extension fields are out of order") }
      guard type < 128 || decisive.contains(UInt8(type)) else {
        throw .malformed("extension field \(type) needs a later program")
      }
      last = type
      let size = try fields.uint16(input)
      _ = try fields.range(size, input)
    }
    guard fields.offset == end else { throw .malformed("extension field is too long") }
    bytes = try reader.array(count, input)
  }
}
