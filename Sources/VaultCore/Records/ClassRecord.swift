public import VaultModel

/// The facts about all records of one access class, authenticated together under the integrity key of that class.
///
/// The stored form, numbers little-endian:
///
///   1  format version, 3    32  random mask
///   8  newest time    8  next row    4  next slot    8  number of items in the trash    8  age of the trash in seconds
///   then for each set, ascending: 1  table    4  part    8  number of records    32  exclusive or of the marks, masked
///   32  MAC over all before
///
/// Each set is masked with keyed BLAKE2b of the mask and the set's place, as the paper cited at ``RecordSet`` requires,
/// so that records stored at different times reveal nothing about the marks. The paper keeps the hash where nobody else
/// can write; here it lies beside the records, so a MAC covers it.
public struct ClassRecord: Hashable, Sendable {
  /// The part of a class record that is in the clear. Without the key, nothing vouches for it, so it is
  /// fit only for display.
  public struct Facts: Hashable, Sendable {
    /// The number of items in the class.
    public var items: Int64
    /// The newest time of any write in the class, Unix seconds.
    public var time: Int64
    /// A number above every row that an item has, or has had, while it belonged to the class.
    public var nextRow: Int64
    /// A number above that of every slot that the vault has had; the same in the records of all classes.
    public var nextSlot: UInt32
    /// The number of ``items`` that are in the trash.
    public var trashed: Int64
    /// The age of the trash, in seconds: the sum of the times from each write in the class to the next, of which each
    /// counts for at most ``longestStep``. A clock that jumps does not expire anything in the trash.
    public private(set) var age: Int64

    /// The most seconds between two writes that count for the age of the trash.
    public static let longestStep: Int64 = 86_400

    /// Describes a class.
    ///
    /// - Parameters:
    ///   - time: Unix seconds.
    ///   - nextRow: 1 or more.
    ///   - nextSlot: 1 or more.
    public init(
      items: Int64 = 0, time: Int64, nextRow: Int64, nextSlot: UInt32, trashed: Int64 = 0, age: Int64 = 0
    ) {
      (self.items, self.time, self.nextRow, self.nextSlot) = (items, time, nextRow, nextSlot)
      (self.trashed, self.age) = (trashed, age)
    }

    /// Records a write at `now`, Unix seconds.
    public mutating func advance(to now: Int64) {
      age = Seconds.after(min(max(0, Seconds.from(time, to: now)), Self.longestStep), age)
      time = max(time, now)
    }

    /// Corrects a newest time that was ahead of `now`, Unix seconds. The age goes back by the same amount, because it
    /// may have grown by that much without cause, but at most by ``longestSetback``: a single jump of years made it
    /// grow by only a day.
    public mutating func setBack(to now: Int64) {
      let ahead = min(max(0, Seconds.from(now, to: time)), Self.longestSetback)
      (time, age) = (min(time, now), max(0, age - ahead))
    }

    /// The most seconds by which the age goes back. For this time at most, measured by age, the vault remembers a
    /// deposit so that the same deposit is not taken in twice.
    private static let longestSetback: Int64 = 31 * 86_400

    /// The same facts, with the times, numbers and age of `other` where these are higher.
    public func raised(to other: Facts) -> Facts {
      Facts(
        items: items, time: max(time, other.time), nextRow: max(nextRow, other.nextRow),
        nextSlot: max(nextSlot, other.nextSlot), trashed: trashed, age: max(age, other.age))
    }

    /// True if a vault can have these numbers.
    var areUsable: Bool {
      (0...ClassRecord.mostRecords).contains(items) && (1...ClassRecord.lastRow).contains(nextRow)
        && (1...ClassRecord.lastSlot).contains(nextSlot) && (0...items).contains(trashed) && age >= 0
    }
  }

  /// The highest allowed ``Facts/nextRow``.
  public static let lastRow: Int64 = 1 << 53
  /// The highest allowed ``Facts/nextSlot``.
  public static let lastSlot: UInt32 = 1 << 31
  /// A limit above the number of records in any table. Sums and differences of such counts are far below the limits of
  /// an integer.
  public static let mostRecords: Int64 = 1 << 40

  /// The hashes over the records.
  public let sets: RecordSets
  /// The other facts; ``Facts/items`` follows from the sets.
  public let facts: Facts

  private static let formatVersion: UInt8 = 3
  private static let entryCount = 1 + 4 + 8 + RecordMark.count
  private static let fixedCount = 1 + RecordMark.count + 8 + 8 + 4 + 8 + 8
  private static let heads = RecordSets.Place(.heads)

  public init(sets: RecordSets, facts: Facts) {
    self.sets = sets
    self.facts = Facts(
      items: sets[Self.heads].count, time: facts.time, nextRow: facts.nextRow, nextSlot: facts.nextSlot,
      trashed: facts.trashed, age: facts.age)
  }

