import Glibc

/// The right to be the one process that has the store open: an exclusive `flock` on `vault.lock` beside the database.
///
/// The file contains the holder's process id as decimal text, so that a process that is refused can say which process
/// has the store. The file is never removed, because removing a lock file lets two processes each hold a lock on a
/// different file. The kernel releases the lock when the process ends, so a killed process leaves nothing behind.
final class StoreLock {
  static let fileName = "vault.lock"
  private let descriptor: Int32

  /// Takes the lock. Without `creating`, the result is nil when there is no lock file yet.
  ///
  /// - Throws: ``VaultError/inUse(pid:)`` when another process has the lock.
  static func take(in directory: borrowing StoreDirectory, creating: Bool) throws(VaultError) -> StoreLock? {
    let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (creating ? O_CREAT : 0)
    guard let descriptor = try directory.openFile(fileName, flags) else { return nil }
    let lock = StoreLock(descriptor)
    // A program that only looks whether the lock is held shares it for a moment (`vault status`, `vault lock`).
    for pause: UInt32 in 1...100 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
        lock.writeID()
        return lock
      }
      try check(errno)
      if flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
        try check(errno)
        break
      }
      flock(descriptor, LOCK_UN)
      usleep(pause * 100)
    }
    throw .inUse(pid: lock.writtenID())
  }

  /// Throws unless the error says that another process has the lock.
  private static func check(_ number: Int32) throws(VaultError) {
    if number != EWOULDBLOCK { throw SystemCall.error("flock", fileName, number) }
  }

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // A child process between fork and exec shares the open file, and would keep the lock for that moment.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Writes this process's id to the file. If there is no room for it, a process that is refused does not learn the
  /// holder; the store can be read all the same.
  private func writeID() {
    let text = [UInt8]("\(getpid())\n".utf8)
    // The write comes before the truncation, so that the block of an earlier holder is not given back to a full disk.
    let written = unsafe pwrite(descriptor, text, text.count, 0)
    _ = ftruncate(descriptor, max(0, written))
  }

  private func writtenID() -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    guard count > 1, bytes[count - 1] == UInt8(ascii: "\n") else { return nil }
    return Int32(String(decoding: bytes[..<(count - 1)], as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
  }
}
