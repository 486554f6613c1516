/// The storage engine, which holds sealed records and blind tags, and nothing that could be read without a key.
///
/// Another engine can take its place by offering the same operations. The database has one owner in one process: it
/// holds ``StoreLock`` from opening to deinit. After a failed commit or on a full disk, the store is in the last
/// committed state.
final class Database {
  static let fileName = "vault.db"
  static let logName = "vault.db-wal"
  static let newName = "vault.db.new"
  /// Every name that a store's file can have.
  static let allNames =
    [fileName, newName].flatMap { [$0, $0 + "-wal", $0 + "-journal"] } + [StoreLock.fileName]

  /// The path of the directory.
  let path: String
  /// The lock on the directory; nil for a stand-in for a closed database.
  let lock: StoreLock?
  let connection: SQLiteConnection
  let statements: Statements
  /// The highest row that an item has; nil until it is first needed, and again after a change that may have lowered it.
  var highestRow: Int64?
  /// The rows of tables that SQLite cannot reach, by the table's name. They are kept until the next commit.
  var rowsByPages: [String: NamedRows] = [:]

  /// Opens the database in the directory `path`.
  ///
  /// - Parameter held: the store's lock, if the caller already holds it.
  /// - Throws: ``VaultError/noVault``; ``VaultError/inUse(pid:)``; ``VaultError/permissions(_:)``;
  ///   ``VaultError/corrupt(_:)`` and ``VaultError/newer(_:)``, after which every file is as it was;
  ///   ``VaultError/storage(_:)``.
  init(opening path: String, lock held: StoreLock? = nil) throws(VaultError) {
    guard let directory = try StoreDirectory.open(path), directory.contains(Self.fileName) else { throw .noVault }
    // If a lock file exists, the lock is taken before the first look at the database. If this process had the database
    // open already, closing a second descriptor of it would drop SQLite's own locks.
    var lock = held
    if lock == nil { lock = try StoreLock.take(in: directory, creating: false) }
    guard try DatabaseHeader.check(Self.fileName, log: Self.logName, in: directory) else { throw .noVault }
    if lock == nil {
      lock = try StoreLock.take(in: directory, creating: true)
      guard try DatabaseHeader.check(Self.fileName, log: Self.logName, in: directory) else { throw .noVault }
    }
    guard let lock else { throw .storage("vault.lock is gone") }
    self.path = directory.path
    self.lock = lock
    connection = try Self.connect(Self.fileName, directory, lock)
    statements = try Statements(connection)
    try readMark()
    try Self.removeUnfinished(in: directory)
  }

  /// Makes a stand-in for a database whose files are closed. It has no records and takes none.
  static func closed(_ path: String) throws(VaultError) -> Database {
    let connection = try SQLiteConnection(path: ":memory:", lock: nil)
    connection.trust()
    try Schema.make(connection)
    try connection.execute("PRAGMA query_only = ON")
    return try Database(connection, path: path, lock: nil)
  }

  /// Declares that the records are ours, too, not only the tables. The log may then be settled, and closing may fold it
  /// into the main file. If settling the log fails now, ``begin()`` tries again.
  func trust() {
    connection.trust()
    try? connection.settleLog()
  }

  /// Declares that the records are damaged: the files stay as they are, even after closing.
  func distrust() { connection.distrust() }

  private static func connect(
    _ name: String, _ directory: borrowing StoreDirectory, _ lock: StoreLock
  ) throws(VaultError) -> SQLiteConnection {
    let log = try WriteAheadLog(of: name, in: directory)
    let connection = try SQLiteConnection(path: directory.path(of: name), lock: lock)
    guard try connection.text("PRAGMA journal_mode") == "wal" else { throw .corrupt("vault.db has no log mode") }
    connection.guardLog()
    // The log may have a newer header than the main file.
    let version = Int(try connection.integer("PRAGMA user_version"))
    if version > Schema.version { throw .newer(version) }
    guard version == Schema.version else { throw .corrupt("vault.db has a schema that no release wrote") }
    guard Int(try connection.integer("PRAGMA application_id")) == Schema.applicationID else {
      throw .corrupt("vault.db belongs to another program")
    }
    try log.check(name, pageCount: Int(try connection.integer("PRAGMA page_count")), in: directory)
    connection.committed = log.committed
    connection.isUnsettled = connection.hadLog
    connection.hadRemains = log.hasRemains
    connection.noteLog()
    try Schema.check(connection)
    return connection
  }

  /// Makes a new database whose first content `fill` writes. A crash cannot leave half of it: the database is built
  /// under another name, and linked into place when all of it is on the disk.
  ///
  /// - Throws: ``VaultError/vaultExists`` when anything has the database's name, even a dangling link; what `fill`
  ///   throws. An attempt that fails leaves nothing behind.
  static func create(in path: String, fill: (Database) throws(VaultError) -> Void) throws(VaultError) {
    let directory = try StoreDirectory.openOrMake(path)
    let lock = try lockForNew(in: directory)
    do throws(VaultError) {
      try build(in: directory, lock, fill)
      try putInPlace(in: directory)
    } catch {
      try? removeUnfinished(in: directory)
      throw error
    }
  }

  /// Takes the lock of a directory for a new database, which is at first built under another name.
  static func lockForNew(in directory: borrowing StoreDirectory) throws(VaultError) -> StoreLock {
    if directory.contains(fileName) { throw .vaultExists }
    guard let lock = try StoreLock.take(in: directory, creating: true) else { throw .storage("vault.lock is gone") }
    try removeUnfinished(in: directory)
    return lock
  }

