import Glibc

// A log that has lost its name is in a file that ends with this process.
extension Connection {
  /// Gives what the log has of committed transactions to a file of its name, where there is none: from that the next
  /// opening goes on when folding the log into the main file ends in the middle, on a full disk or with the process.
  ///
  /// - Throws: ``VaultError/storage(_:)``, after which no file has the name, and nothing may be folded in.
  func putBackLog() throws(VaultError) {
    guard isTrusted, lostFile == Self.lostLog, committed.frames > 0 else { return }
    do throws(VaultError) {
      guard let (folder, name) = Self.place(of: log), let directory = try StoreDirectory.open(folder),
        let file = try directory.openFile(name, O_WRONLY | O_CREAT | O_EXCL)
      else { throw .storage("\(log): its directory is gone") }
      defer { close(file) }
      do throws(VaultError) {
        try copyLog(to: file)
        guard fsync(file) == 0 else { throw SystemCall.error("fsync", log, errno) }
        try directory.sync()
      } catch {
        try? directory.remove(name)
        throw error
      }
    } catch .storage(let reason), .permissions(let reason), .corrupt(let reason) {
      throw .storage("the log was removed, and what vault.db lacks of it is lost: \(reason)")
    }
    noteLog()
  }

  private func copyLog(to file: Int32) throws(VaultError) {
    var offset = 0
    let size = LogFrames.headerSize + committed.frames * LogFrames.frameSize
    while offset < size {
      var part = [UInt8](repeating: 0, count: min(LogFrames.frameSize, size - offset))
      guard try readLog(at: offset, into: &part) else { throw LogIndex.damaged }
      let count = unsafe part.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, offset) }
      guard count > 0 else { throw SystemCall.error("write", log, count == 0 ? ENOSPC : errno) }
      offset += count
    }
  }

  private static func place(of path: String) -> (folder: String, name: String)? {
    path.lastIndex(of: "/").map { (String(path[..<$0]), String(path[path.index(after: $0)...])) }
  }
}
