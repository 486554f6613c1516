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

  static let encodedCount = 8 + 8 + 8 + Digest.count

  /// The limit for rows, entries and bytes of a log. Sums of such numbers are far below the limits of an integer.
  public static let most: Int64 = 1 << 53

  fileprivate func write(_ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    writer.int64(row, &out)
    writer.int64(entries, &out)
    writer.int64(bytes, &out)
    link.withBytes { writer.bytes($0, &out) }
  }

  fileprivate init(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) {
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

/// The authenticated facts about the audit log: the position at which it begins, because older records were removed;
/// the position up to which it was known to be complete; and the use that subjects had made of it up to there. The
/// anchor is part of the record set of the strongest class, so it changes only while the vault is unlocked.
///
/// The stored form:
///
///   1  format version, 1 or 2    1  whether anybody vouched for the chain before the first record, 1 or 0
///   the position before the first record    the position up to which all is known; in version 2 then
///   2  number of ranges of rows that are set aside    for each, in order, 8  first row    8  last row
///   8  ``early``    8  ``earlyTime``    to the end  ``AuditUsage``, sealed, if it is known
public struct AuditAnchor: Hashable, Sendable {
  public var cut: AuditPosition
  public var joined: AuditPosition
  /// False if nobody vouched for the chain before ``cut``, which the next chain may have continued.
  public var isVouchedFor: Bool
  /// The rows of whole chains that nobody can read and that were set aside, in order. A check skips these rows, and the
  /// records after them still vouch for them.
  public var aside: [ClosedRange<Int64>] = []
  /// The sealed use that subjects have made of the log (``AuditUsage``); empty if not known.
  public private(set) var usage: [UInt8] = []
  /// The bytes, up to ``joined``, that were written before a first unlock. Each day subtracts a seventh.
  public private(set) var early: Int64 = 0
  /// The time at which ``early`` was computed, Unix seconds.
  public private(set) var earlyTime: Int64 = 0
  private static let week: Int64 = 7 * 86_400

  /// The version of an anchor without set-aside rows and without usage, and the version of any other anchor.
  private static let (plainVersion, version): (UInt8, UInt8) = (1, 2)
  /// The highest number of ranges of rows that are set aside.
  public static let mostAside = 256

  public init(cut: AuditPosition, joined: AuditPosition, isVouchedFor: Bool = true) {
    (self.cut, self.joined, self.isVouchedFor) = (cut, joined, isVouchedFor)
  }

  /// True if a row is among those that were set aside.
  public func isAside(_ row: Int64) -> Bool { aside.contains { $0.contains(row) } }

  /// Forgets the usage, for another store with other keys.
  public mutating func forgetUsage() { usage = [] }

  /// Stores the sealed use that subjects have made of the log.
  ///
  /// - Parameters:
  ///   - time: Unix seconds. A clock that jumps subtracts no more from ``early`` than one day does.
  ///   - more: The bytes that were written before a first unlock since the last call.
  public mutating func keep(_ usage: [UInt8], at time: Int64, early more: Int64) {
    let passed = min(max(0, Seconds.from(earlyTime, to: time)), AuditChain.longestStep)
    let left = early - Int64(Double(early) * Double(passed) / Double(Self.week))
    (early, earlyTime) = (min(left + min(max(0, more), AuditPosition.most), AuditPosition.most), time)
    self.usage = usage
  }

  public var encoded: [UInt8] {
    let isPlain = aside.isEmpty && usage.isEmpty
    let more = isPlain ? 0 : 2 + aside.count * 16 + 16
    return ByteWriter.array(count: 1 + 1 + 2 * AuditPosition.encodedCount + more) { writer, out in
      writer.uint8(isPlain ? Self.plainVersion : Self.version, &out)
      writer.uint8(isVouchedFor ? 1 : 0, &out)
      cut.write(&writer, &out)
      joined.write(&writer, &out)
      if isPlain { return }
      writer.uint16(aside.count, &out)
      for rows in aside {
        writer.int64(rows.lowerBound, &out)
        writer.int64(rows.upperBound, &out)
      }
      writer.int64(early, &out)
      writer.int64(earlyTime, &out)
    } + usage
  }

  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    let version = try reader.uint8(input)
    guard version == Self.plainVersion || version == Self.version else {
      throw .malformed("unknown version of audit anchor")
    }
    let flag = try reader.uint8(input)
    guard flag <= 1 else { throw .malformed("audit anchor") }
    isVouchedFor = flag == 1
    cut = try AuditPosition(&reader, input)
    joined = try AuditPosition(&reader, input)
    guard cut.row <= joined.row, cut.entries <= joined.entries, cut.bytes <= joined.bytes else {
      throw .malformed("audit anchor")
    }
    if version == Self.version {
      aside = try Self.aside(&reader, input)
      early = try reader.int64(input)
      earlyTime = try reader.int64(input)
      guard (0...AuditPosition.most).contains(early) else { throw .malformed("audit anchor") }
      let count = reader.remaining(input)
      let isUsage = (AEAD.overhead + 1...AEAD.overhead + AuditUsage.largest).contains(count)
      guard isUsage || count == 0 && !aside.isEmpty else { throw .malformed("audit anchor") }
      usage = try reader.array(count, input)
    }
    try reader.finish(input)
  }

  private static func aside(
    _ reader: inout ByteReader, _ input: RawSpan
  ) throws(CryptoError) -> [ClosedRange<Int64>] {
    let count = try reader.uint16(input)
    guard (0...mostAside).contains(count) else { throw .malformed("audit anchor") }
    var aside: [ClosedRange<Int64>] = []
    for _ in 0..<count {
      let (first, last) = (try reader.int64(input), try reader.int64(input))
      guard first > aside.last?.upperBound ?? 0, last >= first, last < AuditPosition.most else {
        throw .malformed("audit anchor")
      }
      aside.append(first...last)
    }
    return aside
  }
}
