internal import CSQLite
import Glibc
import VaultModel

/// The one place where SQLite's result codes (sqlite.org/rescode.html) turn into errors.
enum SQLiteFailure {
  /// The error for an extended result code other than OK, ROW and DONE.
  ///
  /// - Parameter takesUnreadableForDamage: see ``SQLiteConnection/takesUnreadableForDamage``.
  static func error(_ code: Int32, system: Int32 = 0, takesUnreadableForDamage: Bool = false) -> VaultError {
    switch code & 0xFF {
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_TOOBIG:
      return .corrupt("vault.db: \(text(code))")
    case SQLITE_INTERRUPT:
      // Only StepBudget interrupts a statement.
      return .corrupt("vault.db: a table has no end")
    case SQLITE_IOERR where code == SQLITE_IOERR | (33 << 8):  // SQLITE_IOERR_CORRUPTFS, a macro Swift cannot import.
      return .corrupt("vault.db: the file system found it damaged")
    case SQLITE_IOERR where takesUnreadableForDamage && isOfReading(code):
      return .corrupt("vault.db: the disk cannot be read there")
    case SQLITE_BUSY, SQLITE_LOCKED:
      return .inUse(pid: nil)
    case SQLITE_PERM, SQLITE_AUTH:
      return .permissions("vault.db: \(text(code))")
    case SQLITE_FULL: return .diskFull
    case SQLITE_IOERR where system == ENOSPC: return .diskFull
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY:
      return .storage("vault.db: \(text(code))" + (system == 0 ? "" : ": \(SystemCall.text(system))"))
    default:
      return .storage("vault.db: \(text(code))")
    }
  }

  /// True when the code says that a part of a file could not be read. The codes are SQLITE_IOERR_READ and
  /// SQLITE_IOERR_SHORT_READ, macros that Swift cannot import.
  private static func isOfReading(_ code: Int32) -> Bool { [1, 2].map { SQLITE_IOERR | ($0 << 8) }.contains(code) }

  private static func text(_ code: Int32) -> String {
    // The strings are SQLite's own constants.
    unsafe String(cString: sqlite3_errstr(code)) + " (\(code))"
  }
}

extension VaultError {
  /// The error for a change that found no room on the disk. Nothing of the change was kept.
  public static let diskFull = VaultError.storage(StoreProblem.diskFull)
}

/// The texts and errors for failed calls of the C library.
enum SystemCall {
  /// The text of an error number.
  static func text(_ number: Int32) -> String {
    // glibc's result is never null, and it is copied before any other call.
    unsafe String(cString: strerror(number))
  }

  /// The error for a call on `subject` that failed with `number`.
  static func error(_ call: String, _ subject: String, _ number: Int32) -> VaultError {
    let reason =
      "\(subject): \(call): \(text(number))"
      + (number == EROFS ? ", on which no store is served; mount it writable, or serve a copy elsewhere" : "")
    return number == EACCES || number == EPERM ? .permissions(reason) : .storage(reason)
  }
}
