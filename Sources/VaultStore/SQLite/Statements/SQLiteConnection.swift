import CLinux
internal import CSQLite
import Glibc

/// The one connection to the database file. It is opened so that nothing in a hostile file can act, uses write-ahead
/// logging with a sync on every commit, and is locked against every other process as long as it lives.
@safe final class SQLiteConnection {
  private let handle: OpaquePointer
  // Released after the handle is closed, because closing still writes.
  let lock: StoreLock?
  /// The path of the main file.
  let path: String
  /// The path of the log.
  let log: String
  let hadLog: Bool
  private(set) var isTrusted = false
  /// A descriptor of the main file beside SQLite's own. Closing any descriptor of the file drops all locks that this
  /// process has on it, so this one stays open until SQLite has closed its own.
  private var reading: Int32 = -1
  private let budget = StepBudget()
  /// The part of the log that belongs to committed transactions, as SQLite reported it at the last commit. Before the
  /// first commit, it is the part found at opening.
  var committed = CommittedLog()
  /// The number of frames at which a commit folds the log into the main file.
  var longLog = 4000
  // True when nothing was committed since the log was last folded in, or since the last attempt to fold it in.
  private var isFolded = true
  // The number of users that rely on the main file to stay as it is.
  private var holders = 0
  /// True when a log was found at opening that may not be on the disk, or may have something behind its committed part.
  var isUnsettled = false
  /// True if the log was found with frames of a transaction that was not completed.
  var hadRemains = false
  // The main file; nil for a connection whose own descriptor of it could not be opened.
  private(set) var openMain: FileNumber?
  // The file that SQLite has open as the log; nil until noteLog().
  var openLog: FileNumber?
  /// The mark in the main file that a log belongs to it; nil for a store that has none.
  var mark: LogMark?
  // One guard for the main file and one for the log.
  private let guards: UnsafeMutablePointer<vault_guard>
  // A buffer that collects frames for one write to the log.
  private let gathered: UnsafeMutableBufferPointer<UInt8>

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
    // The connection has one owner, so it needs no mutex. The directory was checked, and nobody else can write to it.
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
    unsafe gathered = .allocate(capacity: Self.mostGathered)
    unsafe limitKeys(of: vault_main_file(handle), with: guards)
    unsafe budget.watch(handle)
    for (limit, value) in Self.limitsOfSchema { unsafe sqlite3_limit(handle, limit, value) }
    for (option, on) in Self.switches { unsafe vault_db_switch(handle, option, on) }
    // The lock mode comes first: it makes SQLite keep the log's index in our memory and not in a shared file.
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    try execute("PRAGMA synchronous = FULL")
    try execute("PRAGMA temp_store = MEMORY")
    try execute("PRAGMA cell_size_check = ON")
    try execute("PRAGMA secure_delete = ON")
    // The cache size is in KiB. The cache fills as a store is read; it has room for all pages of a million items except
    // the leaves.
    try execute("PRAGMA cache_size = -65536")
    try execute("PRAGMA journal_size_limit = 4194304")
    watchCommits()
    // The descriptor is opened now, because nobody knows where the file will be later. A stand-in for a closed database
    // has no file.
    reading = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    openMain = reading < 0 ? nil : FileNumber(of: reading)
  }

  /// True once the tables are known to be ours. Until then, a statement that SQLite cannot understand is the file's
  /// fault, because all of our statements are valid.
  var hasOurTables = false {
    didSet {
      budget.isOfStore = hasOurTables
      for (limit, value) in hasOurTables ? Self.limits : Self.limitsOfSchema {
        unsafe sqlite3_limit(handle, limit, value)
      }
    }
  }

  /// True when data that the disk cannot read counts as damage, after which reading continues, and not as a momentary
  /// failure.
  var takesUnreadableForDamage = false

  /// Keeps fewer pages in memory, and a shorter log. This is for a store that is written from one end to the other
  /// beside a live store, which has its cache already, and whose users wait while the log is folded in.
  func shrink() throws(VaultError) {
    try execute("PRAGMA cache_size = -16384")
    longLog = 3200
  }

  deinit {
    // SQLite removes the log by its name. If another file has that name by now, SQLite would remove that file, unless
    // the main file's name belongs to another file, too.
    if hasOtherLog { distrust() }
    // A log whose name was only removed is folded in from its open file, so nothing is lost.
    do throws(VaultError) { try putBackLog() } catch { distrust() }
    unmark()
    unsafe sqlite3_close_v2(handle)
    unsafe guards.deallocate()
    unsafe gathered.deallocate()
    if reading >= 0 { close(reading) }
    // SQLite makes an empty log when it first reads. A file that is not ours is left without a log, as it was found.
    var status = stat()
    if !isTrusted, !hadLog, unsafe stat(log, &status) == 0, status.st_size == 0 { unsafe unlink(log) }
  }

  // SQLite harmlessly refuses this call if anything in this process has used SQLite before.
  private static let configured: Bool = vault_sqlite_configure() == SQLITE_OK

  /// The longest text or blob that is ever read or written, in bytes: the largest sealed value, with room to spare.
  private static let longestColumn: Int32 = 2 << 20

  /// The limits that apply until the tables are known to be ours. SQLite parses the whole schema of a file before we
  /// see any of it, and parsing does not count as a step. The longest statement of our schema has 214 bytes.
  private static let limitsOfSchema: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, 1024), (SQLITE_LIMIT_SQL_LENGTH, 1024), (SQLITE_LIMIT_COLUMN, 8),
    (SQLITE_LIMIT_EXPR_DEPTH, 8),
    (SQLITE_LIMIT_ATTACHED, 0),
  ]
  /// The limits that apply once the tables are known to be ours, for rows and for our statements.
  private static let limits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, longestColumn), (SQLITE_LIMIT_SQL_LENGTH, 8192), (SQLITE_LIMIT_COLUMN, 16),
    (SQLITE_LIMIT_EXPR_DEPTH, 16),
  ]

  private static let switches: [(Int32, Int32)] = [
    (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1), (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
    (SQLITE_DBCONFIG_DQS_DDL, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
  ]

  /// Declares the file to be ours, so that closing may fold the log into it.
  func trust() {
    isTrusted = true
    unsafe vault_db_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
  }

  /// Declares that the file and its log must stay as they are from now on: closing folds nothing in.
  func distrust() {
    isTrusted = false
    unsafe vault_db_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }

  /// Begins one step of a statement, or one call, and bounds its cost.
  ///
  /// A step that costs more throws ``VaultError/corrupt(_:)``: only pages that lead in a circle make a step cost so
  /// much.
  func beginStep() { budget.refill() }

  /// Runs statements and ignores their rows, if any.
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

  /// Folds the log into the main file and empties the log.
  func checkpoint() throws(VaultError) {
    if try integer("PRAGMA wal_checkpoint(TRUNCATE)") != 0 { throw .inUse(pid: nil) }
    committed = CommittedLog()
    isFolded = true
    isUnsettled = false
    unsafe guards[1].begun = 0
  }

  // MARK: The files below SQLite

  /// The most bytes that are written to the log in one piece: 16 frames.
  private static let mostGathered = 16 * LogFrames.frameSize

  /// Makes a read from the log fail if a page of an index has a key that claims to be longer than any column, as a read
  /// from the main file does. Also writes frames to the log in larger pieces than SQLite does. Call this once, after
  /// SQLite has read from the database and before it reads an index.
  func guardLog() {
    let log = unsafe vault_log(handle)
    unsafe limitKeys(of: log, with: guards + 1)
    unsafe vault_gather_writes(log, guards + 1, gathered.baseAddress, Int32(gathered.count))
  }

  private func limitKeys(of file: UnsafeMutablePointer<sqlite3_file>?, with new: UnsafeMutablePointer<vault_guard>) {
    unsafe vault_guard_file(file, new, Int32(DatabaseHeader.pageSize), Self.longestColumn)
  }

  // MARK: The log

  /// Makes SQLite report each commit instead of folding the log into the main file in its own way.
  private func watchCommits() {
    // The connection closes the handle before it is deallocated, so the pointer stays valid.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        // The pointer is the one that was registered with the hook.
        if let context = unsafe context {
          unsafe Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().noteCommit(frames: Int(frames))
        }
        return SQLITE_OK
      }, context)
  }

  /// Stops the reports of commits: nothing may refer to the connection while it is being deallocated.
  func forgetCommits() { _ = unsafe sqlite3_wal_hook(handle, nil, nil) }

  private func noteCommit(frames: Int) {
    unsafe guards[1].begun = 0
    committed = CommittedLog(frames: frames, salts: try? logSalts())
    isFolded = false
    if foldsLog, frames >= longLog { foldLog() }
  }

  /// True when the log is long enough to be folded in between two commits, so that neither commit has to wait for that.
  var hasLongLog: Bool { !isFolded && isTrusted && foldsLog && committed.frames >= longLog / 8 }

  /// Folds the log into the main file. If that fails, the log stays, and the next commit tries again.
  func foldLog() {
    isFolded = true
    // If another file has taken the log's name, the next opening would fold that file over the main file. And if no
    // file has the name, a fold that stops midway would leave the main file neither old nor new.
    if lostFile != nil { return }
    _ = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }

  /// True while a commit is handed to the system without waiting for the disk: only a loss of power may undo it. The
  /// next write waits for the commit first, so that the log never has a part of a later transaction before all of an
  /// earlier one. Whoever sets this must call ``syncLog()`` later.
  var defersSyncs = false {
    didSet { unsafe guards[1].defers = defersSyncs ? 1 : 0 }
  }

  /// Waits until the log is on the disk.
  func syncLog() throws(VaultError) {
    let code = unsafe vault_log_sync(handle)
    if code != SQLITE_OK { throw error(code) }
  }

  /// Cuts off everything behind the committed part of the log, and waits until the cut and the committed part are on
  /// the disk. A crash then leaves at most the one transaction that is written next (``LogEnd``). A crash, a failed
  /// transaction or a program that copied the store leaves a log that is not settled. SQLite never reads what is cut
  /// off.
  ///
  /// Call this before anything is written. It has no effect on a settled log.
  func settleLog() throws(VaultError) {
    guard unsafe isUnsettled || guards[1].begun != 0, !isInTransaction else { return }
    // The log of a store that was moved is still the log of the main file.
    if let lost = lostFile, lost != Self.moved {
      // If a later look at the file succeeds, no transaction may have been written behind the frames that are not cut
      // off.
      if case .storage = lost { throw lost }
      return
    }
    unsafe vault_log_forget(guards + 1)
    let code = unsafe vault_log_cut(handle, guards + 1, Int64(try settledSize()))
    if code != SQLITE_OK { throw error(code) }
    isUnsettled = false
  }

  /// The size of the log's header and of the committed part, in bytes.
  private func settledSize() throws(VaultError) -> Int {
    guard committed.frames > 0 else { return LogFrames.headerSize }
    var header = [UInt8](repeating: 0, count: LogFrames.headerSize)
    guard let salts = committed.salts, try readLog(at: 0, into: &header) else {
      throw .storage("vault.db-wal: its header cannot be read")
    }
    if Array(header[LogFrames.salts]) == salts { return committed.size }
    // A transaction that failed has begun the log anew, which SQLite does only when all of the log was folded in.
    guard let log = LogFrames(header: header), log.isNext(after: salts) else {
      throw .storage("vault.db-wal: its header has changed")
    }
    return LogFrames.headerSize
  }

  /// True when a commit that makes the log long may fold it into the main file.
  var foldsLog: Bool { holders == 0 && !defersSyncs }

  /// Keeps the main file as it is until ``releaseMainFile()`` was called as often as this method.
  func holdMainFile() { holders += 1 }

  /// Lets commits fold the log into the main file again, unless another user holds the file.
  func releaseMainFile() { holders -= 1 }

  /// Fills `bytes` with the log's content from `offset` on; false when the log ends earlier.
  func readLog(at offset: Int, into bytes: inout [UInt8]) throws(VaultError) -> Bool {
    var isWhole: Int32 = 0
    let code = unsafe vault_log_read(handle, &bytes, Int32(bytes.count), Int64(offset), &isWhole)
    if code != SQLITE_OK { throw error(code) }
    return isWhole != 0
  }

  /// The salts in the log's header, which change when the log starts over; nil when the log has no header.
  func logSalts() throws(VaultError) -> [UInt8]? {
    var salts = [UInt8](repeating: 0, count: LogFrames.salts.count)
    return try readLog(at: LogFrames.salts.lowerBound, into: &salts) ? salts : nil
  }

  /// The size of the log in bytes.
  func logSize() throws(VaultError) -> Int {
    var size: Int64 = 0
    let code = unsafe vault_log_size(handle, &size)
    if code != SQLITE_OK { throw error(code) }
    return Int(size)
  }

  /// A descriptor for reading the main file, open for as long as the connection lives.
  func descriptor() throws(VaultError) -> Int32 {
    guard reading >= 0 else { throw .storage("\(path) cannot be read") }
    return reading
  }

  /// True when the main file's name now belongs to another file or to none.
  var hasMoved: Bool {
    var moved: Int32 = 0
    // SQLite stores a number of that type.
    return unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved != 0
  }

  /// True while a transaction is open. An error can end a transaction, so check this before rolling back.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// The number of rows that the last statement changed.
  var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

  /// The number of the row that was inserted last.
  var lastInserted: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

  /// The error for a result code of a call on this connection.
  func error(_ code: Int32) -> VaultError {
    if code & 0xFF == SQLITE_ERROR, !hasOurTables { return .corrupt("vault.db: its tables cannot be read") }
    return SQLiteFailure.error(
      code, system: unsafe vault_db_system_error(handle), takesUnreadableForDamage: takesUnreadableForDamage)
  }
}

/// The part of the log that belongs to committed transactions.
struct CommittedLog {
  /// The number of frames in that part.
  var frames = 0
  /// The salts in the log's header when these frames were last counted; nil when there was no header. If the header has
  /// other salts now, the log was folded in completely and has started over since.
  var salts: [UInt8]?
  /// The size of the header and that part in bytes.
  var size: Int { LogFrames.headerSize + frames * LogFrames.frameSize }
}
