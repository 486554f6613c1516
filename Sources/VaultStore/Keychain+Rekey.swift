import Glibc
public import VaultCore
import VaultModel

// What the live keychain knows of a rekey, and the moment at which the second store takes its place.
extension Keychain {
  /// Whether a rekey was begun and is not done.
  public var isRekeying: Bool { nextVaultKey != nil }

  /// What was written down of the rekey that is under way.
  ///
  /// It counts only as long as each class record whose key is in memory holds the mark of this very row: what belonged to a
  /// rekey that was given up, or that came to its end, has none any more.
  var nextVaultKey: NextVaultKey? {
    guard let row = (try? database.meta(MetaName.rekeying)) ?? nil else { return nil }
    for accessible in AccessClass.allCases where holdsIntegrityKey(accessible) {
      guard let stored = try? classRecord(accessible).sets[Self.rekeyingPlace],
        let mark = try? mark(rekeying: row, accessible), stored.isSet(RecordSet(), with: mark)
      else { return nil }
    }
    return try? NextVaultKey(decoding: row)
  }

  /// The new vault key of the rekey that is under way; nil when there is none.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when `vaultKey` does not open it.
  public func nextKey(vaultKey: borrowing SecureBytes) throws(VaultError) -> SecureBytes? {
    guard let next = nextVaultKey else { return nil }
    do throws(CryptoError) { return try next.open(under: vaultKey, vaultID: vault) } catch {
      throw .corrupt("the next vault key does not open")
    }
  }

  /// The slots of the new vault, as far as they can be read: for whoever keeps keys for them. Not while a ``Rekey`` lives.
  public func nextSlots() -> [SlotRecord] {
    guard isRekeying else { return [] }
    return (try? Keychain(opening: Rekey.path(in: self)))?.slots ?? []
  }

  /// Gives the rekey up that is under way: its key is forgotten, and its mark leaves the class records, so that its files
  /// are worth nothing when somebody puts them back. Not while a ``Rekey`` lives.
  ///
  /// - Throws: ``VaultError/locked`` unless the keys of all class records are in memory; ``VaultError/storage(_:)``.
  public func dropRekey() throws(VaultError) {
    try forgetRekey()
    try removeSecondStore()
  }

  /// Takes out a rekey that was put in by somebody else, or back when it was over. For after all keys were taken up.
  func dropForeignRekey() {
    guard (try? database.meta(MetaName.rekeying)) ?? nil != nil, nextVaultKey == nil else { return }
    notice(
      Finding(.foreign, "the files of a rekey that is not under way were put in by somebody else, and were removed"))
    guard (try? forgetRekey()) != nil else { return }
    _ = try? removeStaleStore()
  }

  private func forgetRekey() throws(VaultError) {
    guard case .none = transaction else { throw .storage("a change is being made") }
    guard AccessClass.allCases.allSatisfy(holdsIntegrityKey) else { throw .locked }
    // Not as a change of the vault: also one that takes none has to come out of this.
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

  /// Removes what a rekey may have left that was cut off before it was written down, or after it was done; false when
  /// what is there cannot be told to be this vault's, and stays. Only when none is under way.
  func removeStaleStore() throws(VaultError) -> Bool {
    guard let second = try StoreDirectory.open(Rekey.path(in: self)) else { return true }
    if second.contains(Database.fileName) {
      guard let other = try? Database(opening: second.path), try other.meta(MetaName.vaultID) == vaultID else {
        return false
      }
    }
    try removeSecondStore()
    return true
  }

  private func removeSecondStore() throws(VaultError) {
    guard let directory = try StoreDirectory.open(database.path) else { return }
    try directory.removeDirectory(Rekey.directoryName, with: Database.allNames)
  }

  /// Whether another store can take this one's place now: not while a backup or a salvage reads the file.
  public var canBeReplaced: Bool { snapshot == nil && !isBeingSalvaged }

  /// Whether all classes can be read and written.
  var holdsAllKeys: Bool { AccessClass.allCases.allSatisfy(opensValues) }

  /// Puts the store of `other`, which lies in ``Rekey/directoryName``, in the place of this one's.
  ///
  /// Both logs are folded in and gone before the rename: SQLite would take one that lies beside another database for its
  /// own. No connection is open during it, because a closing one removes the log that has its name. The lock stays.
  func takeOver(
    _ other: Keychain, _ reached: (ReplacementStep) throws(VaultError) -> Void
  ) throws(VaultError) {
    let (path, lock) = (database.path, database.lock)
    let inside = Rekey.path(in: self)
    guard canBeReplaced else { throw .storage("a backup is being made") }
    guard case .none = transaction, let directory = try StoreDirectory.open(path),
      let second = try StoreDirectory.open(inside)
    else { throw .storage("\(inside) disappears") }
    // A check that is under way reads both anew when they stay what they are.
    pass?.thaw()
    other.pass?.thaw()
    let (stand, otherStand) = (try Database.closed(path), try Database.closed(inside))
    try reached(.begun)
    try other.database.fold()
    try reached(.secondFolded)
    try database.fold()
    try reached(.liveFolded)
    weak let otherConnection = other.database.connection
    other.database = otherStand
    guard otherConnection == nil, try second.size(of: Database.logName) ?? 0 == 0 else {
      throw .storage("the second store is still open")
    }
    try second.syncFile(Database.fileName)
    try second.sync()
    try reached(.secondClosed)
    weak let connection = database.connection
    database = stand
    if let connection {
      // Somebody reads it. When it is closed later, it removes the log that has its name: no other may have that.
      database = try Database(connection, path: path, lock: lock)
      throw .storage("the store is still being read")
    }
    var isReplaced = false
    let result = Result { () throws(VaultError) in
      guard try directory.size(of: Database.logName) ?? 0 == 0 else { throw .storage("the store is still open") }
      try reached(.liveClosed)
      try directory.take(Database.fileName, from: second)
      isReplaced = true
      try reached(.renamed)
      try directory.sync()
      try second.sync()
      try reached(.synced)
    }
    if case .failure(let error) = result, isReplaced {
      // Which of the two is there after a power cut is not sure, so neither may be written to.
      close(stand)
      throw error
    }
    do throws(VaultError) {
      database = try Database(opening: path, lock: lock)
      if isReplaced { try takeKeys(of: other) }
    } catch {
      close(stand)
      throw error
    }
    database.trust()
    if case .failure(let error) = result { throw error }
    // What is left now is removed at the next opening, too.
    try? reached(.opened)
    try? removeSecondStore()
  }

  /// Opens the files again that ``takeOver(_:_:)`` has closed, with the keys that are in memory.
  func reopen(_ path: String) throws(VaultError) {
    guard database.lock == nil else { return }
    database = try Database(opening: path)
    if !hasFailed { database.trust() }
  }

  private func takeKeys(of other: Keychain) throws(VaultError) {
    recent.forget()
    swap(&whenUnlocked, &other.whenUnlocked)
    swap(&afterFirstUnlock, &other.afterFirstUnlock)
    swap(&always, &other.always)
    other.wipe()
    try readSlots()
    // Each record was opened with the old keys, and the second store was checked to its last record.
    pass = nil
    (lastCheck, failure, doubts) = (.ok, nil, [])
    AccessClass.allCases.forEach(vouch)
  }
}

/// What has just been done when one store takes another's place.
enum ReplacementStep: CaseIterable {
  case begun, secondFolded, liveFolded, secondClosed, liveClosed, renamed, synced, opened
}
