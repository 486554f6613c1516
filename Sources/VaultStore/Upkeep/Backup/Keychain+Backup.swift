import VaultCore
import VaultModel

// The backup: a copy of the whole vault.
extension Keychain {
  /// True when a backup could be opened on another machine, by a slot whose key does not lie on this machine.
  public var hasPortableSlot: Bool { slots.contains(where: \.kind.facts.isPortable) }

  /// Begins a backup of the vault as it is now. Later changes are not in it.
  ///
  /// Items are served and changed meanwhile. The log beside the database grows with the changes until ``endBackup()``,
  /// which must be called when the stream was read or is no longer wanted. There is one backup at a time; another one
  /// may begin after that.
  /// - Parameter now: Unix seconds.
  /// - Throws: ``VaultError/locked`` unless the keys of `after-first-unlock` items are in memory;
  ///   ``VaultError/distrusted(_:advice:)`` when the store has failed or its files have lost their names;
  ///   ``VaultError/corrupt(_:)`` when the records without which nothing opens are not those that were written last, or
  ///   when the vault has no portable slot (see ``hasPortableSlot``); ``VaultError/backingUp``;
  ///   ``VaultError/storage(_:)``.
  public func beginBackup(now: Int64) throws(VaultError) -> BackupStream {
    guard snapshot == nil else { throw .backingUp }
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    if hasFailed {
      throw .distrusted(
        "the check of the store failed, so no backup is made of it",
        advice: "`vault salvage` makes one from what is intact")
    }
    try checkFewRows()
    guard let wrapped = try database.key(KeyName.vault(.afterFirstUnlock)) else {
      throw .corrupt("the key \(KeyName.vault(.afterFirstUnlock)) is missing")
    }
    guard holdsIntegrityKey(.afterFirstUnlock) else { throw .locked }
    try noticing { () throws(VaultError) in if let error = database.lostFile { throw error } }
    // The log is folded in now. A check that reads the pages as they were before starts over.
    pass?.thaw()
    let snapshot = try database.snapshot()
    do throws(VaultError) {
      let stream = try stream(snapshot, wrapped, now)
      self.snapshot = snapshot
      return stream
    } catch {
      snapshot.end()
      throw error
    }
  }

  /// Ends the backup, whether or not all of it was read.
  public func endBackup() {
    snapshot?.end()
    snapshot = nil
  }

  /// The size of the store that is being backed up, and the size of the log beside it, in bytes; nil when no backup is
  /// being made.
  public func backupSizes() throws(VaultError) -> (store: Int, log: Int)? {
    guard let snapshot else { return nil }
    return (snapshot.size, try database.logSize())
  }

  private func stream(_ snapshot: Snapshot, _ wrapped: [UInt8], _ now: Int64) throws(VaultError) -> BackupStream {
    let portable = slots.filter(\.kind.facts.isPortable)
    var header: BackupHeader
    do throws(CryptoError) {
      header = try BackupHeader(
        vaultID: vault, created: now, size: snapshot.size, slots: portable, wrappedKey: wrapped)
    } catch {
      throw .corrupt(
        portable.isEmpty ? "no slot is left that opens a backup" : "a backup cannot be made of these slots and keys")
    }
    switch keys.afterFirstUnlock.backup {
    case .some(let key):
      let sealer = header.seal(backupKey: key)
      return try BackupStream(header, sealer, snapshot)
    case .none: throw .locked
    }
  }

  /// Checks the wrapped keys, the slots and the next vault key, without which nothing else opens, against each class
  /// record whose key is in memory.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when any of these is not the one that was written last.
  func checkFewRows() throws(VaultError) {
    try noticing { () throws(VaultError) in
      var walk = RecordWalk()
      var verification = Verification()
      try walk.walkFewRows(self, &verification)
      if let finding = verification.findings.first { throw .corrupt(finding.text) }
      for accessible in AccessClass.allCases where holdsIntegrityKey(accessible) {
        let (stored, found) = (try classRecord(accessible).sets, walk.sets[accessible])
        for place in Set(stored.places + found.places) where stored[place] != found[place] {
          if Self.opensOthers(place.table), let subject = VerifyPass.subject(of: place) {
            throw .corrupt("\(subject) is not the one that was stored last")
          }
        }
      }
    }
  }

  /// True for a table without whose rows nothing else opens, or that tells whether the log is intact.
  private static func opensOthers(_ table: AssociatedData.Table) -> Bool {
    switch table {
    case .keys, .slots, .meta, .audit: true
    // A check of the whole store has read these, or reads them before the backup counts.
    case .heads, .values, .tags, .grants, .deposits, .hashes: false
    }
  }
}
