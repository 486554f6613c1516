/// A mark in the main file while a log belongs to it: a row of the table `meta`.
///
/// Somebody may copy vault.db alone while the daemon runs, with older items and older passwords in it than the log has, and
/// all of them authentic. So the first commit of a daemon puts the mark into the main file, and the end, which folds the
/// log in, takes it off again. A file that has it and no log beside it is such a copy, or has lost its log.
///
/// A copy is not noticed from before that commit has been folded in, which waits while a backup or a check reads the file;
/// nor with the log of another moment beside it.
struct LogMark {
  /// The name of the row.
  static let name = "log"

  /// True when the file was found with the mark, and without a log.
  let isOfCopy: Bool
  /// True when the row is there.
  var isSet: Bool
}

extension Database {
  /// True when the store was found as a copy without the log that belongs to it.
  var isCopy: Bool { connection.mark?.isOfCopy ?? false }

  /// Looks for the mark in a store that was opened.
  func readMark() throws(VaultError) {
    let isSet = try meta(LogMark.name) != nil
    connection.mark = LogMark(isOfCopy: isSet && !connection.hadLog, isSet: isSet)
  }

  /// Adds the mark to the transaction, unless the store has it; true when it does so.
  func addMark() throws(VaultError) -> Bool {
    guard connection.mark?.isSet == false else { return false }
    try putMeta(LogMark.name, [])
    return true
  }

  /// Takes note that the mark was committed, and has it reach the main file.
  func noteMark() {
    connection.mark?.isSet = true
    if connection.foldsLog { connection.foldLog() }
  }
}

extension SQLiteConnection {
  /// Takes the mark off at the end, when closing is about to fold in the log. Where that fails the log stays, too.
  func unmark() {
    guard isTrusted, mark?.isSet == true, lostFile == nil else { return }
    forgetCommits()
    // The room in a log that was folded in is used again, so that a full disk is no hindrance.
    if foldsLog { foldLog() }
    do throws(VaultError) { try execute("DELETE FROM meta WHERE name = '\(LogMark.name)'") } catch { distrust() }
  }
}
