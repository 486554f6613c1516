internal import VaultModel

/// A position in the audit log between two records, with a link that stands for everything before it.
///
/// The stored form, numbers little-endian:
///
///   8  row of the record before, 0 at the beginning    8  number of entries before
///   8  bytes of all records before, including those removed since    32  ``AuditChain`` link of the record before
public struct AuditPosition: Hashable, Sendable {
  public var row: Int64
  public var entries: Int64
  public var bytes: Int64
  public var link: Digest

  /// The position before the first record of a log.
  public static let start = AuditPosition(row: 0, entries: 0, bytes: 0, link: AuditChain.beginning)

  init(row: Int64, entries: Int64, bytes: Int64, link: Digest) {
    (self.row, self.entries, self.bytes, self.link) = (row, entries, bytes, link)
  }

  /// The position before the beginning of a chain in `row`, as the chain states it. The number of bytes before
  /// it is not known.
  public init(before chain: AuditChain, in row: Int64) {
    self.init(row: row - 1, entries: chain.first - 1, bytes: 0, link: chain.previous)
  }

  /// Advances over the next row, in which a chain begins.
  public mutating func pass(_ chain: AuditChain) {
    row += 1
    bytes += Int64(AuditChain.encodedCount)
    link = chain.link(row)
  }

  /// Advances over the next row, whose record has `count` entries.
  public mutating func pass(_ sealed: [UInt8], entries count: Int64) {
    row += 1
    entries += count
    bytes += Int64(sealed.count)
    link = AuditChain.link(row, after: link, sealed)
  }

  /// Advances over rows that were removed from within the log, up to the chain that begins after them. Nothing need
  /// authenticate the number that this chain states, so no more entries are passed than the rows can have held.
  public mutating func pass(_ gap: AuditGap, before chain: AuditChain) {
    row = gap.rows.upperBound
    entries = min(max(entries, chain.first - 1), entries + gap.mostEntries)
    bytes += gap.bytes
    link = chain.previous
  }

  static let encodedCount = 8 + 8 + 8 + Digest.count

  /// The limit for rows, entries and bytes of a log. Sums of such numbers are far below the limits of an integer.
  public static let most: Int64 = 1 << 53

  /// True if no chain may begin here, because the numbers are those of no log. The limit is so far below ``most`` that
  /// every chain that begins below it can be read.
  public var isTooFar: Bool { max(row, entries, bytes) >= Self.most / 2 }

  func write(_ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    writer.int64(row, &out)
    writer.int64(entries, &out)
    writer.int64(bytes, &out)
    link.withBytes { writer.bytes($0, &out) }
  }

  init(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) {
    row = try reader.int64(input)
    entries = try reader.int64(input)
    bytes = try reader.int64(input)
    guard [row, entries, bytes].allSatisfy((0...Self.most).contains) else { throw .malformed("audit position") }
    guard let link = Digest(input.extracting(try reader.range(Digest.count, input))) else {
      throw .malformed("audit position")
    }
    self.link = link
  }
}

/// The end of the audit log at the last write, with a MAC under the key at the end of its chain. The end is written
/// with each record, so that nobody without a copy of an earlier end can cut off the last records.
///
/// The stored form: 1  format version, 1    the position    8  row of the beginning of its chain    32  MAC.
public struct AuditEnd: Hashable, Sendable {
  public var position: AuditPosition
  /// The row in which the chain at the end of the log begins.
  public var chain: Int64
  public var mac: RecordMark

  private static let formatVersion: UInt8 = 1
  private static let signedCount = 1 + AuditPosition.encodedCount + 8

  /// Makes an end without a MAC, for which an anchor vouches.
  public init(_ position: AuditPosition, chain: Int64) { (self.position, self.chain, mac) = (position, chain, .none) }

  /// Makes the end of the chain whose current key is `key`.
  public init(_ position: AuditPosition, chain: Int64, _ vault: VaultID, key: inout AuditKey) {
    (self.position, self.chain) = (position, chain)
    mac = .none
    mac = mac(vault, key: &key)
  }

  /// The MAC that the end must have.
  public func mac(_ vault: VaultID, key: inout AuditKey) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .audit, number: 0, version: 2, accessible: .whenUnlocked)
    return unsafe key.mac(place, signed.span.bytes)  // Bytes have no padding: all are initialized.
  }

  private var signed: [UInt8] {
    ByteWriter.array(count: Self.signedCount) { writer, out in
      writer.uint8(Self.formatVersion, &out)
      position.write(&writer, &out)
      writer.int64(chain, &out)
    }
  }

  public var encoded: [UInt8] { signed + mac.array }

  /// Reads bytes that ``encoded`` wrote, without verifying them.
  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of audit end") }
    position = try AuditPosition(&reader, input)
    chain = try reader.int64(input)
    guard (0...position.row).contains(chain) else { throw .malformed("audit end") }
    guard let mac = RecordMark(input.extracting(try reader.range(RecordMark.count, input))) else {
      throw .malformed("audit end")
    }
    self.mac = mac
    try reader.finish(input)
  }
}
