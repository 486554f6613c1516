public import VaultCore
import VaultModel

// The live keychain's part in a rekey, and the moment at which the second store takes its place.
extension Keychain {
  /// True when a rekey has begun and is not finished.
  public var isRekeying: Bool { nextVaultKey != nil }

  /// True when a rekey in progress can be continued, because its store is there, or may be. After a restart, an unlock
  /// would continue it.
  public var canContinueRekey: Bool { isRekeying && (try? Database.exists(Rekey.path(in: self))) != false }

  /// The record of the rekey in progress; nil when there is none.
  ///
  /// The record counts only if each class record whose key is in memory holds the mark of this very row. When a rekey
  /// was abandoned or has ended, the class records no longer hold its row's mark.
  var nextVaultKey: NextVaultKey? {
    guard let row = (try? database.meta(MetaName.rekeying)) ?? nil else { return nil }
    for accessible in AccessClass.allCases where holdsIntegrityKey(accessible) {
      guard let stored = try? classRecord(accessible).sets[Self.rekeyingPlace],
        let mark = try? mark(rekeying: row, accessible), stored.isSet(RecordSet(), with: mark)
      else { return nil }
    }
    return try? NextVaultKey(decoding: row)
  }

  /// The new vault key of the rekey in progress; nil when there is none.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when `vaultKey` does not open it.
  public func nextKey(vaultKey: borrowing SecureBytes) throws(VaultError) -> SecureBytes? {
    guard let next = nextVaultKey else { return nil }
    do throws(CryptoError) { return try next.open(under: vaultKey, vaultID: vault) } catch {
      throw .corrupt("the next vault key does not open")
    }
  }

  /// The slots of the new vault that can be read, for a caller who keeps keys for slots. Do not call this while a
  /// ``Rekey`` exists.
  public func nextSlots() -> [SlotRecord] {
    assert(touched == nil, "the rekey still has its store open")
    guard isRekeying else { return [] }
    return (try? Keychain(opening: Rekey.path(in: self)))?.slots ?? []
  }

  /// Abandons the rekey in progress. Its key is forgotten, and its mark leaves the class records, so that its files are
  /// worthless to somebody who puts them back. Do not call this while a ``Rekey`` exists.
  ///
  /// - Throws: ``VaultError/locked`` unless the keys of all class records are in memory; ``VaultError/storage(_:)``. If
  ///   the rekey cannot be forgotten yet, its files are removed all the same, so that it is never completed.
  public func dropRekey() throws(VaultError) {
    assert(touched == nil, "the rekey still has its store open")
    do throws(VaultError) { try forgetRekey() } catch {
      try? removeSecondStore()
      // If the disk was full, there is room now.
      guard error == .diskFull else { throw error }
      return try forgetRekey()
    }
    try removeSecondStore()
  }

  /// Removes a rekey that somebody else inserted, or put back after it had ended. Call this after all keys were taken
  /// into memory.
  func dropForeignRekey() {
    guard (try? database.meta(MetaName.rekeying)) ?? nil != nil, nextVaultKey == nil else { return }
    notice(
      Finding(.foreign, "the files of a rekey that is not under way were put in by somebody else, and were removed"))
    guard (try? forgetRekey()) != nil else { return }
    _ = try? removeStaleStore()
  }

  private func forgetRekey() throws(VaultError) {
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    guard AccessClass.allCases.allSatisfy(holdsIntegrityKey) else { throw .locked }
    // This write is not a change of the vault, so that a vault that refuses changes can get out of this state, too.
    try database.begin()
    do throws(VaultError) {
      try database.deleteMeta(MetaName.rekeying)
      for accessible in AccessClass.allCases {
        var (sets, facts): (RecordSets, ClassRecord.Facts)
        do throws(VaultError) { (sets, facts) = try classRecord(accessible).parts } catch .corrupt { continue }
        guard sets[Self.rekeyingPlace] != RecordSet() else { continue }
        sets[Self.rekeyingPlace] = RecordSet()
        try store(ClassRecord(sets: sets, facts: facts), accessible)
      }
      try database.commit()
    } catch {
      database.rollback()
      throw error
    }
  }