  /// The sets and the facts, to be changed and put together again.
  public var parts: (sets: RecordSets, facts: Facts) { (sets, facts) }

  /// The record in its stored form, under a fresh mask and the integrity key of the class.
  public func encoded(_ vault: VaultID, _ accessible: AccessClass, key: borrowing SecureBytes) -> [UInt8] {
    let places = sets.places
    var bytes = [UInt8](repeating: 0, count: Self.fixedCount + places.count * Self.entryCount + RecordMark.count)
    var span = bytes.mutableSpan
    var out = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var writer = ByteWriter()
    let mask = RandomBytes.array(count: RecordMark.count)
    writer.uint8(Self.formatVersion, &out)
    unsafe writer.bytes(mask.span.bytes, &out)
    writer.int64(facts.time, &out)
    writer.int64(facts.nextRow, &out)
    writer.uint32(facts.nextSlot, &out)
    writer.int64(facts.trashed, &out)
    writer.int64(facts.age, &out)
    for place in places {
      let set = sets[place]
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

  /// Reads bytes that ``encoded(_:_:key:)`` wrote.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` for another key, class or vault, or for changed bytes;
  ///   ``CryptoError/malformed(_:)`` for a record that a later program wrote; ``CryptoError/limits(_:)`` for numbers
  ///   that no vault reaches.
  public init(
    decoding input: RawSpan, _ vault: VaultID, _ accessible: AccessClass, key: borrowing SecureBytes
  ) throws(CryptoError) {
    let body = input.byteCount - RecordMark.count
    guard body > 0, let mac = RecordMark(input.extracting(droppingFirst: body)) else { throw Self.tooShort }
    guard mac == Self.mac(input.extracting(first: body), vault, accessible, key) else { throw .authenticationFailed }
    var reader = ByteReader()
    let input = input.extracting(first: body)
    let (mask, facts) = try Self.readFixed(&reader, input)
    var sets = RecordSets()
    while reader.remaining(input) > 0 {
      let (place, count) = try Self.readPlace(&reader, input)
      guard let masked = RecordMark(input.extracting(try reader.range(RecordMark.count, input))) else {
        throw .malformed("hash")
      }
      sets[place] = RecordSet(count: count, marks: masked ^ Self.mask(mask, place, vault, accessible, key))
    }
    self.init(sets: sets, facts: facts)
    guard self.facts.areUsable else { throw .limits("numbers of a class record") }
  }

  /// Reads the part of a record that is in the clear, without verifying it.
  ///
  /// - Throws: ``CryptoError/malformed(_:)``, ``CryptoError/limits(_:)`` if the bytes are not a class record.
  public static func facts(in input: RawSpan) throws(CryptoError) -> Facts {
    let body = input.byteCount - RecordMark.count
    guard body > 0 else { throw tooShort }
    let input = input.extracting(first: body)
    var reader = ByteReader()
    var (_, facts) = try readFixed(&reader, input)
    while reader.remaining(input) > 0 {
      let (place, count) = try readPlace(&reader, input)
      if place == heads { facts.items = count }
      _ = try reader.range(RecordMark.count, input)
    }
    guard facts.areUsable else { throw .limits("numbers of a class record") }
    return facts
  }

  private static func readFixed(
    _ reader: inout ByteReader, _ input: RawSpan
  ) throws(CryptoError) -> (mask: [UInt8], facts: Facts) {
    guard try reader.uint8(input) == formatVersion else { throw .malformed("unknown version of class record") }
    let mask = try reader.array(RecordMark.count, input)
    let facts = Facts(
      time: try reader.int64(input), nextRow: try reader.int64(input), nextSlot: try reader.uint32(input),
      trashed: try reader.int64(input), age: try reader.int64(input))
    return (mask, facts)
  }

  private static func readPlace(
    _ reader: inout ByteReader, _ input: RawSpan
  ) throws(CryptoError) -> (RecordSets.Place, count: Int64) {
    guard let table = AssociatedData.Table(rawValue: try reader.uint8(input)) else { throw .malformed("table") }
    let place = RecordSets.Place(table, part: try reader.uint32(input))
    let count = try reader.int64(input)
    guard (-mostRecords...mostRecords).contains(count) else { throw .limits("numbers of a class record") }
    return (place, count)
  }

  private static var tooShort: CryptoError { .malformed("class record is too short") }

  // No record's mark is made with the table `hashes`, and the MAC has another version than the masks.
  private static func mask(
    _ random: [UInt8], _ place: RecordSets.Place, _ vault: VaultID, _ accessible: AccessClass,
    _ key: borrowing SecureBytes
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
