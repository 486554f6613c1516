public import VaultModel

// The fields that deposits and sealed boxes share. Numbers are little-endian, texts UTF-8:
//
//   16  vault id    16  random id    8  time, Unix seconds
//
// The item:
//
//   1  access class    1  kind: its number as in a head; 0 for none
//   2  name's size    …  name
//   1  whether attributes are given, 0 or 1; if they are: 2  number of attributes, then as in a head record
//   4  value's size    …  value

/// The time and the identity of a deposit, and the vault that the deposit is for.
public struct DepositStamp: Hashable, Sendable {
  public var vault: VaultID
  /// A random identity: records with the same id are the same deposit.
  public var id: ItemID
  /// The time at which the deposit was made, Unix seconds.
  public var time: Int64

  public init(vault: VaultID, id: ItemID = .random(), time: Int64) {
    (self.vault, self.id, self.time) = (vault, id, time)
  }

  static let encodedCount = VaultID.count + ItemID.count + 8

  func write(_ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    unsafe writer.bytes(vault.bytes.span.bytes, &out)  // Bytes have no padding: all are initialized.
    id.withBytes { writer.bytes($0, &out) }
    writer.int64(time, &out)
  }

  init(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) {
    vault = try VaultID(try reader.array(VaultID.count, input))
    guard let id = ItemID(input.extracting(try reader.range(ItemID.count, input))) else { throw .malformed("id") }
    self.id = id
    time = try reader.int64(input)
  }
}

extension DepositedItem {
  /// The longest value in bytes.
  static let longestValue = 1 << 20

  func encodedCount(valueCount: Int) -> Int {
    var count = 1 + 1 + 2 + name.text.utf8.count + 1 + 4 + valueCount
    if let attributes {
      count += 2
      for (key, value) in attributes { count += 1 + key.utf8.count + 2 + value.utf8.count }
    }
    return count
  }

  /// Writes the item and its value, which `fill` writes in place.
  func write<R>(
    valueCount: Int, _ writer: inout ByteWriter, _ out: inout MutableRawSpan, _ fill: (inout MutableRawSpan) -> R
  ) -> R {
    writer.uint8(accessible.rawValue, &out)
    writer.uint8(kind?.facts.number ?? 0, &out)
    writer.sized(name.text, &out)
    writer.uint8(attributes == nil ? 0 : 1, &out)
    if let attributes { AttributeEncoding.write(attributes, &writer, &out) }
    writer.uint32(UInt32(valueCount), &out)
    return writer.fill(count: valueCount, &out, fill)
  }

  /// Reads the item, and stores the place of its value in `value`.
  init(_ reader: inout ByteReader, _ input: RawSpan, value: inout Range<Int>) throws(CryptoError) {
    guard let accessible = AccessClass(rawValue: try reader.uint8(input)) else { throw .malformed("unknown class") }
    var kind: ItemKind?
    let code = try reader.uint8(input)
    if code != 0 {
      kind = ItemKind(code: code)
      guard kind != nil else { throw .malformed("unknown kind") }
    }
    guard let name = try? ItemName(try reader.text(try reader.uint16(input), input)) else { throw .malformed("name") }
    var attributes: [String: String]?
    switch try reader.uint8(input) {
    case 0: break
    case 1: attributes = try AttributeEncoding.read(&reader, input)
    default: throw .malformed("attributes flag")
    }
    let count = Int(try reader.uint32(input))
    guard count <= Self.longestValue else { throw .malformed("value is too long") }
    value = try reader.range(count, input)
    self.init(name: name, accessible: accessible, kind: kind, attributes: attributes)
  }
}
