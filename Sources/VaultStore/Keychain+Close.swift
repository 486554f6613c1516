// The end of a keychain that others still refer to.
extension Keychain {
  /// Closes the files for good, whoever still refers to the keychain, and wipes all keys. The log is folded into the main
  /// file, unless the store failed: then both stay as they are.
  ///
  /// A check that is under way is given up, and a backup ends here: whoever reads it on another thread gets no more of it.
  /// Nothing can be read or written any more; see ``isGone``.
  /// - Throws: ``VaultError/storage(_:)`` when there is no memory for it. Then the files are still open.
  public func close() throws(VaultError) {
    guard !isGone else { return }
    let stand = try Database.closed(database.path)
    endBackup()
    database.rollback()
    transaction = .none
    close(stand)
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