  /// Removes the remains of a rekey that was interrupted before it was recorded or after it was done. False when the
  /// second store cannot be recognized as this vault's; it then stays. Call this only when no rekey is in progress.
  func removeStaleStore() throws(VaultError) -> Bool {
    let path = Rekey.path(in: self)
    if try Database.exists(path) {
      guard let other = try? Database(opening: path), try other.meta(MetaName.vaultID) == vaultID else { return false }
    }
    try removeSecondStore()
    return true
  }

  private func removeSecondStore() throws(VaultError) { try database.removeNested(Rekey.directoryName) }

  /// Stops the collecting of changes for a rekey.
  func forgetTouched() { (touched, touchedDeposits, touchedGrants) = (nil, nil, nil) }

  /// The number of rows that have changed and are not copied again yet; nil before all of them are noted.
  var countOfTouched: Int? {
    guard let touched, let touchedDeposits, let touchedGrants else { return nil }
    return touched.count + touchedDeposits.count + touchedGrants.count
  }

  /// True when another store can take this one's place now, that is, when no backup or salvage reads the file.
  public var canBeReplaced: Bool { snapshot == nil && !isBeingSalvaged }

  /// True when values of all classes can be read and written.
  var holdsAllKeys: Bool { AccessClass.allCases.allSatisfy(opensValues) }

  /// Puts the store of `other`, which lies in ``Rekey/directoryName``, in the place of this store. Nothing that is
  /// sealed to the keys of this store may wait to be written: see ``settle()``.
  ///
  /// See ``Database/replace(_:by:_:)``.
  func takeOver(
    _ other: Keychain, _ reached: (ReplacementStep) throws(VaultError) -> Void
  ) throws(VaultError) {
    guard canBeReplaced else { throw .storage("a backup is being made") }
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    guard bound.isSettled else { throw .storage("something that is sealed to the old keys is not written yet") }
    // The frozen pages are released. If the replacement fails, a check in progress reads the pages again from the
    // start.
    pass?.thaw()
    other.pass?.thaw()
    let stand = try Database.closed(database.path)
    do throws(VaultError) { displaced = try Database.replace(&database, by: &other.database, reached) } catch {
      if database.isClosed { close(database) }
      throw error
    }
    do throws(VaultError) { try takeKeys(of: other) } catch {
      close(stand)
      throw error
    }
    // Anything left after an error is removed at the next opening.
    try? reached(.opened)
    try? removeSecondStore()
  }

  /// Takes out the file of the store that a rekey has replaced; nil if there is none.
  public func takeDisplaced() -> DisplacedFile? { displaced.take() }

  /// Opens the files again that ``takeOver(_:_:)`` closed. The keys in memory stay.
  func reopen(_ path: String) throws(VaultError) {
    guard database.isClosed else { return }
    database = try Database(opening: path)
    if !hasFailed { database.trust() }
  }

  private func takeKeys(of other: Keychain) throws(VaultError) {
    let isAuditJoined = bound.isAuditJoined
    swap(&keys, &other.keys)
    swap(&bound, &other.bound)
    bound.recent.follow(other.bound.recent)
    // The deposits that are not taken in yet have kept their numbers.
    bound.leftDeposits = other.bound.leftDeposits
    // The log is the same, and the anchor of the new store covers as much of it.
    bound.isAuditJoined = isAuditJoined
    if isAuditJoined { earlyAudit = 0 }
    other.wipe()
    try readSlots()
    // Each record was opened with the old keys, and the second store was checked completely.
    pass = nil
    verdict = Verdict(lastCheck: .ok)
    AccessClass.allCases.forEach(vouch)
    whenKeysTaken()
  }
}
