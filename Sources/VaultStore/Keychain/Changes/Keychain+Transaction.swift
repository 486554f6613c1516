import VaultCore
import VaultModel

/// The state of the keychain's transaction: none, open, or failed with an error.
enum TransactionState {
  case none
  case open
  case failed(VaultError)
}

// Transactions: every write happens in one. If it fails, the state in memory is restored, too.
extension Keychain {
  /// Makes all changes in `body` in one transaction: all are kept, or none.
  ///
  /// If one change fails, the transaction fails, even if `body` catches the error. A nested transaction is part of the
  /// outer one.
  /// - Throws: what `body` throws; the error of the first change that failed; ``VaultError/storage(_:)``. Then nothing
  ///   is kept.
  public func transaction<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    if case .none = transaction.state {} else { return try join(body) }
    let saved = try begin()
    let result: R
    do throws(VaultError) { result = try body() } catch {
      rollBack(saved)
      notice(error)
      throw error
    }
    try commit(saved)
    return result
  }

  /// True when so much was written that ``foldLog()`` should be called.
  public var hasLongLog: Bool { database.hasLongLog }

  /// Folds the write-ahead log into the main file. A commit does the same when the log is eight times as long as
  /// ``hasLongLog`` requires; whoever waits for that commit then waits for the fold, too.
  public func foldLog() {
    if case .none = transaction.state { database.foldLongLog() }
  }

  /// Waits until everything committed is on the disk.
  public func syncLog() throws(VaultError) { try database.syncLog() }

  /// The state in memory that is restored when a transaction is rolled back.
  struct Saved {
    let slots: [SlotRecord]
    let damagedSlots: [UInt32]
    let facts: ByClass<ClassRecord.Facts?>
    let leftDeposits: [Int64: ItemID]
    let takenBases: [ItemID: (base: TakenBase, name: ItemName)]
  }

  /// Begins a transaction, which ``commit(_:)`` or ``rollBack(_:)`` ends.
  func begin() throws(VaultError) -> Saved {
    if hasFailed { throw refusal }
    bound.recent.forget()
    changes = RecordChanges(isListing: pass != nil || touched != nil)
    transaction.stamp = nil
    try database.begin()
    transaction.state = .open
    return Saved(
      slots: slots, damagedSlots: damagedSlots, facts: facts, leftDeposits: bound.leftDeposits,
      takenBases: takenBases)
  }

  /// Ends the transaction. All of it is kept, or nothing if this throws.
  func commit(_ saved: Saved) throws(VaultError) {
    do throws(VaultError) {
      if case .failed(let error) = transaction.state { throw error }
      // A fault may have been found during the transaction although no change failed because of it.
      if hasFailed { throw refusal }
      try writeClassRecords(since: saved.facts)
      try database.commit()
    } catch {
      rollBack(saved)
      notice(error)
      throw error
    }
    transaction.state = .none
    keys.lent = LentKeys()
    pass?.apply(changes, self)
    tellSearches()
    touchedDeposits?.formUnion(changes.deposits)
    touchedGrants?.formUnion(changes.grants)
    salvaged?.deposits.formUnion(changes.deposits)
    salvaged?.grants.formUnion(changes.grants)
    if touched != nil {
      for change in changes.list { if case .head(let row) = change.key { touched?.insert(row) } }
    }
  }

  /// Ends the transaction and undoes all of it.
  func rollBack(_ saved: Saved) {
    transaction.state = .none
    keys.lent = LentKeys()
    database.rollback()
    undoDeposits()
    (slots, damagedSlots, facts) = (saved.slots, saved.damagedSlots, saved.facts)
    (bound.leftDeposits, takenBases) = (saved.leftDeposits, saved.takenBases)
  }

  /// Makes a change in a transaction of its own, or as part of the open transaction.
  func write<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R { try transaction(body) }

  private func join<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      if case .open = transaction.state { transaction.state = .failed(error) }
      throw error
    }
  }

  /// The error of every write after a fault was found. Where the files have lost their names, it tells that again,
  /// because no check of the records has failed.
  var refusal: VaultError { verdict.loss ?? Self.failed }

  static let failed = VaultError.distrusted(
    "the check of the store failed, so nothing is written to it",
    advice: "`vault verify` says what is wrong, `vault salvage` saves the rest")
}
