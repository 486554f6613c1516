internal import CSQLite
import Glibc

/// One SQL statement, prepared once and run many times.
///
/// The columns of a row may be read between the step that produced the row and the next step or reset. Blobs are lent
/// where SQLite keeps them, without a copy.
@safe final class Statement {
  private let handle: OpaquePointer
  // Keeps the connection open until the statement is finalized.
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection, _ handle: OpaquePointer) {
    self.connection = connection
    unsafe self.handle = handle
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Sets parameter `index`, counted from 1, to an integer.
  func bind(_ index: Int32, _ value: Int64) throws(VaultError) {
    try check(unsafe sqlite3_bind_int64(handle, index, value))
  }

  /// Sets parameter `index` to NULL.
  func bindNull(_ index: Int32) throws(VaultError) {
    try check(unsafe sqlite3_bind_null(handle, index))
  }

  /// Sets parameter `index` to a copy of `bytes`.
  func bind(_ index: Int32, _ bytes: RawSpan) throws(VaultError) {
    // SQLite copies the bytes before the call returns. The size limits keep counts far below Int32.max.
    let code = unsafe bytes.withUnsafeBytes {
      unsafe vault_bind_blob_copy(handle, index, $0.baseAddress, Int32($0.count))
    }
    try check(code)
  }

  /// Sets parameter `index` to a copy of `bytes`.
  func bind(_ index: Int32, _ bytes: [UInt8]) throws(VaultError) {
    let code = unsafe bytes.withUnsafeBytes {
      unsafe vault_bind_blob_copy(handle, index, $0.baseAddress, Int32($0.count))
    }
    try check(code)
  }

  /// Sets parameter `index` to a copy of `text`.
  func bind(_ index: Int32, _ text: String) throws(VaultError) {
    let code = unsafe vault_bind_text_copy(handle, index, text, Int32(text.utf8.count))
    try check(code)
  }

  /// Sets parameter `index` to memory that must stay in place for the statement's life. Its content may change between
  /// runs.
  @unsafe func bind(_ index: Int32, borrowing bytes: UnsafeRawBufferPointer) throws(VaultError) {
    try check(unsafe vault_bind_blob_borrowed(handle, index, bytes.baseAddress, Int32(bytes.count)))
  }

  /// Advances to the next row; false when there is none.
  func step() throws(VaultError) -> Bool {
    connection.beginStep()
    let code = unsafe sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connection.error(code)
    }
  }

  /// Ends the run. The parameters keep their values.
  func reset() {
    // The call returns the error of the last step again, which was already thrown.
    unsafe sqlite3_reset(handle)
  }

  /// Runs a statement that returns no rows.
  func run() throws(VaultError) {
    defer { reset() }
    while try step() {}
  }

  /// Runs the statement and hands the first row, if there is one, to `body`.
  func first<R: ~Copyable>(_ body: (Statement) throws(VaultError) -> R) throws(VaultError) -> R? {
    defer { reset() }
    return try step() ? body(self) : nil
  }

  /// Runs the statement and hands every row to `body` until it returns false.
  func each(_ body: (Statement) throws(VaultError) -> Bool) throws(VaultError) {
    defer { reset() }
    while try step() { if try !body(self) { return } }
  }

  /// True when a column, counted from 0, is NULL.
  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The number of bytes in the blobs and texts of the present row. SQLite has read all of them, whether or not
  /// anything uses them.
  var size: Int {
    var size = 0
    for column in 0..<(unsafe sqlite3_column_count(handle)) {
      switch unsafe sqlite3_column_type(handle, column) {
      case SQLITE_BLOB, SQLITE_TEXT: size += Int(unsafe sqlite3_column_bytes(handle, column))
      default: break
      }
    }
    return size
  }

  /// The number of records that the present row counts as in a walk, so that a long row uses up as much of a step as
  /// several short ones.
  var weight: Int { Self.weight(size) }

  private static func weight(_ size: Int) -> Int { 1 + size / 4096 }

  /// The numbers of the first rows: as many rows as have the weight `records` together (see ``weight``), or all rows.
  /// The statement must return the number and the size of each row.
  func firstRows(records: Int) throws(VaultError) -> [Int64] {
    var (left, numbers): (Int, [Int64]) = (records, [])
    try each { (row: Statement) throws(VaultError) in
      numbers.append(try row.integer(0))
      left -= Self.weight(Int(clamping: try row.integer(1)))
      return left > 0
    }
    return numbers
  }

  /// The value of an integer column.
  func integer(_ column: Int32) throws(VaultError) -> Int64 {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { throw Self.wrongType }
    return unsafe sqlite3_column_int64(handle, column)
  }

  /// The value of a text column.
  func text(_ column: Int32) throws(VaultError) -> String {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT,
      let start = unsafe sqlite3_column_text(handle, column)
    else { throw Self.wrongType }
    // A text with a NUL would end there for us, but not for SQLite.
    guard unsafe strlen(start) == Int(sqlite3_column_bytes(handle, column)) else { throw Self.wrongType }
    return unsafe String(cString: start)
  }

  /// Lends a blob column until the next step.
  func withBlob<R: ~Copyable>(_ column: Int32, _ body: (RawSpan) throws(VaultError) -> R) throws(VaultError) -> R {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB else { throw Self.wrongType }
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    // SQLite keeps the bytes in place until the next step or reset, which happens only after `body`.
    return try body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
  }

  /// A copy of a blob column.
  func bytes(_ column: Int32) throws(VaultError) -> [UInt8] {
    try withBlob(column) { (span: RawSpan) throws(VaultError) in [UInt8](copying: span) }
  }

  /// A copy of a blob column of at most `limit` bytes. NULL counts as too long: see ``Statements/bounded(_:_:)``.
  func bytes(_ column: Int32, atMost limit: Int) throws(VaultError) -> [UInt8] {
    if isNull(column) { throw Self.tooLong }
    return try withBlob(column) { (span: RawSpan) throws(VaultError) in
      guard span.byteCount <= limit else { throw Self.tooLong }
      return [UInt8](copying: span)
    }
  }

  static var tooLong: VaultError { .corrupt("vault.db: a record is too long") }

  private static var wrongType: VaultError { .corrupt("vault.db: a column has the wrong type") }

  private func check(_ code: Int32) throws(VaultError) {
    if code != SQLITE_OK { throw connection.error(code) }
  }
}