  /// Checks that the new database is whole and lies in its main file alone, and waits until that file is on the disk.
  static func settle(in directory: borrowing StoreDirectory) throws(VaultError) {
    guard try DatabaseHeader.check(newName, log: newName + "-wal", in: directory),
      try directory.size(of: newName + "-wal") == nil
    else { throw .storage("vault.db could not be written completely") }
    try directory.syncFile(newName)
  }

  /// Gives the new database its final name, unless that name is taken.
  static func putInPlace(in directory: borrowing StoreDirectory) throws(VaultError) {
    guard try directory.link(newName, as: fileName) else { throw .vaultExists }
    do throws(VaultError) {
      try directory.sync()
      try removeUnfinished(in: directory)
      try directory.sync()
    } catch {
      // The caller is told that there is no vault. The lock is held, and the name is that of this database.
      try? directory.remove(fileName)
      throw error
    }
  }

  private static func build(
    in directory: borrowing StoreDirectory, _ lock: StoreLock, _ fill: (Database) throws(VaultError) -> Void
  ) throws(VaultError) {
    try directory.makeFile(newName)
    // The connection has a scope of its own: SQLite folds the log in and removes it when the last reference is
    // released.
    do {
      let connection = try SQLiteConnection(path: directory.path(of: newName), lock: lock)
      // Nothing needs the file before it has its name, and ``settle(in:)`` waits for the disk before that.
      try connection.execute("PRAGMA synchronous = OFF")
      try connection.execute("PRAGMA page_size = \(DatabaseHeader.pageSize)")
      try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
      guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
        throw .storage("vault.db cannot have a write-ahead log on this file system")
      }
      connection.trust()
      try Schema.make(connection)
      let database = try Database(connection, path: directory.path, lock: lock)
      try database.begin()
      try fill(database)
      try database.commit()
      try connection.checkpoint()
    }
    do throws(VaultError) { try settle(in: directory) } catch .corrupt(let reason) {
      // Nobody else has written this file, so the error is one of storage.
      throw .storage("vault.db could not be written completely: \(reason)")
    }
  }

  /// Opens a new database that was copied as a whole from another one.
  static func openCopy(in directory: borrowing StoreDirectory, _ lock: StoreLock) throws(VaultError) -> Database {
    guard try DatabaseHeader.check(newName, log: newName + "-wal", in: directory) else {
      throw .storage("vault.db.new is gone")
    }
    let database = try Database(try connect(newName, directory, lock), path: directory.path, lock: lock)
    database.trust()
    try database.readMark()
    return database
  }

  /// Makes a database on an open connection.
  init(_ connection: SQLiteConnection, path: String, lock: StoreLock?) throws(VaultError) {
    self.path = path
    self.lock = lock
    self.connection = connection
    statements = try Statements(connection)
  }

  /// Removes the files of an interrupted creation. Call this only under the lock.
  static func removeUnfinished(in directory: borrowing StoreDirectory) throws(VaultError) {
    for suffix in ["", "-wal", "-journal"] { try directory.remove(newName + suffix) }
  }

  /// Folds all of the log into the main file and leaves the log empty. Both are on the disk when this returns.
  ///
  /// - Throws: ``VaultError/storage(_:)``, including while a statement is being run.
  func fold() throws(VaultError) {
    do throws(VaultError) { try connection.checkpoint() } catch {
      guard case .inUse = error else { throw error }
      throw .storage("vault.db: the log cannot be folded in")
    }
  }

  /// The size of the main file after the log is folded in, in bytes.
  func size() throws(VaultError) -> Int {
    Int(try connection.integer("PRAGMA page_count")) * DatabaseHeader.pageSize
  }

  /// Begins a transaction. Either all of a transaction is written, or nothing.
  func begin() throws(VaultError) {
    try connection.settleLog()
    try statements.transaction.begin.run()
  }

  /// Ends the transaction and waits until it is on the disk.
  ///
  /// - Throws: the system's error, also when nobody can tell whether the files still have their names;
  ///   ``VaultError/distrusted(_:advice:)`` when the files have lost their names. The transaction is undone then.
  ///
  /// - Parameter isOfLog: true for entries of the audit log, which are also written into a store that was moved as a
  ///   whole: they tell what was served from it. Changes of such a store are refused, because the person who moved it
  ///   may be copying it.
  func commit(isOfLog: Bool = false) throws(VaultError) {
    do throws(VaultError) {
      if let error = connection.lostFile, !isOfLog || error != SQLiteConnection.moved { throw error }
      let isMarked = try addMark()
      try statements.transaction.commit.run()
      rowsByPages = [:]
      if isMarked { noteMark() }
    } catch {
      rollback()
      throw error
    }
  }

  /// True while ``commit()`` does not wait for the disk; ``syncLog()`` waits later.
  var defersSyncs: Bool {
    get { connection.defersSyncs }
    set { connection.defersSyncs = newValue }
  }

  /// Waits until everything that was committed is on the disk.
  func syncLog() throws(VaultError) { try connection.syncLog() }

  /// Undoes all changes since ``begin()``. An error may have undone them already.
  func rollback() {
    highestRow = nil
    // If even the rollback fails, the transaction was never committed, and the next opening drops it.
    if connection.isInTransaction { try? statements.transaction.rollback.run() }
    // If this fails, the next transaction does not begin before it succeeds.
    if connection.isTrusted { try? connection.settleLog() }
  }
}
