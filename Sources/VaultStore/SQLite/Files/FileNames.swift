import CLinux
import Glibc
import VaultModel

// The names of the open files. Somebody may remove a name or give it to another file.
extension SQLiteConnection {
  /// Notes which file is the log. Call this after SQLite has read from the database, because that read creates a
  /// missing log.
  func noteLog() { openLog = FileNumber(of: log) }

  /// The error, with advice, when the name of an open file now belongs to another file or to none; nil otherwise. In
  /// such a case, everything written goes into a file that nobody finds again.
  ///
  /// If the system does not let this process look at a name, nobody knows whether the file has lost it. The error then
  /// is a ``VaultError/storage(_:)``, which says nothing against the store: the next look may succeed. It also is one
  /// if the store was only moved (``moved``).
  var lostFile: VaultError? {
    // A stand-in for a closed database has no file.
    guard let lock else { return nil }
    switch NamedFile(path) {
    case .hidden(let code): return Self.hidden("vault.db", code)
    case .file(let found) where openMain.map({ $0 == found }) ?? !hasMoved: break
    case .file, .none: return isElsewhere(with: lock) ? Self.moved : Self.lost("vault.db", lock)
    }
    guard let openLog else { return nil }
    return switch NamedFile(log) {
    case .hidden(let code): Self.hidden("vault.db-wal", code)
    case .none: Self.lostLog
    case .file(let found): found == openLog ? nil : Self.lost("vault.db-wal", lock)
    }
  }

  /// The error when the store was moved as a whole: its open files have their names still, beside its lock in another
  /// folder. What is written into them is not lost, and no other process can open them.
  static let moved = VaultError.storage(StoreProblem.moved)

  /// True when the open files have their names in the folder in which the store's lock is now.
  private func isElsewhere(with lock: StoreLock) -> Bool {
    guard let openMain, let openLog, let folder = lock.movedFolder, path.hasPrefix(lock.folder) else { return false }
    func isThere(_ file: FileNumber, _ path: String) -> Bool {
      NamedFile(folder + path.dropFirst(lock.folder.count)) == .file(file)
    }
    return isThere(openMain, path) && isThere(openLog, log)
  }

  private static func hidden(_ name: String, _ code: Int32) -> VaultError {
    .storage(StoreProblem.hidden(name, SystemCall.text(code)))
  }

  /// The error when no file has the log's name. SQLite still has the log open, and folds it into the main file when the
  /// connection closes.
  static let lostLog = VaultError.distrusted(
    "vault.db-wal was removed while vaultd has it open",
    advice: "stop vaultd, which writes the rest of the log into vault.db, and start it again")

  /// True when another file now has the log's name, which SQLite does not notice. The comparison is safe because no
  /// other file can have the number of a file that is open.
  var hasOtherLog: Bool {
    guard let openLog, case .file(let found) = NamedFile(log) else { return false }
    return found != openLog
  }

  /// The error when a name belongs to another file or to none. If the lock has lost its name to another place or
  /// another file, the daemon ends by itself. The entries of the audit log that are in memory go into no file then, and
  /// no salvage copies them.
  private static func lost(_ name: String, _ lock: StoreLock) -> VaultError {
    let isEnding = lock.isLost && !lock.isRemoved
    return .distrusted(
      "\(name) was moved, removed or replaced while vaultd has it open",
      advice: isEnding
        ? "vaultd locks the vault and ends; put back the files that were moved; \(entriesLost)"
        : "`vault salvage FILE` saves what vaultd still has; do not end vaultd before that; \(entriesLost)")
  }

  private static let entriesLost = "entries of the audit log that were not written yet are lost"

  // MARK: A log that was removed

  /// Copies the committed part of a removed log to a new file of the log's name. The next opening needs that file if
  /// folding the log into the main file stops midway because the disk is full or the process ends.
  ///
  /// - Throws: ``VaultError/storage(_:)``. Then no file has the log's name, and nothing may be folded in.
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
      throw .storage("the log was removed, and the changes that vault.db does not have yet are lost: \(reason)")
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

/// The numbers by which the system distinguishes one file from all others.
struct FileNumber: Equatable {
  let device: dev_t
  let inode: ino_t

  /// Reads the numbers of the file at `path`; nil when no file can be seen there.
  init?(of path: String) {
    guard case .file(let number) = NamedFile(path) else { return nil }
    self = number
  }

  /// Reads the numbers of an open file; nil when they cannot be read.
  init?(of descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
}

/// The file to which a path leads, as far as the system says.
///
/// Only ENOENT proves that there is no file. After any other error, such as EACCES for a folder that this process may
/// not enter now, ENOTDIR, or EIO of a disk, the file may be in its place all the same.
enum NamedFile: Equatable {
  case file(FileNumber)
  case none
  /// The system's error number.
  case hidden(Int32)

  /// Looks at `path` itself, without following a link.
  init(_ path: String) {
    var status = stat()
    if unsafe lstat(path, &status) == 0 {
      self = .file(FileNumber(status))
    } else {
      self = errno == ENOENT ? .none : .hidden(errno)
    }
  }
}
