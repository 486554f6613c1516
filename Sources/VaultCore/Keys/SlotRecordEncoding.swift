internal import VaultModel

// Version 1 of the encoding. Numbers are little-endian.
//
//   1  format version, 1
//   4  id    1  kind    8  created, Unix seconds
//   1  derivation: 0 none, 1 Argon2id; then for Argon2id 8  memory in bytes    4  passes
//   1  salt's size    …  salt
//   2  label's size    …  label, UTF-8
//   2  size of the extension fields    …  extension fields (see Extensions)
//   2  wrapped key's size    …  wrapped key
//
// All but the last line is the associated data of the wrapped key.
extension SlotRecord {
  private static let formatVersion: UInt8 = 1

  /// The record as the store keeps it.
  public func encoded() -> [UInt8] {
    var bytes = encodedFields(extra: 2 + wrapped.count)
    var span = bytes.mutableSpan
    var all = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var out = all._mutatingExtracting(last: 2 + wrapped.count)
    var writer = ByteWriter()
    writer.uint16(wrapped.count, &out)
    unsafe writer.bytes(wrapped.span.bytes, &out)
    return bytes
  }

  /// All bytes before the wrapped key, followed by `extra` zero bytes.
  func encodedFields(extra: Int = 0) -> [UInt8] {
    let count =
      1 + 4 + 1 + 8 + 1 + (kdf == nil ? 0 : 12) + 1 + salt.count + 2 + label.utf8.count + extensions.encodedCount
    var bytes = [UInt8](repeating: 0, count: count + extra)
    var span = bytes.mutableSpan
    var out = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var writer = ByteWriter()
    writer.uint8(Self.formatVersion, &out)
    writer.uint32(id, &out)
    writer.uint8(kind.rawValue, &out)
    writer.int64(created, &out)
    writer.uint8(kdf == nil ? 0 : 1, &out)
    if let kdf {
      writer.int64(Int64(kdf.memory), &out)
      writer.uint32(UInt32(kdf.passes), &out)
    }
    writer.uint8(UInt8(salt.count), &out)
    unsafe writer.bytes(salt.span.bytes, &out)
    writer.uint16(label.utf8.count, &out)
    writer.text(label, &out)
    extensions.write(&writer, &out)
    precondition(writer.offset == count, "a slot's size was computed wrongly")
    return bytes
  }

  /// Reads a record that ``encoded()`` wrote.
  ///
  /// - Throws: ``CryptoError/limits(_:)`` for derivation parameters outside the accepted range;
  ///   ``CryptoError/malformed(_:)`` for other bytes that are not a slot.
  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of slot record") }
    let id = try reader.uint32(input)
    guard let kind = SlotKind(rawValue: try reader.uint8(input)) else { throw .malformed("unknown kind of slot") }
    let created = try reader.int64(input)
    var kdf: Argon2id.Parameters?
    switch try reader.uint8(input) {
    case 0: break
    case 1:
      let memory = try reader.count(input, least: 0, "Argon2id memory")
      kdf = Argon2id.Parameters(memory: memory, passes: Int(try reader.uint32(input)))
    default: throw .malformed("unknown derivation")
    }
    let salt = try reader.array(Int(try reader.uint8(input)), input)
    let label = try reader.text(try reader.uint16(input), input)
    let extensions = try Extensions(&reader, input)
    let wrapped = try reader.array(try reader.uint16(input), input)
    try reader.finish(input)
    try self.init(
      id: id, kind: kind, label: label, created: created, kdf: kdf, salt: salt, wrapped: wrapped,
      extensions: extensions)
  }
}
