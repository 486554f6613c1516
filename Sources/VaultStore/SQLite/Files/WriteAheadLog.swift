import Glibc

/// The log beside the database (sqlite.org/walformat.html). It is read to answer two questions that SQLite does not
/// ask: is the main file cut short, and is the log damaged?
///
/// A crash while the log is folded in leaves the main file shorter than its page count says. That is no damage as long
/// as the log still has the missing pages. SQLite itself would read a missing page as zeros. SQLite also takes a
/// damaged part of the log for its end, as if the power had gone at that point: all later transactions would be lost
/// without a word. ``LogEnd`` tells damage from a crash, except in the last one or two transactions. A damaged header
/// with frames behind it is always damage, because a header is on the disk before the first frame is written.
///
/// Holes are skipped, because a file may claim any length at no cost. Zeros are not a frame, because no page has the
/// number 0. A file system may have written later parts of a transaction first, and so leave holes.
struct WriteAheadLog {
  /// Linux's SEEK_DATA (lseek(2)), which glibc declares only for GNU sources.
  private static let seekData: Int32 = 3

  /// The most holes of a log: a number that a transaction of 8 GiB can have, and that takes only seconds to read.
  private static let mostHoles = 1_000_000

  /// The pages that the committed part of the log holds.
  private(set) var pages: Set<Int> = []
  /// The part of the log that belongs to committed transactions, which is the part that SQLite reads.
  private(set) var committed = CommittedLog()
  // The pages of whole frames behind the committed part.
  private var begun: Set<Int> = []
  // True if a frame of this log stands behind the frames that continue it.
  private var hasOddFrame = false
  /// True if the log has frames behind its committed part: those of a transaction that was not completed.
  var hasRemains: Bool { hasOddFrame || !begun.isEmpty }

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
  /// - Throws: ``VaultError/corrupt(_:)`` if the log is damaged; ``VaultError/storage(_:)`` if it cannot be read.
  init(of name: String, in directory: borrowing StoreDirectory) throws(VaultError) {
    let file = try directory.openFile(name + "-wal", O_RDONLY)
    defer { if let file { close(file) } }
    try self.init(reading: file)
  }

  /// Reads the log from a file; nil for a log that is not there.
  init(reading file: Int32?) throws(VaultError) {
    guard let file else { return }
    var header = [UInt8](repeating: 0, count: LogFrames.headerSize)
    var frame = [UInt8](repeating: 0, count: LogFrames.frameSize)
    guard try Self.read(&header, file, at: 0) else { return }
    committed.salts = Array(header[LogFrames.salts])
    // SQLite would not open such a store, and would blame the system for it.
    if LogFrames.isOfAnotherVersion(header: header) {
      throw .corrupt("vault.db-wal has a file format that vault does not write")
    }
    guard try Self.read(&frame, file, at: Self.offset(of: 0)) else { return }
    guard var frames = LogFrames(header: header) else { throw .corrupt("vault.db-wal is damaged") }
    var end: LogEnd?
    var place = 0
    var holes = 0
    repeat {
      let isOurs = frames.isOurs(frame)
      if end == nil {
        var next = frames
        if next.goesOn(with: frame) {
          // Frames from an earlier use of the log have other salts, and do not continue the checksum.
          guard isOurs else { throw damage }
          frames = next
          begun.insert(LogFrames.page(frame))
          if LogFrames.pageCount(frame) != nil {
            committed.frames = place + 1
            pages.formUnion(begun)
            begun = []
          }
        } else {
          end = LogEnd(of: frames)
        }
      }
      if isOurs, end != nil { hasOddFrame = true }
      if end?.isDamage(frame, at: place) == true { throw damage }
      if end != nil, frame.allSatisfy({ $0 == 0 }) {
        holes += 1
        guard holes <= Self.mostHoles else { throw .corrupt("vault.db-wal is damaged") }
        guard let next = Self.lastFrame(in: file, beforeDataBehind: place) else { return }
        place = next
      }
      place += 1
    } while try Self.read(&frame, file, at: Self.offset(of: place))
  }

  private var damage: VaultError {
    .corrupt("vault.db-wal is damaged after byte \(committed.size), before changes that were stored later")
  }

  private static func offset(of place: Int) -> Int { LogFrames.headerSize + place * LogFrames.frameSize }

  /// Fills `bytes` with the file's content from `offset` on; false if the file ends earlier.
  ///
  /// An error is not an end: SQLite may read the same place a moment later, and then find a longer log than this reader
  /// did.
  private static func read(_ bytes: inout [UInt8], _ file: Int32, at offset: Int) throws(VaultError) -> Bool {
    var filled = 0
    while filled < bytes.count {
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe pread(file, bytes.baseAddress! + filled, bytes.count - filled, off_t(offset + filled))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw SystemCall.error("read", "vault.db-wal", errno) }
      if count == 0 { return false }
      filled += count
    }
    return true
  }

  /// The place of the last frame before the next data behind the frame at `place`: `place` itself, or a later place.
  /// Nil when only a hole follows.
  private static func lastFrame(in file: Int32, beforeDataBehind place: Int) -> Int? {
    // A file system without support for holes reports that the whole file is written.
    let data = lseek(file, offset(of: place + 1), seekData)
    guard data >= 0 else { return errno == ENXIO ? nil : place }
    return (data - LogFrames.headerSize) / LogFrames.frameSize - 1
  }
}
