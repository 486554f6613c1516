import VaultModel

// The closing of a keychain that is still referred to.
extension Keychain {
  /// Closes the files for good, even if somebody still refers to the keychain, and wipes all keys. The log is folded
  /// into the main file, unless the store failed: then both files stay as they are.
  ///
  /// A check in progress is abandoned, and a backup ends here: another thread that reads the backup gets no more of it.
  /// Nothing can be read or written afterwards; see ``isGone``.
  /// - Throws: ``VaultError/storage(_:)`` when there is not enough memory for the stand-in that replaces the open
  ///   database; the files are still open then. Also ``VaultError/storage(_:)`` when the log was removed and cannot be
  ///   put back; the files are closed then, and vault.db lacks the content that only the log had.
  public func close() throws(VaultError) {
    guard !isGone else { return }
    let stand = try Database.closed(database.path)
    endBackup()
    database.rollback()
    transaction.state = .none
    // Closing the database tries this too, but cannot report a failure.
    let failure: VaultError?
    do throws(VaultError) {
      try database.putBackLog()
      failure = nil
    } catch {
      database.distrust()
      failure = error
    }
    close(stand)
    if let failure { throw failure }
  }

  /// Leaves the keychain without a store and without keys. The files are closed, unless somebody else still refers to
  /// them.
  func close(_ stand: Database) {
    wipe()
    pass = nil
    verdict = Verdict()
    database = stand
  }
}
