import Glibc

/// The log beside the database (sqlite.org/walformat.html), read for one question: is the main file cut short?
///
/// A crash while the log is folded in leaves the main file shorter than its pages, which is right as long as the log
/// still has the missing ones. SQLite itself would read a page that is nowhere as zeros.
enum WriteAheadLog {
  private static let headerSize = 32
  private static let frameHeaderSize = 24

  /// Checks that each of the database's `pageCount` pages is in the main file or in the log.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when one is in neither.
  static func check(pageCount: Int, in directory: borrowing StoreDirectory) throws(VaultError) {
    let held = (try directory.size(of: Database.fileName) ?? 0) / DatabaseHeader.pageSize
    guard held < pageCount else { return }
    let logged = try pages(above: held, in: directory)
    for page in (held + 1)...pageCount where !logged.contains(page) { throw .corrupt("vault.db is cut short") }
  }

  /// The numbers above `limit` of the pages that the log has.
  private static func pages(
    above limit: Int, in directory: borrowing StoreDirectory
  ) throws(VaultError) -> Set<Int> {
    guard let file = try directory.openFile(Database.logName, O_RDONLY) else { return [] }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: headerSize)
    guard unsafe pread(file, &header, headerSize, 0) == headerSize else { return [] }
    var found: Set<Int> = []
    var frame = [UInt8](repeating: 0, count: frameHeaderSize)
    var offset = headerSize
    // Frames of an earlier use of the log carry other salts, and end the present one.
    while unsafe pread(file, &frame, frameHeaderSize, offset) == frameHeaderSize, frame[8..<16] == header[16..<24] {
      let page = frame[..<4].reduce(0) { $0 << 8 | Int($1) }
      if page > limit { found.insert(page) }
      offset += frameHeaderSize + DatabaseHeader.pageSize
    }
    return found
  }
}
