import Glibc

// The operations on a database's files that a keychain needs in addition to those on its records.
extension Database {
  /// True for a stand-in for a database whose files are closed.
  var isClosed: Bool { lock == nil }

  /// True when data that the disk cannot read counts as damage like any other, after which reading continues.
  var takesUnreadableForDamage: Bool {
    get { connection.takesUnreadableForDamage }
    set { connection.takesUnreadableForDamage = newValue }
  }

  /// Keeps fewer pages in memory, and a shorter log. This is for a store that is written from one end to the other
  /// beside a live store.
  func shrink() throws(VaultError) { try connection.shrink() }

  /// Stops waiting for the disk. This is for a store that need not outlive a crash.
  func forgoDurability() throws(VaultError) { try connection.execute("PRAGMA synchronous = OFF") }

  /// Folds the log into the main file and empties the log.
  ///
  /// - Throws: ``VaultError/inUse(pid:)`` while a statement is being run.
  func checkpoint() throws(VaultError) { try connection.checkpoint() }

  /// True when the log is long enough to be folded into the main file between two commits.
  var hasLongLog: Bool { connection.hasLongLog }

  /// Folds the log into the main file, unless somebody needs the main file as it is. If this fails, the log stays, and
  /// the next commit tries again.
  func foldLongLog() { if connection.foldsLog, connection.isTrusted { connection.foldLog() } }

  /// The error when the name of an open file now belongs to another file or to none, or cannot be looked at; nil
  /// otherwise. See ``SQLiteConnection/lostFile``.
  var lostFile: VaultError? { connection.lostFile }

  /// The error when the only fault is that no file has the log's name any more.
  static var lostLog: VaultError { SQLiteConnection.lostLog }

  /// Puts back a log that was removed. See ``SQLiteConnection/putBackLog()``.
  func putBackLog() throws(VaultError) { try connection.putBackLog() }

  /// Freezes the main file for a backup.
  func snapshot() throws(VaultError) -> Snapshot { try Snapshot(connection) }

  /// Freezes the pages, including those in the log, for the check of their shape.
  func frozenPages() throws(VaultError) -> FrozenPages { try FrozenPages(connection) }

  /// The size of the log beside the main file, in bytes.
  func logSize() throws(VaultError) -> Int {
    guard let directory = try StoreDirectory.open(path) else { return 0 }
    return try directory.size(of: Self.logName) ?? 0
  }

  /// The bytes that this process may still write on the database's file system.
  func freeSpace() throws(VaultError) -> Int { try FreeSpace.bytes(at: path) }

  /// True when there is a database in the directory `path`.
  static func exists(_ path: String) throws(VaultError) -> Bool {
    guard let directory = try StoreDirectory.open(path) else { return false }
    return directory.contains(fileName)
  }

  /// Removes the database in the directory `path`, if there is one, and then the directory. Nothing may use the
  /// database any more: the last connection to close removes the file that has the log's name, even if that file
  /// belongs to another database.
  ///
  /// - Returns: false when there is no such directory.
  @discardableResult
  static func remove(_ path: String) throws(VaultError) -> Bool {
    guard let directory = try StoreDirectory.open(path) else { return false }
    for name in allNames { try directory.remove(name) }
    try directory.removeItself()
    return true
  }

  /// Removes the database in the directory `name` within this database's directory, if there is one, and waits until
  /// the removal is on the disk.
  func removeNested(_ name: String) throws(VaultError) {
    guard let directory = try StoreDirectory.open(path) else { return }
    if try Self.remove(directory.path(of: name)) { try directory.sync() }
  }
}

// MARK: Replacing one database with another

/// The step just completed while one database takes another's place.
enum ReplacementStep: CaseIterable {
  case begun, secondFolded, liveFolded, secondClosed, liveClosed, renamed, synced, opened
}

extension Database {
  /// Puts `second`, which lies in a directory within the directory of `live`, in the place of `live`. Afterwards `live`
  /// is the database that `second` was, opened again, and `second` is closed.
  ///
  /// Both logs are folded in and empty before the rename: SQLite would take a log that lies beside another database for
  /// that database's own. No connection is open during the rename, because a connection that closes removes the file
  /// that has its log's name. The store's lock is held throughout.
  ///
  /// - Parameter reached: called after each step but the last; an error that it throws ends the replacement there.
  /// - Returns: the file that was replaced.
  /// - Throws: ``VaultError/storage(_:)`` and what `reached` throws. Either `live` is then the old database, opened
  ///   again if it was closed meanwhile. Or `live` is closed (``isClosed``), because it cannot be opened, or because a
  ///   power cut may now leave either of the two databases. `second` may be closed.
  static func replace(
    _ live: inout Database, by second: inout Database, _ reached: (ReplacementStep) throws(VaultError) -> Void
  ) throws(VaultError) -> DisplacedFile? {
    let (path, inside, lock) = (live.path, second.path, live.lock)
    guard let directory = try StoreDirectory.open(path), let nested = try StoreDirectory.open(inside) else {
      throw .storage("\(inside) is gone")
    }
    let (stand, otherStand) = (try closed(path), try closed(inside))
    try reached(.begun)
    try second.fold()
    try reached(.secondFolded)
    try live.fold()
    try reached(.liveFolded)
    weak let otherConnection = second.connection
    second = otherStand
    guard otherConnection == nil, try nested.size(of: logName) ?? 0 == 0 else {
      throw .storage("the second store is still open")
    }
    try nested.syncFile(fileName)
    try nested.sync()
    try reached(.secondClosed)
    weak let connection = live.connection
    live = stand
    if let connection {
      // Somebody still reads the old database. When its connection closes later, it removes the file that has its log's
      // name, so no other store may have that name.
      live = try Database(connection, path: path, lock: lock)
      throw .storage("the store is still being read")
    }
    var isReplaced = false
    var displaced: DisplacedFile?
    let result = Result { () throws(VaultError) in
      guard try directory.size(of: logName) ?? 0 == 0 else { throw .storage("the store is still open") }
      try reached(.liveClosed)
      displaced = try directory.openFile(fileName, O_RDONLY).map { DisplacedFile($0) }
      try directory.take(fileName, from: nested)
      isReplaced = true
      try reached(.renamed)
      try directory.sync()
      try nested.sync()
      try reached(.synced)
    }
    if isReplaced { try result.get() }
    // Closing a descriptor of the live file later would drop the locks on it.
    if !isReplaced { displaced = nil }
    live = try Database(opening: path, lock: lock)
    live.trust()
    try result.get()
    return displaced
  }
}
