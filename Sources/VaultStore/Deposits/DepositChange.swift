import VaultCore

/// A change to the known content of the table of deposits, with all that is needed to undo it in memory.
struct DepositChange {
  let kind: RecordChanges.Kind
  let row: Database.DepositOutline
  /// The mark of a row that counts in the hash over deposits; nil for a waiting row.
  let mark: RecordMark?
  /// The facts that the change overwrote in the known table.
  let table: DepositTable.Overwritten
  /// The facts that the change overwrote in the walk's table; nil if there was no walk, or the walk had not met the
  /// row.
  let walk: DepositTable.Overwritten?
}

extension Keychain {
  /// Undoes the changes of a transaction that failed, so that changes that fail do not make the whole table be read
  /// again. If they cannot be undone, the table is forgotten.
  func undoDeposits() {
    guard let done = changes.depositChanges else { return forgetDeposits() }
    for change in done.reversed() {
      bound.depositTable?.undo(change.kind, change.row, change.table)
      bound.depositWalk?.undo(change)
    }
    if let last = changes.lastDeposit { bound.depositTable?.lastGiven = last }
  }
}
