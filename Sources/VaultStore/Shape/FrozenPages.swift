/// The pages of the database as they are at one moment, read from the log where it has them and else from the main file.
///
/// Nothing is written for it: a store that is damaged stays as it lies there, and one on a full disk can be read. The main
/// file and the frames that are in the log stay as they are until ``end()``, and what is written meanwhile goes behind those
/// frames. There is one exception: where all of the log had been folded in before, the next one who writes begins it anew
/// and overwrites the frames. Then the main file has everything, and its frames are not looked at any more.
///
/// Whoever owns the database makes it, reads it and ends it, on the thread on which the database is written to.
final class FrozenPages {
  /// How many pages there are.
  let count: Int
  private let connection: Connection
  private let file: MainFile
  /// What the log had at the moment.
  private let committed: CommittedLog
  /// How long it was then.
  private let logSize: Int
  private var index: LogIndex?
  private var frame = [UInt8](repeating: 0, count: LogFrames.frameSize)

  /// Freezes the pages as they are now. ``readLog()`` has to come to its end before any is read.
  init(_ connection: Connection) throws(VaultError) {
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

  /// Lets the log be folded in again.
  func end() { connection.releaseMainFile() }

  /// How many frames of the log have pages of that moment.
  var heldFrames: Int { index == nil ? 0 : committed.frames }

  /// By how many bytes the log has grown since the moment.
  func growth() throws(VaultError) -> Int { max(0, try connection.logSize() - logSize) }

  /// Looks whether the log has begun anew: to be asked before pages are read, once after anything may have been written.
  func lookAtLog() throws(VaultError) {
    if index != nil, try connection.logSalts() != committed.salts { index = nil }
  }

  /// Reads one frame of what the log had at the moment; false when none is left.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when it is not what was committed.
  func readLog() throws(VaultError) -> Bool {
    guard let count = index?.count, count < committed.frames else { return false }
    try index?.readNext(connection, &frame)
    return true
  }

  /// Checks that there are as many pages as SQLite takes there to be.
  func checkSize() throws(VaultError) {
    if let index {
      if index.pageCount != count { throw LogIndex.damaged }
    } else if try file.size() != count * DatabaseHeader.pageSize {
      throw .corrupt("vault.db has another size than it should have")
    }
  }

  /// The page of that number, which there has to be.
  func page(_ number: Int) throws(VaultError) -> Page {
    var bytes = [UInt8](repeating: 0, count: DatabaseHeader.pageSize)
    try read(number, into: &bytes)
    return Page(number: number, bytes: bytes)
  }

  /// The first four bytes of the page of that number, which there has to be.
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

/// Where the log has the last committed content of each page that it has.
struct LogIndex {
  static let damaged = VaultError.corrupt("vault.db-wal is damaged")

  /// How many frames were read.
  private(set) var count = 0
  /// How many pages the database has after the last of them; nil when it does not end a transaction.
  private(set) var pageCount: Int?
  private var frames: LogFrames?
  /// The number of the frame that has each page, from 0.
  private var places: [UInt32: UInt32] = [:]

  /// Where in the log the content of that page begins; nil when the log does not have it.
  func place(of page: Int) -> Int? {
    places[UInt32(page)].map { Self.offset(Int($0)) + LogFrames.headSize }
  }

  private static func offset(_ frame: Int) -> Int { LogFrames.headerSize + frame * LogFrames.frameSize }

  /// Reads the next frame, which there has to be.
  ///
  /// - Parameter frame: room for it.
  /// - Throws: ``VaultError/corrupt(_:)`` unless it is whole.
  mutating func readNext(_ connection: Connection, _ frame: inout [UInt8]) throws(VaultError) {
    if frames == nil {
      var header = [UInt8](repeating: 0, count: LogFrames.headerSize)
      guard try connection.readLog(at: 0, into: &header) else { throw Self.damaged }
      frames = LogFrames(header: header)
    }
    guard try connection.readLog(at: Self.offset(count), into: &frame), let isOurs = frames?.isOurs(frame), isOurs,
      let isWhole = frames?.goesOn(with: frame), isWhole
    else { throw Self.damaged }
    // The number has four bytes there, and a log of that many frames would be 16 TiB.
    places[UInt32(truncatingIfNeeded: LogFrames.page(frame))] = UInt32(truncatingIfNeeded: count)
    pageCount = LogFrames.pageCount(frame)
    count += 1
  }
}
