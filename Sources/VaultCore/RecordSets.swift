public import VaultModel

/// The hashes over all records of one access class: one ``RecordSet`` for each table, or for a part of a table that is
/// small and whose rows are to be told apart.
///
/// As stored, numbers little-endian:
///
///   1  format version, 1    32  random mask
///   then for each set, ascending: 1  table    4  part    8  number of records    32  exclusive or of the marks, masked
///   32  MAC over all before
///
/// Each set is masked with keyed BLAKE2b of the mask and the set's place, as the paper asks, so that what was stored at
/// different times tells nothing of the marks. The paper keeps the hash where nobody else can write; here it lies beside
/// the records, so a MAC is over it.
public struct RecordSets: Hashable, Sendable {
  /// Which records a set is over.
  public struct Place: Hashable, Comparable, Sendable {
    public var table: AssociatedData.Table
    /// 0 where the table has one set.
    public var part: UInt32

    public init(_ table: AssociatedData.Table, part: UInt32 = 0) {
      self.table = table
      self.part = part
    }

    public static func < (a: Place, b: Place) -> Bool { (a.table.rawValue, a.part) < (b.table.rawValue, b.part) }
  }

  private static let formatVersion: UInt8 = 1
  private static let entryCount = 1 + 4 + 8 + RecordMark.count
  private var sets: [Place: RecordSet] = [:]

  /// No records.
  public init() {}

  /// The set over `place`.
  public subscript(place: Place) -> RecordSet {
    get { sets[place] ?? RecordSet() }
    set { sets[place] = newValue == RecordSet() ? nil : newValue }
  }

  /// Where there are records, in ascending order.
  public var places: [Place] { sets.keys.sorted() }

  /// Whether nothing is in any set.
  public var isEmpty: Bool { sets.isEmpty }

  /// How many records there are in all.
  public var count: Int64 { sets.values.reduce(0) { $0 &+ $1.count } }

  /// Applies a difference.
  public mutating func merge(_ other: RecordSets) {
    for (place, set) in other.sets { self[place].merge(set) }
  }

  /// The sets as they are stored, under a fresh mask and the integrity key of the class.
  public func encoded(_ vault: VaultID, _ accessible: AccessClass, key: borrowing SecureBytes) -> [UInt8] {
    let places = places
    var bytes = [UInt8](repeating: 0, count: 1 + RecordMark.count + places.count * Self.entryCount + RecordMark.count)
    var span = bytes.mutableSpan
    var out = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var writer = ByteWriter()
    let mask = RandomBytes.array(count: RecordMark.count)
    writer.uint8(Self.formatVersion, &out)
    unsafe writer.bytes(mask.span.bytes, &out)
    for place in places {
      let set = self[place]
      writer.uint8(place.table.rawValue, &out)
      writer.uint32(place.part, &out)
      writer.int64(set.count, &out)
      let masked = set.marks ^ Self.mask(mask, place, vault, accessible, key)
      masked.withBytes { writer.bytes($0, &out) }
    }
    let mac = Self.mac(out.bytes.extracting(first: writer.offset), vault, accessible, key)
    mac.withBytes { writer.bytes($0, &out) }
    return bytes
  }

  /// Reads what ``encoded(_:_:key:)`` made.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` for another key, class or vault, or changed bytes;
  ///   ``CryptoError/malformed(_:)`` for what a later program wrote.
  public init(
    decoding input: RawSpan, _ vault: VaultID, _ accessible: AccessClass, key: borrowing SecureBytes
  ) throws(CryptoError) {
    let body = input.byteCount - RecordMark.count
    guard body > RecordMark.count, let mac = RecordMark(input.extracting(droppingFirst: body)) else {
      throw .malformed("record of hashes is too short")
    }
    guard mac == Self.mac(input.extracting(first: body), vault, accessible, key) else { throw .authenticationFailed }
    let input = input.extracting(first: body)
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of hashes") }
    let mask = try reader.array(RecordMark.count, input)
    while reader.remaining(input) > 0 {
      guard let table = AssociatedData.Table(rawValue: try reader.uint8(input)) else { throw .malformed("table") }
      let place = Place(table, part: try reader.uint32(input))
      let count = try reader.int64(input)
      guard let masked = RecordMark(input.extracting(try reader.range(RecordMark.count, input))) else {
        throw .malformed("hash")
      }
      sets[place] = RecordSet(count: count, marks: masked ^ Self.mask(mask, place, vault, accessible, key))
    }
  }

  // A record's mark is never made with the table `hashes`, and the MAC has another version than the masks.
  private static func mask(
    _ random: [UInt8], _ place: Place, _ vault: VaultID, _ accessible: AccessClass, _ key: borrowing SecureBytes
  ) -> RecordMark {
    let number = Int64(place.table.rawValue) << 32 | Int64(place.part)
    let context = AssociatedData(vault: vault, table: .hashes, number: number, accessible: accessible)
    return RecordMark(context, unsafe random.span.bytes, key: key)  // Bytes have no padding: all are initialized.
  }

  private static func mac(
    _ bytes: RawSpan, _ vault: VaultID, _ accessible: AccessClass, _ key: borrowing SecureBytes
  ) -> RecordMark {
    let context = AssociatedData(vault: vault, table: .hashes, number: 0, version: 1, accessible: accessible)
    return RecordMark(context, bytes, key: key)
  }
}
