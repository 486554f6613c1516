import CLinux
import Glibc

/// The right to be the one process that has the store open: an exclusive `flock` on `vault.lock` beside the database.
///
/// The first line of the file is the holder's process id as decimal text, so that a process that is refused can say
/// which process has the store. A second line counts how often the holder has confirmed that the vault was locked.
///
/// The file is never removed, because removing a lock file lets two processes each hold a lock on a different file. The
/// kernel releases the lock when the process ends, so a killed process leaves nothing behind.
final class StoreLock {
  static let fileName = "vault.lock"
  private let path: String
  private let descriptor: Int32

  /// Takes the lock. Without `creating`, the result is nil when there is no lock file yet.
  ///
  /// - Throws: ``VaultError/inUse(pid:)`` when another process has the lock.
  static func take(in directory: borrowing StoreDirectory, creating: Bool) throws(VaultError) -> StoreLock? {
    let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (creating ? O_CREAT : 0)
    guard let descriptor = try directory.openFile(fileName, flags) else { return nil }
    let lock = StoreLock(directory.path(of: fileName), descriptor)
    // A program that only checks whether the lock is held takes a shared lock for a moment (`vault status`, `vault
    // lock`).
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

  private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

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

  private func writtenID() -> Int32? { Self.pid(in: Self.lines(descriptor)) }

  /// The holder's process id in the lines of a lock's file; nil if it is not there.
  private static func pid(in lines: [Substring]) -> Int32? {
    lines.first.flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Returns the whole lines in a lock's file.
  private static func lines(_ descriptor: Int32) -> [Substring] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    let text = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  }

  /// Checks that no other process has the lock of a store, whatever the condition of the store and its files.
  ///
  /// - Parameter path: the store's directory.
  /// - Throws: ``VaultError/inUse(pid:)`` when another process has the lock; ``VaultError/storage(_:)`` or
  ///   ``VaultError/permissions(_:)`` when that cannot be examined.
  static func checkFree(in path: String) throws(VaultError) {
    let file = "\(path)/\(fileName)"
    let descriptor = unsafe open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return }
      throw SystemCall.error("open", file, errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemCall.error("stat", file, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .permissions("\(file): is not a regular file; it must be one")
    }
    // A shared lock disturbs no other program that only looks, and ends with the descriptor.
    if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return }
    try check(errno)
    let holder = pid(in: lines(descriptor))
    // This process holds the lock of a vault that it makes.
    if holder != getpid() { throw .inUse(pid: holder) }
  }

  // MARK: A holder that others look for

  /// True if the file has lost its place: others do not find the holder by it any more, and may take the lock on
  /// another file of that name. A name that this process cannot look at is not lost.
  var isLost: Bool {
    switch NamedFile(path) {
    case .file(let found): FileNumber(of: descriptor) != found
    case .none: true
    case .hidden: false
    }
  }

  /// The folder in which the file was when the lock was taken.
  var folder: String { String(path.dropLast(Self.fileName.utf8.count + 1)) }

  /// The other folder in which the file is now under its name; nil if it has not lost its place, has another name or
  /// none, or cannot be found.
  var movedFolder: String? {
    guard isLost else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // The system knows the present path of an open file (proc_pid_fd(5)).
    let count = unsafe readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return nil }
    let found = String(decoding: bytes[..<count], as: UTF8.self)
    guard found.hasSuffix("/" + Self.fileName), NamedFile(found) == FileNumber(of: descriptor).map(NamedFile.file)
    else { return nil }
    return String(found.dropLast(Self.fileName.utf8.count + 1))
  }

  /// True if the file has no name at all, as after the removal of the whole directory.
  var isRemoved: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  /// Confirms to programs that cannot reach the daemon's socket that the vault was locked: increases the number in the
  /// lock file. The file is opened anew, because the vault may be one that is being made or restored.
  ///
  /// - Parameter path: the store's directory, whose lock this process holds.
  static func confirm(in path: String) {
    guard let directory = (try? StoreDirectory.open(path)) ?? nil,
      let file = (try? directory.openFile(fileName, O_RDWR)) ?? nil
    else { return }
    defer { close(file) }
    let lines = lines(file)
    // On a full disk, the process id may be missing.
    guard lines.isEmpty || lines[0] == "\(getpid())" else { return }
    let number = lines.count > 1 ? Int(lines[1]) ?? 0 : 0
    // Somebody may have written the highest number. Any change of the number confirms that the vault was locked.
    let text = [UInt8]("\(getpid())\n\(number &+ 1)\n".utf8)
    // The text never becomes shorter, and a reader ignores a line without its end.
    _ = unsafe pwrite(file, text, text.count, 0)
  }
}
