/// The pages of the database as they are at one moment. A page is read from the log if the log holds it, and otherwise
/// from the main file.
///
/// Freezing writes nothing: a damaged store stays as it is, and a store on a full disk can be read. The main file and
/// the frames in the log stay as they are until ``end()``, and new frames go after those. There is one exception: if
/// the whole log had been folded in before, the next write starts the log over and overwrites the frames. The main file
/// holds everything then, and the frames of the log are no longer read.
///
/// The owner of the database makes, reads and ends the frozen pages on the thread that writes to the database.
final class FrozenPages {
  /// The number of pages.
  let count: Int
  private let connection: SQLiteConnection
  private let file: MainFile
  /// The committed part of the log at the moment of freezing.
  private let committed: CommittedLog
  /// The size of the log at the moment of freezing, in bytes.
  private let logSize: Int
  private var index: LogIndex?
  private var frame = [UInt8](repeating: 0, count: LogFrames.frameSize)

  /// Freezes the pages as they are now. Call ``readLog()`` until it returns false before reading any page.
  init(_ connection: SQLiteConnection) throws(VaultError) {
    self.connection = connection
    file = try MainFile(connection)
    count = Int(try connection.integer("PRAGMA page_count"))
    logSize = try connection.logSize()
    committed = connection.committed
    if committed.frames > 0 {
      guard let salts = committed.salts else { throw .storage("vault.db-wal cannot be read") }
      if try connection.logSalts() == salts { index = LogIndex() }
    }
    connection.holdMainFile()
  }

  /// Allows the log to be folded in again.
  func end() { connection.releaseMainFile() }

  /// The number of the log's frames that hold pages of the frozen moment.
  var heldFrames: Int { index == nil ? 0 : committed.frames }

  /// The number of bytes that the log has grown by since the moment of freezing.
  func growth() throws(VaultError) -> Int { max(0, try connection.logSize() - logSize) }

  /// Checks whether the log has started over. Call this before reading pages, once after each moment at which anything
  /// may have been written.
  func lookAtLog() throws(VaultError) {
    if index != nil, try connection.logSalts() != committed.salts { index = nil }
  }

  /// Reads the next frame of the log as it was at the moment of freezing; false when no frame is left.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the frame is not what was committed.
  func readLog() throws(VaultError) -> Bool {
    guard let count = index?.count, count < committed.frames else { return false }
    try index?.readNext(connection, &frame)
    return true
  }

  /// Checks that the number of pages is the one that SQLite reports.
  func checkSize() throws(VaultError) {
    if let index {
      if index.pageCount != count { throw LogIndex.damaged }
    } else if try file.size() != count * DatabaseHeader.pageSize {
      throw .corrupt("vault.db does not have the size that it should have")
    }
  }

  /// The page of that number, which must exist.
  func page(_ number: Int) throws(VaultError) -> Page {
    var bytes = [UInt8](repeating: 0, count: DatabaseHeader.pageSize)
    try read(number, into: &bytes)
    return Page(number: number, bytes: bytes)
  }

  /// The first four bytes, as a number, of the page of that number, which must exist.
  func firstNumber(ofPage number: Int) throws(VaultError) -> Int {
    var bytes: [UInt8] = [0, 0, 0, 0]
    try read(number, into: &bytes)
    return Page(number: number, bytes: bytes).number32(at: 0)
  }

  private func read(_ number: Int, into bytes: inout [UInt8]) throws(VaultError) {
    guard let place = index?.place(of: number) else {
      return try file.read(at: (number - 1) * DatabaseHeader.pageSize, into: &bytes)
    }
    guard try connection.readLog(at: place, into: &bytes) else { throw LogIndex.damaged }
  }
}

/// The places in the log that hold the last committed content of each page.
struct LogIndex {
  static let damaged = VaultError.corrupt("vault.db-wal is damaged")

  /// The number of frames read so far.
  private(set) var count = 0
  /// The number of pages that the database has after the last frame read; nil when that frame does not end
  /// a transaction.
  private(set) var pageCount: Int?
  private var frames: LogFrames?
  /// The number of the frame that holds each page, counted from 0.
  private var places: [UInt32: UInt32] = [:]

  /// The offset in the log at which the content of a page begins; nil when the log does not hold that page.
  func place(of page: Int) -> Int? {
    places[UInt32(page)].map { Self.offset(Int($0)) + LogFrames.headSize }
  }

  private static func offset(_ frame: Int) -> Int { LogFrames.headerSize + frame * LogFrames.frameSize }

  /// Reads the next frame, which must exist.
  ///
  /// - Parameter frame: a buffer of the size of a frame.
  /// - Throws: ``VaultError/corrupt(_:)`` unless the frame is whole.
  mutating func readNext(_ connection: SQLiteConnection, _ frame: inout [UInt8]) throws(VaultError) {
    if frames == nil {
      var header = [UInt8](repeating: 0, count: LogFrames.headerSize)
      guard try connection.readLog(at: 0, into: &header) else { throw Self.damaged }
      frames = LogFrames(header: header)
    }
    guard try connection.readLog(at: Self.offset(count), into: &frame), let isOurs = frames?.isOurs(frame), isOurs,
      let isWhole = frames?.goesOn(with: frame), isWhole
    else { throw Self.damaged }
    // Page numbers have four bytes in a frame, and a log with more frames than such a number counts would
    // exceed 16 TiB.
    places[UInt32(truncatingIfNeeded: LogFrames.page(frame))] = UInt32(truncatingIfNeeded: count)
    pageCount = LogFrames.pageCount(frame)
    count += 1
  }
}
