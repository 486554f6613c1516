import Glibc

/// A database that arrives as the bytes of its file. It has another name until all of it has arrived and was checked.
/// If it is abandoned before that, nothing of it stays.
struct IncomingDatabase: ~Copyable {
  private let directory: StoreDirectory
  // Keeps other processes from making a database here meanwhile.
  private let lock: StoreLock
  private var file: Int32

  /// Begins an incoming database in the directory `path`, which is made if it is missing.
  ///
  /// - Throws: ``VaultError/vaultExists`` when anything has the database's name; ``VaultError/inUse(pid:)``,
  ///   ``VaultError/permissions(_:)``, ``VaultError/storage(_:)``.
  init(in path: String) throws(VaultError) {
    let directory = try StoreDirectory.openOrMake(path)
    let lock = try Database.lockForNew(in: directory)
    let file = try Self.makeFile(in: directory)
    self.init(directory, lock, file)
  }

  // A separate initializer without the steps that can fail: a noncopyable value is initialized as a whole or not at
  // all.
  private init(_ directory: consuming StoreDirectory, _ lock: StoreLock, _ file: Int32) {
    self.directory = directory
    self.lock = lock
    self.file = file
  }

  private static func makeFile(in directory: borrowing StoreDirectory) throws(VaultError) -> Int32 {
    try directory.makeFile(Database.newName)
    guard let file = try directory.openFile(Database.newName, O_WRONLY) else {
      throw SystemCall.error("open", directory.path(of: Database.newName), ENOENT)
    }
    return file
  }

  deinit {
    if file >= 0 { close(file) }
    // If the file has its final name, there is nothing left to remove; if not, the file is of no use.
    try? Database.removeUnfinished(in: directory)
  }

  /// Appends the first `count` of `bytes`.
  func write(_ bytes: [UInt8], _ count: Int) throws(VaultError) {
    var done = 0
    while done < count {
      let written = unsafe bytes.withUnsafeBytes { bytes in
        // The kernel reads no further than the end of the bytes.
        unsafe Glibc.write(file, bytes.baseAddress!.advanced(by: done), count - done)
      }
      if written < 0, errno == EINTR { continue }
      guard written >= 0 else { throw SystemCall.error("write", directory.path(of: Database.newName), errno) }
      done += written
    }
  }

  /// Opens the database that has arrived. No bytes can be appended afterwards.
  ///
  /// - Throws: as ``Database/init(opening:lock:)``, and also when an earlier write turns out to have failed.
  mutating func open() throws(VaultError) -> Database {
    if fsync(file) != 0 { throw SystemCall.error("fsync", directory.path(of: Database.newName), errno) }
    close(file)
    file = -1
    return try Database.openCopy(in: directory, lock)
  }

  /// Gives the database its final name, after it was closed.
  ///
  /// - Parameter ready: called when the database lacks nothing but its name.
  /// - Throws: ``VaultError/vaultExists``; ``VaultError/storage(_:)``; what `ready` throws.
  func putInPlace(_ ready: () throws(VaultError) -> Void) throws(VaultError) {
    try Database.settle(in: directory)
    if directory.contains(Database.fileName) { throw .vaultExists }
    try ready()
    try Database.putInPlace(in: directory)
  }
}
