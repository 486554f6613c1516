/// A mark in the main file, a row of the table `meta`, that is set while a log belongs to the file.
///
/// Somebody may copy vault.db alone while the daemon runs. Such a copy has older items and older passwords than the
/// log, and all of them are authentic. So the first commit of a daemon puts the mark into the main file, and closing,
/// which folds the log in, removes it. A file that has the mark and no log beside it is such a copy, or has lost its
/// log.
///
/// Two kinds of copy go unnoticed: a copy made before that first commit was folded in (the commit cannot be folded in
/// while a backup or a check reads the file), and a copy with the log of another moment beside it.
struct LogMark {
  /// The name of the row.
  static let name = "log"

  /// True when the file was found with the mark and without a log.
  let isOfCopy: Bool
  /// True when the row exists.
  var isSet: Bool
}

extension Database {
  /// True when the store, at opening, was a copy without the log that belongs to it.
  var isCopy: Bool { connection.mark?.isOfCopy ?? false }

  /// Reads the mark of a store that was opened.
  func readMark() throws(VaultError) {
    let isSet = try meta(LogMark.name) != nil
    connection.mark = LogMark(isOfCopy: isSet && !connection.hadLog, isSet: isSet)
  }

  /// Adds the mark to the transaction, unless the store has it already; true if it was added.
  func addMark() throws(VaultError) -> Bool {
    guard connection.mark?.isSet == false else { return false }
    try putMeta(LogMark.name, [])
    return true
  }

  /// Notes that the mark was committed, and folds the log so that the mark reaches the main file.
  func noteMark() {
    connection.mark?.isSet = true
    if connection.foldsLog { connection.foldLog() }
  }
}

extension SQLiteConnection {
  /// Removes the mark at the end, when closing is about to fold in the log. If the removal fails, the log stays, too.
  func unmark() {
    guard isTrusted, mark?.isSet == true, lostFile == nil else { return }
    forgetCommits()
    // The room in a log that was folded in is used again, so that the removal succeeds even on a full disk.
    if foldsLog { foldLog() }
    do throws(VaultError) {
      try settleLog()
      try execute("DELETE FROM meta WHERE name = '\(LogMark.name)'")
    } catch { distrust() }
  }
}
