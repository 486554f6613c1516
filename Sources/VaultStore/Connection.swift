internal import CSQLite
import Glibc

/// The one connection to the database file: opened so that nothing in a hostile file can act, in write-ahead logging
/// with a sync on every commit, and locked against every other process for as long as it lives.
@safe final class Connection {
  private let handle: OpaquePointer
  // Released after the handle is closed, because closing still writes.
  let lock: StoreLock?
  /// The main file's.
  let path: String
  /// The log's.
  let log: String
  private let hadLog: Bool
  private(set) var isTrusted = false
  /// A descriptor of the main file beside SQLite's own. Closing one drops all locks that this process has on the file, so
  /// it stays open until SQLite has closed its own.
  private var reading: Int32 = -1
  private let budget = StepBudget()
  /// How much of the log is of committed transactions, as SQLite said at the last commit, or as it was found before one.
  var committed = CommittedLog()
  /// How many frames make the log so long that a commit folds it into the main file. Nothing but a test changes it.
  var longLog = 4000
  // Whether there was no commit since the log was folded in, or that was tried.
  private var isFolded = true
  // How many rely on the main file's staying as it is.
  private var holders = 0
  // The file that SQLite has open as the log; nil until noteLog().
  var openLog: FileNumber?
  // Of the main file and of the log.
  private let guards: UnsafeMutablePointer<vault_guard>

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
    unsafe guards = .allocate(capacity: 2)
    unsafe guards.initialize(repeating: vault_guard(), count: 2)
    unsafe limitKeys(of: vault_main_file(handle), with: guards)
    unsafe budget.watch(handle)
    for (limit, value) in Self.limitsOfSchema { unsafe sqlite3_limit(handle, limit, value) }
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
    watchCommits()
    // At once, because nobody knows where the file is later. What stands for a closed database has none.
    reading = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
  }

  /// True once the tables are known to be ours. Until then it is the file's fault when SQLite cannot make sense of a statement,
  /// for all of ours have sense.
  var hasOurTables = false {
    didSet {
      budget.isOfStore = hasOurTables
      for (limit, value) in hasOurTables ? Self.limits : Self.limitsOfSchema {
        unsafe sqlite3_limit(handle, limit, value)
      }
    }
  }

  /// Whether what the disk does not give is damage like any other, to go on after, and no failure of the moment.
  var takesUnreadableForDamage = false

  /// Keeps fewer pages in memory: for a store that is written from one end to the other, beside a live one that has its
  /// cache already.
  func shrinkCache() throws(VaultError) { try execute("PRAGMA cache_size = -16384") }

  deinit {
    // SQLite would remove by its name what is another file by now, unless the main file is one, too.
    if hasOtherLog { distrust() }
    // A log that is only gone is folded in from its open file: nothing is lost then.
    do throws(VaultError) { try putBackLog() } catch { distrust() }
    unsafe sqlite3_close_v2(handle)
    unsafe guards.deallocate()
    if reading >= 0 { close(reading) }
    // SQLite makes an empty log on its first look; what is not ours is left without one, as it was.
    var status = stat()
    if !isTrusted, !hadLog, unsafe stat(log, &status) == 0, status.st_size == 0 { unsafe unlink(log) }
  }

  // Refused, without harm, when something in this process used SQLite before.
  private static let configured: Bool = vault_sqlite_configure() == SQLITE_OK

  /// The longest text or blob that is ever read or written, in bytes: a sealed value of the largest size and room.
  private static let longestColumn: Int32 = 2 << 20

  /// The limits until the tables are known to be ours: SQLite parses all of a file's schema before we see any of it, which
  /// counts as no step. The longest statement of our schema has 214 bytes.
  private static let limitsOfSchema: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, 1024), (SQLITE_LIMIT_SQL_LENGTH, 1024), (SQLITE_LIMIT_COLUMN, 8),
    (SQLITE_LIMIT_EXPR_DEPTH, 8),
    (SQLITE_LIMIT_ATTACHED, 0),
  ]
  /// The limits from then on, of what belongs to rows and to our statements.
  private static let limits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, longestColumn), (SQLITE_LIMIT_SQL_LENGTH, 8192), (SQLITE_LIMIT_COLUMN, 16),
    (SQLITE_LIMIT_EXPR_DEPTH, 16),
  ]

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

  /// Says that the file is to stay as it is from now on, with its log: closing folds nothing in.
  func distrust() {
    isTrusted = false
    unsafe vault_db_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
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

  // MARK: What a file claims

  /// Has the log refuse keys that claim to be too long, as the main file does. Call it once, after SQLite has looked at the
  /// database and before it reads an index.
  func limitKeysOfLog() { unsafe limitKeys(of: vault_log(handle), with: guards + 1) }

  private func limitKeys(of file: UnsafeMutablePointer<sqlite3_file>?, with new: UnsafeMutablePointer<vault_guard>) {
    unsafe vault_guard_file(file, new, Int32(DatabaseHeader.pageSize), Self.longestColumn)
  }

  // MARK: The log

  /// Has SQLite tell of each commit, in place of its own way to fold the log into the main file.
  private func watchCommits() {
    // The connection closes the handle before it goes.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        // What was passed with it.
        if let context = unsafe context {
          unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().noteCommit(frames: Int(frames))
        }
        return SQLITE_OK
      }, context)
  }

  private func noteCommit(frames: Int) {
    committed = CommittedLog(frames: frames, salts: try? logSalts())
    isFolded = false
    if foldsLog, frames >= longLog { foldLog() }
  }

  /// True when the log is long enough to be folded in between two commits, so that neither has to wait for it.
  var hasLongLog: Bool { !isFolded && isTrusted && foldsLog && committed.frames >= longLog / 4 }

  /// Folds the log into the main file. Where that fails, the log stays, and the next commit tries again.
  func foldLog() {
    isFolded = true
    // One that took the log's name would be folded over it at the next opening; and without one, the main file would be
    // neither old nor new where the fold ends in the middle.
    if lostFile != nil { return }
    _ = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }

  /// Whether a commit that makes the log long folds it into the main file.
  var foldsLog: Bool { holders == 0 }

  /// Leaves the main file as it is, until ``releaseMainFile()`` was called as often as this.
  func holdMainFile() { holders += 1 }

  /// Lets commits fold the log into the main file again, unless somebody else holds it.
  func releaseMainFile() { holders -= 1 }

  /// Fills `bytes` with what the log has from `offset` on; false when it ends before.
  func readLog(at offset: Int, into bytes: inout [UInt8]) throws(VaultError) -> Bool {
    var isWhole: Int32 = 0
    let code = unsafe vault_log_read(handle, &bytes, Int32(bytes.count), Int64(offset), &isWhole)
    if code != SQLITE_OK { throw error(code) }
    return isWhole != 0
  }

  /// The salts in the log's header, which are others when it has begun anew; nil when it has none.
  func logSalts() throws(VaultError) -> [UInt8]? {
    var salts = [UInt8](repeating: 0, count: LogFrames.salts.count)
    return try readLog(at: LogFrames.salts.lowerBound, into: &salts) ? salts : nil
  }

  /// How long the log is, in bytes.
  func logSize() throws(VaultError) -> Int {
    var size: Int64 = 0
    let code = unsafe vault_log_size(handle, &size)
    if code != SQLITE_OK { throw error(code) }
    return Int(size)
  }

  /// A descriptor to read the main file with, which lives as long as the connection.
  func descriptor() throws(VaultError) -> Int32 {
    guard reading >= 0 else { throw .storage("\(path) cannot be read") }
    return reading
  }

  /// True when another file, or none, has the main file's name now.
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
    if code & 0xFF == SQLITE_ERROR, !hasOurTables { return .corrupt("vault.db: its tables cannot be read") }
    return SQLiteFailure.error(
      code, system: unsafe vault_db_system_error(handle), takesUnreadableForDamage: takesUnreadableForDamage)
  }
}

/// The part of the log that is of committed transactions.
struct CommittedLog {
  /// How many frames.
  var frames = 0
  /// The salts in the log's header at the time: when these are others, the log has begun anew since, because all of it was
  /// folded in. Nil when there was no header.
  var salts: [UInt8]?
}
