import CLinux
import Glibc
import Synchronization

/// The database's main file as it is at one moment, while everything that is written goes to the log alone. This is the
/// source of a backup.
///
/// The log is folded in first. From then on the main file stays as it is until ``end()``, and the log grows with every
/// write meanwhile. There is no other way: the one connection has the file for itself, with the log's index in its own
/// memory, so a second connection could not tell which content belongs to which moment.
///
/// The owner of the database makes a snapshot and ends it, and there is one at a time: a second one would change the
/// file under the first. In between, another thread may read the snapshot, and learns from an error that it has ended.
/// `@unchecked` holds because the only state that changes and that both threads use is under the lock.
final class Snapshot: @unchecked Sendable {
  /// The file's size in bytes.
  let size: Int
  // Nil after ``end()``.
  private let file: Mutex<MainFile?>
  // Also nil after ``end()``; only the owner uses it. It keeps the descriptor open.
  private var connection: SQLiteConnection?

  /// Freezes the main file, which nobody else may hold.
  init(_ connection: SQLiteConnection) throws(VaultError) {
    // The whole log is folded in, so that the log, which grows from now on, starts short.
    try connection.checkpoint()
    let file = try MainFile(connection)
    size = try file.size()
    guard size == Int(try connection.integer("PRAGMA page_count")) * DatabaseHeader.pageSize else {
      throw .corrupt("vault.db does not have the size that it should have")
    }
    self.file = Mutex(file)
    self.connection = connection
    connection.holdMainFile()
  }

  /// Fills `bytes` with the file's content from `offset` on.
  ///
  /// - Throws: ``VaultError/storage(_:)``; ``VaultError/locked`` after ``end()``.
  func read(at offset: Int, into bytes: inout [UInt8]) throws(VaultError) {
    try file.withLock { (file: inout MainFile?) throws(VaultError) in
      guard let file else { throw .locked }
      try file.read(at: offset, into: &bytes)
    }
  }

  /// Allows the log to be folded in again and the file to be closed. A reader on another thread can read nothing more.
  /// This method waits for a read that has begun, which reads one piece only.
  func end() {
    file.withLock { $0 = nil }
    connection?.releaseMainFile()
    connection = nil
  }
}

/// The main file, read beside SQLite from any thread as long as the connection lives.
struct MainFile {
  private let descriptor: Int32

  init(_ connection: SQLiteConnection) throws(VaultError) { descriptor = try connection.descriptor() }

  /// The size of the file in bytes.
  func size() throws(VaultError) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemCall.error("stat", "vault.db", errno) }
    return Int(status.st_size)
  }

  /// Fills `bytes` with the file's content from `offset` on.
  func read(at offset: Int, into bytes: inout [UInt8]) throws(VaultError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        // The kernel fills no more than the remaining bytes.
        unsafe pread(descriptor, bytes.baseAddress!.advanced(by: done), bytes.count - done, offset + done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw count < 0 ? SystemCall.error("read", "vault.db", errno) : .corrupt("vault.db is cut short")
      }
      done += count
    }
  }
}
