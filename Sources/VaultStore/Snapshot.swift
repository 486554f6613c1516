import Glibc
import Synchronization

/// The database's main file as it is at one moment, while everything that is written goes to the log alone: what a backup
/// is made of.
///
/// The log is folded in first. From then on the main file stays as it is until ``end()``, and the log grows with all that
/// is written meanwhile. There is no other way: the one connection has the file for itself, with the log's index in its own
/// memory, so that no second connection could tell what belongs to which moment.
///
/// It is made and ended by whoever owns the database, and there is one at a time: a second one would change the file under
/// the first. In between another thread may read it, which is told when it has ended: that is why `@unchecked` holds, for
/// the one thing that changes and that both look at is under the lock.
final class Snapshot: @unchecked Sendable {
  /// The file's size in bytes.
  let size: Int
  // Nil from the end on.
  private let file: Mutex<MainFile?>
  // The same; for the owner alone. It holds the descriptor.
  private var connection: Connection?

  /// Nobody else may hold the main file.
  init(_ connection: Connection) throws(VaultError) {
    // All of it, so that the log is short, which grows from now on.
    try connection.checkpoint()
    let file = try MainFile(connection)
    size = try file.size()
    guard size == Int(try connection.integer("PRAGMA page_count")) * DatabaseHeader.pageSize else {
      throw .corrupt("vault.db has another size than it should have")
    }
    self.file = Mutex(file)
    self.connection = connection
    connection.holdMainFile()
  }

  /// Fills `bytes` with what is in the file from `offset` on.
  ///
  /// - Throws: ``VaultError/storage(_:)``; ``VaultError/locked`` after ``end()``.
  func read(at offset: Int, into bytes: inout [UInt8]) throws(VaultError) {
    try file.withLock { (file: inout MainFile?) throws(VaultError) in
      guard let file else { throw .locked }
      try file.read(at: offset, into: &bytes)
    }
  }

  /// Lets the log be folded in again, and the file be closed. Who reads on another thread gets nothing more: a read that has
  /// begun is waited for, which is one of a piece.
  func end() {
    file.withLock { $0 = nil }
    connection?.releaseMainFile()
    connection = nil
  }
}

/// The main file, read beside SQLite, from whatever thread: for as long as the connection lives.
struct MainFile {
  private let descriptor: Int32

  init(_ connection: Connection) throws(VaultError) { descriptor = try connection.descriptor() }

  /// Its size in bytes.
  func size() throws(VaultError) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemCall.error("stat", "vault.db", errno) }
    return Int(status.st_size)
  }

  /// Fills `bytes` with what is in it from `offset` on.
  func read(at offset: Int, into bytes: inout [UInt8]) throws(VaultError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        // Filled by the kernel, no further than its end.
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
