internal import VaultBytes
import VaultCore

/// The header of the log beside the database, with the running checksum of the frames that follow the header
/// (sqlite.org/walformat.html).
///
/// A frame belongs to the log when it has the header's salts, and its checksum continues from the frames before it.
struct LogFrames {
  static let headerSize = 32
  static let headSize = 24
  /// The size of a frame: a head and a page.
  static let frameSize = headSize + DatabaseHeader.pageSize
  /// The only version of the format.
  private static let version: UInt32 = 3_007_000
  /// The range of the salts in the header, in bytes.
  static let salts = 16..<24
  /// The range of the salts in the head of a frame, in bytes.
  static let saltsInHead = 8..<16

  private let salts: [UInt8]
  private var sums: (UInt32, UInt32) = (0, 0)
  private let isBigEndian: Bool

  /// Reads a header; nil unless the header is whole and belongs to a log of ours.
  init?(header: [UInt8]) {
    guard Self.number(header, at: 4) == Self.version, Self.number(header, at: 8) == DatabaseHeader.pageSize else {
      return nil
    }
    self.init(summing: header)
  }

  /// Reads a header; nil unless it has the magic number and the checksum of a log.
  private init?(summing header: [UInt8]) {
    let magic = Self.number(header, at: 0)
    isBigEndian = magic == 0x377F_0683
    salts = Array(header[Self.salts])
    guard isBigEndian || magic == 0x377F_0682 else { return nil }
    add(header, 0..<24)
    guard sums == (Self.number(header, at: 24), Self.number(header, at: 28)) else { return nil }
  }

  /// True when a header is whole, but belongs to a log in another version of the format. No crash leaves such a header.
  static func isOfAnotherVersion(header: [UInt8]) -> Bool {
    number(header, at: 4) != version && LogFrames(summing: header) != nil
  }

  /// Adds the next frame to the checksum; true when the frame holds a page and the checksum matches. No frame after a
  /// mismatch belongs to the log: SQLite takes the first frame that does not match for the end of the log.
  mutating func goesOn(with frame: [UInt8]) -> Bool {
    add(frame, 0..<8)
    add(frame, Self.headSize..<frame.count)
    return Self.page(frame) != 0 && sums == (Self.number(frame, at: 16), Self.number(frame, at: 20))
  }

  /// True when `frame` continues the checksum.
  func isFollowed(by frame: [UInt8]) -> Bool {
    var frames = self
    return frames.goesOn(with: frame)
  }

  /// The same log after `frame`, according to the checksum that this frame states.
  func resumed(after frame: [UInt8]) -> LogFrames {
    var frames = self
    frames.sums = (Self.number(frame, at: 16), Self.number(frame, at: 20))
    return frames
  }

  /// True when a frame has the header's salts. A frame from an earlier use of the log has other salts.
  func isOurs(_ frame: [UInt8]) -> Bool { frame[Self.saltsInHead] == salts[...] }

  /// The number of times that the log has begun anew since it had `frame`, if it ever had this frame: each time, the
  /// first salt is increased by one.
  func uses(since frame: [UInt8]) -> UInt32 {
    Self.number(salts, at: 0) &- Self.number(frame, at: Self.saltsInHead.lowerBound)
  }

  /// True if this log began anew once after a log with the salts `earlier`.
  func isNext(after earlier: [UInt8]) -> Bool { Self.number(salts, at: 0) &- Self.number(earlier, at: 0) == 1 }

  /// The number of the page that a frame holds.
  static func page(_ frame: [UInt8]) -> Int { Int(number(frame, at: 0)) }

  /// The number of pages that the database has after the transaction that ends with this frame; nil when no transaction
  /// ends with it.
  static func pageCount(_ frame: [UInt8]) -> Int? {
    let count = Int(number(frame, at: 4))
    return count == 0 ? nil : count
  }

  private mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
    let isBigEndian = isBigEndian
    var sums = sums
    bytes.withSpan { (bytes: RawSpan) in
      for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        sums.0 = sums.0 &+ Self.word(bytes, offset, isBigEndian) &+ sums.1
        sums.1 = sums.1 &+ Self.word(bytes, offset + 4, isBigEndian) &+ sums.0
      }
    }
    self.sums = sums
  }

  private static func word(_ bytes: RawSpan, _ offset: Int, _ isBigEndian: Bool) -> UInt32 {
    // Every bit pattern is a number, and the span checks the offset.
    let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
  }

  private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
      | UInt32(bytes[offset + 3])
  }
}
