import VaultModel

// The end of a keychain that others still refer to.
extension Keychain {
  /// Closes the files for good, even if somebody still refers to the keychain, and wipes all keys. The log is folded
  /// into the main file, unless the store failed: then both stay as they are.
  ///
  /// A check that is under way is given up, and a backup ends here: whoever reads it on another thread gets no more of
  /// it. Nothing can be read or written any more; see ``isGone``.
  /// - Throws: ``VaultError/storage(_:)`` when memory for it is lacking: the files are still open then. Also when the
  ///   log was removed and cannot be put back: the files are closed then, and vault.db lacks what only the log had.
  public func close() throws(VaultError) {
    guard !isGone else { return }
    let stand = try Database.closed(database.path)
    endBackup()
    database.rollback()
    transaction.state = .none
    // Closing tries this, too, but can tell nobody.
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

  /// Leaves the keychain without a store and without keys. The files are closed, unless somebody else refers to them.
  func close(_ stand: Database) {
    wipe()
    pass = nil
    verdict = Verdict()
    database = stand
  }
}
