import Glibc

/// The database's main file as it is at one moment, while everything that is written goes to the log alone.
///
/// The log is written through first. From then on the main file stays as it is until ``end()``, and the log grows with all
/// that is written meanwhile. There is no other way: the one connection has the file for itself, with the log's index in its
/// own memory, so that no second connection could tell what belongs to which moment.
///
/// It is made, shared and ended by whoever owns the database, and there is one at a time: a second moment would change the
/// file under the first. In between one other thread may read it: that is why `@unchecked` holds, for nothing that it looks
/// at changes then.
final class Snapshot: @unchecked Sendable {
  /// The file's size in bytes.
  let size: Int
  private let descriptor: Int32
  // Holds the descriptor, too.
  private let connection: Connection
  // How many use it; of no interest to the thread that reads.
  private var users = 1

  init(_ connection: Connection) throws(VaultError) {
    try connection.writeLogThrough()
    connection.setFoldsLog(false)
    do throws(VaultError) {
      descriptor = try connection.descriptor()
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw SystemCall.error("stat", connection.path, errno) }
      size = Int(status.st_size)
      guard size == Int(try connection.integer("PRAGMA page_count")) * DatabaseHeader.pageSize else {
        throw .corrupt("vault.db has another size than it should have")
      }
    } catch {
      connection.setFoldsLog(true)
      throw error
    }
    self.connection = connection
  }

  /// The same for one more user, who ends it too.
  func shared() -> Snapshot {
    users += 1
    return self
  }

  /// How many pages the file has.
  var pageCount: Int { size / DatabaseHeader.pageSize }

  /// The page of that number, which there has to be.
  func page(_ number: Int) throws(VaultError) -> Page {
    var bytes = [UInt8](repeating: 0, count: DatabaseHeader.pageSize)
    try read(at: (number - 1) * DatabaseHeader.pageSize, into: &bytes)
    return Page(number: number, bytes: bytes)
  }

  /// The first four bytes of the page of that number, which there has to be.
  func firstNumber(ofPage number: Int) throws(VaultError) -> Int {
    var bytes: [UInt8] = [0, 0, 0, 0]
    try read(at: (number - 1) * DatabaseHeader.pageSize, into: &bytes)
    return Page(number: number, bytes: bytes).number32(at: 0)
  }

  /// Fills `bytes` with what is in the file from `offset` on.
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

  /// Lets the log be written through again, unless somebody else uses it still.
  func end() {
    users -= 1
    if users == 0 { connection.setFoldsLog(true) }
  }
}
