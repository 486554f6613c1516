internal import VaultModel

/// Whole chains that were removed from within the audit log, because more was written before an unlock than the log has
/// room for. The chain after them stands for what came before it.
///
/// A salvage also makes a gap of what it could not save.
///
/// The stored form: 8  first row    8  last row    8  bytes    32  ``link``.
public struct AuditGap: Hashable, Sendable {
  public var rows: ClosedRange<Int64>
  /// The bytes of the records in these rows; in a gap that a salvage made, the fewest bytes that its entries take.
  public var bytes: Int64
  /// The link of the record before the gap.
  public var link: Digest

  public init(rows: ClosedRange<Int64>, bytes: Int64, link: Digest) {
    (self.rows, self.bytes, self.link) = (rows, bytes, link)
  }

  /// Makes a gap of rows whose bytes are not known.
  ///
  /// - Parameter entries: The number of entries in these rows.
  public init(rows: ClosedRange<Int64>, entries: Int64, link: Digest) {
    self.init(rows: rows, bytes: entries * AuditBlock.leastEntry, link: link)
  }

  /// The most entries that the records in these rows can have held.
  public var mostEntries: Int64 { min(bytes / AuditBlock.leastEntry, Self.mostEntries(ofRows: Int64(rows.count))) }

  /// The most entries of so many rows of any size.
  public static func mostEntries(ofRows count: Int64) -> Int64 {
    min(count, AuditPosition.most / AuditBlock.mostEntries) * AuditBlock.mostEntries
  }

  static let encodedCount = 3 * 8 + Digest.count

  fileprivate func write(_ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    for number in [rows.lowerBound, rows.upperBound, bytes] { writer.int64(number, &out) }
    link.withBytes { writer.bytes($0, &out) }
  }

  fileprivate init(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) {
    let (first, end) = (try reader.int64(input), try reader.int64(input))
    bytes = try reader.int64(input)
    guard first > 0, end >= first, [end, bytes].allSatisfy((0..<AuditPosition.most).contains),
      let link = Digest(input.extracting(try reader.range(Digest.count, input)))
    else { throw .malformed("audit anchor") }
    (rows, self.link) = (first...end, link)
  }
}

/// The authenticated facts about the audit log: the position at which it begins, because older records were removed;
/// the position up to which it was known to be complete; and the use that subjects had made of it up to there. The
/// anchor is part of the record set of the strongest class, so it changes only while the vault is unlocked.
///
/// Except for ``beginning``, an anchor is made only from the anchor before it, so nothing that it counts is forgotten.
/// If a salvage has lost the anchor, it counts anew.
///
/// The stored form:
///
///   1  format version, 1 to 3    1  whether anybody vouched for the chain before the first record, 1 or 0
///   the position before the first record    the position up to which all is known; from version 2 on then
///   2  number of ranges of rows that are set aside    for each, in order, 8  first row    8  last row
///   in version 3  2  number of gaps, 0 only if ``early`` is all that follows    for each, in order, the ``AuditGap``
///   8  ``early``    8  ``earlyTime``    to the end  ``AuditUsage``, sealed, if it is known
public struct AuditAnchor: Hashable, Sendable {
  public var cut: AuditPosition
  public private(set) var joined: AuditPosition
  /// False if nobody vouched for the chain before ``cut``, which the next chain may have continued.
  public var isVouchedFor: Bool
  /// The rows of whole chains that nobody can read and that were set aside, in order. A check skips these rows, and the
  /// records after them still vouch for them.
  public var aside: [ClosedRange<Int64>] = []
  /// The parts that were removed from within the log, in order. The last one may lie after ``joined``.
  public var gaps: [AuditGap] = []
  /// The sealed use that subjects have made of the log (``AuditUsage``); empty if not known.
  public private(set) var usage: [UInt8] = []
  /// The bytes, up to ``joined``, that were written before a first unlock. Each day subtracts a seventh.
  public private(set) var early: Int64 = 0
  /// The time at which ``early`` was computed, Unix seconds.
  public private(set) var earlyTime: Int64 = 0
  private static let week: Int64 = 7 * 86_400
  /// The seconds from one step of ``age(to:)`` to the next.
  private static let shortestStep: Int64 = 60

  /// The versions of an anchor without set-aside rows, gaps, usage and ``early``; of one with set-aside rows or usage,
  /// but without gaps; and of any other one.
  private static let (plainVersion, wholeVersion, version): (UInt8, UInt8, UInt8) = (1, 2, 3)
  /// The highest number of ranges of rows that are set aside.
  public static let mostAside = 256
  /// The highest number of gaps.
  public static let mostGaps = 1024

  /// The anchor of a log that has none yet.
  public static let beginning = AuditAnchor(cut: .start, joined: .start, isVouchedFor: true)

  private init(cut: AuditPosition, joined: AuditPosition, isVouchedFor: Bool) {
    (self.cut, self.joined, self.isVouchedFor) = (cut, joined, isVouchedFor)
  }

  /// The anchor of a copy of a part of the log, in another store.
  ///
  /// - Parameters:
  ///   - cut: The position at which the part begins.
  ///   - end: The position at which it ends, and up to which all is known.
  ///   - more: The bytes of the part after ``joined`` that were written before a first unlock.
  public func part(from cut: AuditPosition, to end: AuditPosition, early more: Int64) -> AuditAnchor {
    var part = self
    part.cut = cut
    part.aside.removeAll { $0.lowerBound <= cut.row || $0.upperBound > end.row }
    part.gaps.removeAll { $0.rows.lowerBound <= cut.row || $0.rows.upperBound > end.row }
    part.forgetUsage()
    part.join(to: end, early: more)
    return part
  }

