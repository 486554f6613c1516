public import VaultModel

/// The place of a record in the store. It is authenticated with the record, but not stored in it.
///
/// The encoding is a list of fields, each after its length in one byte: the format `vault 1`, the vault id (16 bytes),
/// the table (1), the item (16), the version (8), the access class (1), the policy revision (8); numbers are
/// little-endian. In tables that hold no items, a number (8) and zeros take the place of the item. All fields have
/// fixed sizes here; the lengths keep this list distinct from every other list.
public struct AssociatedData: Sendable {
  /// The tables whose records are sealed. The numbers are part of the format.
  public enum Table: UInt8, CaseIterable, Sendable {
    case heads = 1
    case values = 2
    case keys = 3
    case slots = 4
    case hashes = 6
    case tags = 10
    case meta = 11
    case grants = 7
    case deposits = 8
    case audit = 9
  }

  let storage: InlineArray<64, UInt8>

  /// Describes the record of `item` and `version` in `table`.
  ///
  /// If a table has no use for a field, always pass 0 for it (or `.always` for the class).
  public init(
    vault: VaultID, table: Table, item: ItemID, version: Int, accessible: AccessClass, policyRevision: Int
  ) {
    self.init(vault, table, item.numbers, version, accessible, policyRevision)
  }

  /// Describes the record with a number in `table`, which is a table that holds no items.
  public init(
    vault: VaultID, table: Table, number: Int64, version: Int = 0, accessible: AccessClass, policyRevision: Int = 0
  ) {
    self.init(vault, table, (number, 0), version, accessible, policyRevision)
  }

  private init(
    _ vault: VaultID, _ table: Table, _ item: (Int64, Int64), _ version: Int, _ accessible: AccessClass,
    _ policyRevision: Int
  ) {
    var storage = InlineArray<64, UInt8>(repeating: 0)
    var span = storage.mutableSpan
    // Bytes have no padding, so all of them are initialized.
    var bytes = unsafe span.mutableBytes
    var writer = ByteWriter()
    writer.uint8(7, &bytes)
    unsafe writer.bytes(Self.format.span.bytes, &bytes)
    writer.uint8(UInt8(VaultID.count), &bytes)
    unsafe writer.bytes(vault.bytes.span.bytes, &bytes)
    writer.uint8(1, &bytes)
    writer.uint8(table.rawValue, &bytes)
    writer.uint8(UInt8(ItemID.count), &bytes)
    writer.int64(item.0, &bytes)
    writer.int64(item.1, &bytes)
    writer.uint8(8, &bytes)
    writer.int64(Int64(version), &bytes)
    writer.uint8(1, &bytes)
    writer.uint8(accessible.rawValue, &bytes)
    writer.uint8(8, &bytes)
    writer.int64(Int64(policyRevision), &bytes)
    precondition(writer.offset == storage.count)
    self.storage = storage
  }

  /// The encoded bytes.
  public var bytes: [UInt8] { unsafe storage.span.withUnsafeBufferPointer { unsafe [UInt8]($0) } }

  /// The text `vault 1`, the first field of everything that is authenticated.
  static let format: InlineArray<7, UInt8> = [0x76, 0x61, 0x75, 0x6C, 0x74, 0x20, 0x31]

  static var formatField: [UInt8] { format.indices.map { format[$0] } }

  /// Encodes any other list of fields, for data off the request path. Each field comes after its length in 4 bytes.
  static func encode(_ fields: [[UInt8]]) -> [UInt8] {
    var result: [UInt8] = []
    for field in fields {
      let count = UInt32(field.count)
      result += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: count >> $0) }
      result += field
    }
    return result
  }

  /// The context to which data other than a record is bound, such as a wrapped class key or the key of a backup:
  /// format, `purpose`, vault id, `fields`.
  static func encode(purpose: String, _ vault: VaultID, _ fields: [[UInt8]]) -> [UInt8] {
    encode([formatField, Array(purpose.utf8), vault.bytes] + fields)
  }
}
