internal import CSQLite
import Glibc

/// The one connection to the database file: opened so that nothing in a hostile file can act, in write-ahead logging
/// with a sync on every commit, and locked against every other process for as long as it lives.
@safe final class Connection {
  private let handle: OpaquePointer
  // Released after the handle is closed, because closing still writes.
  private let lock: StoreLock?
  /// The main file's.
  let path: String
  private let log: String
  private let hadLog: Bool
  private var isTrusted = false
  /// A descriptor of the main file beside SQLite's own. Closing one drops all locks that this process has on the file, so
  /// it stays open until SQLite has closed its own.
  private var reading: Int32 = -1
  private let budget = StepBudget()

  /// Opens the existing file at `path`, of any length.
  ///
  /// Until ``trust()`` is called, closing leaves the file and its log as they were found.
  init(path: String, lock: StoreLock?) throws(VaultError) {
    self.lock = lock
    self.path = path
    log = path + "-wal"
    hadLog = unsafe access(log, F_OK) == 0
    _ = Self.configured
    var opened: OpaquePointer?
    // One owner, so no mutex. The directory was checked, and nobody else can write to it.
    let code = unsafe sqlite3_open_v2(
      path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE, nil
    )
    guard let opened = unsafe opened, code == SQLITE_OK else {
      unsafe sqlite3_close_v2(opened)
      throw SQLiteFailure.error(code)
    }
    unsafe handle = opened
    unsafe budget.watch(handle)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.longestColumn)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    for (option, on) in Self.switches { unsafe vault_db_switch(handle, option, on) }
    // The lock mode comes first: it decides that the log's index lives in our memory and not in a shared file.
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    try execute("PRAGMA synchronous = FULL")
    try execute("PRAGMA temp_store = MEMORY")
    try execute("PRAGMA cell_size_check = ON")
    try execute("PRAGMA secure_delete = ON")
    // KiB. It fills as a store is read; all but the leaves of a million items fit.
    try execute("PRAGMA cache_size = -65536")
    try execute("PRAGMA journal_size_limit = 4194304")
    // At once, because nobody knows where the file is later. What stands for a closed database has none.
    reading = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
  }

  /// Whether what the disk does not give is damage like any other, to go on after, and no failure of the moment.
  var takesUnreadableForDamage = false

  /// Keeps fewer pages in memory: for a store that is written from one end to the other, beside a live one that has its
  /// cache already.
  func shrinkCache() throws(VaultError) { try execute("PRAGMA cache_size = -16384") }

  deinit {
    unsafe sqlite3_close_v2(handle)
    if reading >= 0 { close(reading) }
    // SQLite makes an empty log on its first look; what is not ours is left without one, as it was.
    var status = stat()
    if !isTrusted, !hadLog, unsafe stat(log, &status) == 0, status.st_size == 0 { unsafe unlink(log) }
  }

  // Refused, without harm, when something in this process used SQLite before.
  private static let configured: Bool = vault_sqlite_without_statistics() == SQLITE_OK

  /// The longest text or blob that is ever read or written, in bytes: a sealed value of the largest size and room.
  private static let longestColumn: Int32 = 2 << 20

  private static let switches: [(Int32, Int32)] = [
    (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1), (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
    (SQLITE_DBCONFIG_DQS_DDL, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
  ]

  /// Says that the file is ours, so closing may fold the log into it.
  func trust() {
    isTrusted = true
    unsafe vault_db_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
  }

  /// Begins one step of a statement, or one call: bounds what it may cost.
  ///
  /// A step that costs more, which only a tree of pages that has no end makes it do, ends as corrupt.
  func beginStep() { budget.refill() }

  /// Runs statements whose rows, if any, are of no interest.
  func execute(_ sql: String) throws(VaultError) {
    beginStep()
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code) }
  }

  /// Compiles one statement for many runs.
  func prepare(_ sql: String) throws(VaultError) -> Statement {
    beginStep()
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement = unsafe statement else { throw error(code) }
    return unsafe Statement(self, statement)
  }

  /// The integer in the first column of the first row.
  func integer(_ sql: String) throws(VaultError) -> Int64 {
    let statement = try prepare(sql)
    let found = try statement.first { (row: Statement) throws(VaultError) in try row.integer(0) }
    guard let found else { throw .corrupt("vault.db: an answer is missing") }
    return found
  }

  /// The text in the first column of the first row.
  func text(_ sql: String) throws(VaultError) -> String {
    let statement = try prepare(sql)
    let found = try statement.first { (row: Statement) throws(VaultError) in try row.text(0) }
    guard let found else { throw .corrupt("vault.db: an answer is missing") }
    return found
  }

  /// Writes the log through to the main file and empties it.
  func checkpoint() throws(VaultError) {
    if try integer("PRAGMA wal_checkpoint(TRUNCATE)") != 0 { throw .inUse(pid: nil) }
  }

  /// Writes what the log has to the main file, and leaves it as long as it is: on a disk that takes nothing it is no error
  /// where there is nothing to write.
  func writeLogThrough() throws(VaultError) {
    let statement = try prepare("PRAGMA wal_checkpoint(PASSIVE)")
    let isDone = try statement.first { (row: Statement) throws(VaultError) in
      // It was not kept from it, and as many pages were written as the log has.
      let (isBusy, log, written) = (try row.integer(0), try row.integer(1), try row.integer(2))
      return isBusy == 0 && log == written
    }
    if isDone != true { throw .inUse(pid: nil) }
  }

  /// Whether a commit that makes the log long writes it through to the main file, as it does unless told otherwise.
  func setFoldsLog(_ isOn: Bool) { unsafe sqlite3_wal_autocheckpoint(handle, isOn ? 1000 : 0) }

  /// A descriptor to read the main file with, which lives as long as the connection.
  func descriptor() throws(VaultError) -> Int32 {
    guard reading >= 0 else { throw .storage("\(path) cannot be read") }
    return reading
  }

  /// Whether another file, or none, has the main file's name now.
  var hasMoved: Bool {
    var moved: Int32 = 0
    // Answers with a number of that type.
    return unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved != 0
  }

  /// Whether a transaction is open. An error can end one, so ask before rolling back.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// How many rows the last statement changed.
  var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

  /// The error for a result code of a call on this connection.
  func error(_ code: Int32) -> VaultError {
    SQLiteFailure.error(
      code, system: unsafe vault_db_system_error(handle), takesUnreadableForDamage: takesUnreadableForDamage)
  }
}
