// The end of a keychain that others still refer to.
extension Keychain {
  /// Closes the files for good, whoever still refers to the keychain, and wipes all keys. The log is folded into the main
  /// file, unless the store failed: then both stay as they are.
  ///
  /// A check that is under way is given up, and a backup ends here: whoever reads it on another thread gets no more of it.
  /// Nothing can be read or written any more; see ``isGone``.
  /// - Throws: ``VaultError/storage(_:)`` when there is no memory for it: then the files are still open. Also when the log was
  ///   removed and cannot be put back: then they are closed, and vault.db is as old as it is.
  public func close() throws(VaultError) {
    guard !isGone else { return }
    let stand = try Database.closed(database.path)
    endBackup()
    database.rollback()
    transaction = .none
    // Closing tries it, too, and can tell nobody.
    let failure: VaultError?
    do throws(VaultError) {
      try database.connection.putBackLog()
      failure = nil
    } catch {
      database.distrust()
      failure = error
    }
    close(stand)
    if let failure { throw failure }
  }

  /// Leaves the keychain without a store and without keys. The files are closed, unless somebody else has hold of them.
  func close(_ stand: Database) {
    wipe()
    pass = nil
    (lastCheck, failure, doubts) = (.unchecked, nil, [])
    isGone = true
    database = stand
  }
}
