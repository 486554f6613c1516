import Glibc

/// The log beside the database (sqlite.org/walformat.html). It is read to answer two questions that SQLite does not
/// ask: is the main file cut short, and is the log damaged?
///
/// A crash while the log is folded in leaves the main file shorter than its page count says. That is no damage as long
/// as the log still has the missing pages. SQLite itself would read a page that is nowhere as zeros. SQLite also takes
/// a damaged part of the log for its end, as if the power had gone at that point: all later transactions would be lost
/// without a word. But a transaction begins only when the transaction before it has reached the disk. So a crash does
/// not leave a damaged frame that is followed by the end of a transaction and, behind that, by another frame of the
/// log; nor does it leave a damaged header with frames.
///
/// This holds because what a crash leaves of a transaction is cut off before the next one is written
/// (``SQLiteConnection/cutOffRemains()``). Otherwise the frames of one transaction that was cut off could stand behind
/// the end of another. Earlier programs left them, and so does a transaction that fails on a full disk. Therefore one
/// case is no damage: the frame that directly follows the end is one of the log, and does not continue the checksum of
/// that end. A damaged block of the disk cannot look like this: a frame is longer than a block, so a block that changes
/// the end leaves the frame after it either whole or without its salts. If the end is followed by a hole or by a frame
/// that is not of this log, nothing tells whether the rest continues from that end, and the log is refused: it is worse
/// to lose changes silently than to refuse a log that has lost none.
///
/// Damage in the last transaction looks like a crash, and the transaction is dropped. So are the last two, if the
/// damage hides where the first of them ends.
///
/// Holes are skipped, because a file may claim any length at no cost. Zeros are not a frame, because no page has the
/// number 0. A file system may have written later parts first, and so leave a few holes.
struct WriteAheadLog {
  /// Linux's SEEK_DATA (lseek(2)), which glibc declares only for GNU sources.
  private static let seekData: Int32 = 3

  private static let mostHoles = 1000

  /// The pages that the log holds in the whole frames before the first damaged one.
  private(set) var pages: Set<Int> = []
  /// The part of the log that belongs to committed transactions, which is the part that SQLite reads.
  private(set) var committed = CommittedLog()
  /// The place of the last frame that has the header's salts, counted from 0.
  private var last: Int?
  /// True if the log has frames behind its committed part: those of a transaction that a crash cut off.
  var hasRemains: Bool { last.map { $0 >= committed.frames } ?? false }

  /// Checks that each of the database's `pageCount` pages is in the main file or in the log.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` if a page is missing.
  func check(_ name: String, pageCount: Int, in directory: borrowing StoreDirectory) throws(VaultError) {
    let held = (try directory.size(of: name) ?? 0) / DatabaseHeader.pageSize
    guard held < pageCount else { return }
    for page in (held + 1)...pageCount where !pages.contains(page) { throw .corrupt("vault.db is cut short") }
  }

  /// Reads the log of the database `name` before SQLite sees it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` if the log is damaged.
  init(of name: String, in directory: borrowing StoreDirectory) throws(VaultError) {
    guard let file = try directory.openFile(name + "-wal", O_RDONLY) else { return }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: LogFrames.headerSize)
    var frame = [UInt8](repeating: 0, count: LogFrames.frameSize)
    var offset = header.count
    var count = 0
    guard unsafe pread(file, &header, header.count, 0) == header.count else { return }
    committed.salts = Array(header[LogFrames.salts])
    // SQLite would not open such a store, and would blame the system for it.
    if LogFrames.isOfAnotherVersion(header: header) {
      throw .corrupt("vault.db-wal has a file format that vault does not write")
    }
    guard unsafe pread(file, &frame, frame.count, offset) == frame.count else { return }
    guard var frames = LogFrames(header: header) else { throw .corrupt("vault.db-wal is damaged") }
    var isIntact = true
    // The log after the frame before, if that frame is damaged or comes after the damage, and ends a transaction: by
    // the checksum that the frame states and, for the first damaged frame, by the one that it should have.
    var ended: [LogFrames] = []
    // True when such a frame is followed by a hole or by a frame that is not of this log, behind which no checksum can
    // be continued.
    var hasEndedBeforeGap = false
    var holes = 0
    repeat {
      let page = LogFrames.page(frame)
      if page == 0, frame.allSatisfy({ $0 == 0 }) {
        if !ended.isEmpty { hasEndedBeforeGap = true }
        (isIntact, ended) = (false, [])
        holes += 1
        guard holes <= Self.mostHoles else { throw .corrupt("vault.db-wal is damaged") }
        guard let next = Self.lastFrame(in: file, beforeDataBehind: offset) else { return }
        offset = next
        continue
      }
      // Frames from an earlier use of the log have other salts, and do not continue the checksum.
      let isOurs = frames.isOurs(frame)
      let wasIntact = isIntact
      if isIntact { isIntact = frames.goesOn(with: frame) }
      let goesOn = hasEndedBeforeGap || ended.contains { $0.isFollowed(by: frame) }
      if isIntact ? !isOurs : isOurs && goesOn {
        throw .corrupt("vault.db-wal is damaged after byte \(committed.size), before changes that were stored later")
      }
      if isOurs { last = (offset - header.count) / frame.count }
      if !isOurs, !ended.isEmpty { hasEndedBeforeGap = true }
      if isIntact {
        pages.insert(page)
        count += 1
        if LogFrames.pageCount(frame) != nil { committed.frames = count }
      }
      let isEnd = !isIntact && isOurs && LogFrames.pageCount(frame) != nil
      ended = isEnd ? [frames.resumed(after: frame)] + (wasIntact ? [frames] : []) : []
    } while Self.read(&frame, file, behind: &offset)
  }

  /// Reads the frame after the one at `offset`, and advances `offset` to the frame read; false when there is none.
  private static func read(_ frame: inout [UInt8], _ file: Int32, behind offset: inout Int) -> Bool {
    offset += frame.count
    return unsafe pread(file, &frame, frame.count, offset) == frame.count
  }

  /// The offset of the frame before the one in which the next written data begins; it is `offset` or later. Nil when
  /// only a hole follows.
  private static func lastFrame(in file: Int32, beforeDataBehind offset: Int) -> Int? {
    let size = LogFrames.frameSize
    // A file system without support for holes reports that the whole file is written.
    let data = lseek(file, offset + size, seekData)
    guard data >= 0 else { return errno == ENXIO ? nil : offset }
    return offset + ((data - offset) / size - 1) * size
  }
}