  /// Covers the log up to `end`.
  ///
  /// - Parameter more: The bytes between ``joined`` and `end` that were written before a first unlock.
  public mutating func join(to end: AuditPosition, early more: Int64) {
    joined = end
    add(early: more)
  }

  /// Counts bytes that were written before a first unlock, although the anchor covers them already.
  public mutating func add(early more: Int64) {
    early = min(early + min(max(0, more), AuditPosition.most), AuditPosition.most)
  }

  /// Counts no more than this many bytes that were written before a first unlock.
  public mutating func limit(early most: Int64) { early = min(early, max(0, most)) }

  /// The gap in which a row lies; nil if it lies in none.
  public func gap(with row: Int64) -> AuditGap? { gaps.first { $0.rows.contains(row) } }

  /// True if a row is among those that were set aside.
  public func isAside(_ row: Int64) -> Bool { aside.contains { $0.contains(row) } }

  /// The gap that ends just before `row`; nil if there is none.
  public func gap(before row: Int64) -> AuditGap? { gaps.first { $0.rows.upperBound == row - 1 } }

  /// The row before `row` that is not in a gap.
  public func rowBefore(_ row: Int64) -> Int64 { gap(before: row).map { $0.rows.lowerBound - 1 } ?? row - 1 }

  /// The bytes that the log has after `position`.
  public func bytes(after position: AuditPosition, to end: AuditPosition) -> Int64 {
    let gone = gaps.lazy.filter { $0.rows.lowerBound > position.row && $0.rows.upperBound <= end.row }
    return max(0, end.bytes - position.bytes - gone.reduce(0) { $0 + $1.bytes })
  }

  /// Forgets the usage, for another store with other keys.
  public mutating func forgetUsage() { usage = [] }

  /// Stores the sealed use that subjects have made of the log.
  ///
  /// - Parameter time: Unix seconds. A clock that jumps subtracts no more from ``early`` than one day does.
  public mutating func keep(_ usage: [UInt8], at time: Int64) {
    age(to: time)
    self.usage = usage
  }

  /// Subtracts from ``early`` what the time since ``earlyTime`` takes, once that time is a minute or more.
  ///
  /// - Parameter time: Unix seconds.
  public mutating func age(to time: Int64) {
    let passed = min(max(0, Seconds.from(earlyTime, to: time)), AuditChain.longestStep)
    // A step that takes no whole byte takes nothing, and an anchor may be stored every second.
    guard passed >= Self.shortestStep || time < earlyTime else { return }
    early -= Int64(Double(early) * Double(passed) / Double(Self.week))
    earlyTime = time
  }

  public var encoded: [UInt8] {
    let isPlain = aside.isEmpty && usage.isEmpty && gaps.isEmpty && early == 0
    let hasGaps = !gaps.isEmpty || aside.isEmpty && usage.isEmpty
    let gone = hasGaps ? 2 + gaps.count * AuditGap.encodedCount : 0
    let more = isPlain ? 0 : 2 + aside.count * 16 + gone + 16
    return ByteWriter.array(count: 1 + 1 + 2 * AuditPosition.encodedCount + more) { writer, out in
      writer.uint8(isPlain ? Self.plainVersion : hasGaps ? Self.version : Self.wholeVersion, &out)
      writer.uint8(isVouchedFor ? 1 : 0, &out)
      cut.write(&writer, &out)
      joined.write(&writer, &out)
      if isPlain { return }
      writer.uint16(aside.count, &out)
      for rows in aside {
        writer.int64(rows.lowerBound, &out)
        writer.int64(rows.upperBound, &out)
      }
      if hasGaps { writer.uint16(gaps.count, &out) }
      for gap in gaps { gap.write(&writer, &out) }
      writer.int64(early, &out)
      writer.int64(earlyTime, &out)
    } + usage
  }

  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    let version = try reader.uint8(input)
    guard (Self.plainVersion...Self.version).contains(version) else {
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
    if version > Self.plainVersion {
      aside = try Self.aside(&reader, input)
      if version == Self.version { gaps = try Self.gaps(&reader, input) }
      early = try reader.int64(input)
      earlyTime = try reader.int64(input)
      guard (0...AuditPosition.most).contains(early) else { throw .malformed("audit anchor") }
      let count = reader.remaining(input)
      let isUsage = (AEAD.overhead + 1...AEAD.overhead + AuditUsage.largest).contains(count)
      let isOnlyEarly = count == 0 && aside.isEmpty && gaps.isEmpty
      // This form has an empty list of gaps, and no other form has one.
      let isRight = isOnlyEarly ? version == Self.version && early > 0 : version != Self.version || !gaps.isEmpty
      guard isUsage || count == 0, isRight else { throw .malformed("audit anchor") }
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

  private static func gaps(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> [AuditGap] {
    let count = try reader.uint16(input)
    guard (0...mostGaps).contains(count) else { throw .malformed("audit anchor") }
    var gaps: [AuditGap] = []
    for _ in 0..<count {
      let gap = try AuditGap(&reader, input)
      // Two gaps without a row between them are one.
      guard gap.rows.lowerBound > (gaps.last?.rows.upperBound).map({ $0 + 1 }) ?? 0 else {
        throw .malformed("audit anchor")
      }
      gaps.append(gap)
    }
    return gaps
  }
}
