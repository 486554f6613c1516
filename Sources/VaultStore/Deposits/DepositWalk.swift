import VaultCore
import VaultModel

/// The reading of the table of deposits after an unlock, in steps. Each row is counted, and marked for the hash over
/// deposits. The resulting table is trusted if this hash equals the stored hash.
///
/// Rows that are written or removed meanwhile are passed to ``apply(_:_:_:)``, and to ``undo(_:)`` if their transaction
/// fails.
struct DepositWalk {
  private(set) var table = DepositTable()
  private var found = RecordSet()
  private var place = Database.RowPlace()
  /// False for a walk that reads outlines alone, and so computes no hash.
  private let isMarking: Bool

  init(isMarking: Bool = true) { self.isMarking = isMarking }

  /// Continues over at most `records` records, of which a long row counts as several; true after the last row.
  mutating func step(_ keychain: Keychain, records: Int) throws(VaultError) -> Bool {
    var (left, place, isOver) = (records, place, true)
    defer { self.place = place }
    try keychain.database.walkDeposits(from: &place, isOutline: !isMarking) {
      (met: Database.WalkedDeposit) throws(VaultError) in
      left -= met.weight
      if let outline = try met.outline() {
        table.add(outline)
        // A row that counted and cannot be read is missing from this set, which then differs.
        if isMarking, let row = try met.counted() { found.insert(try keychain.mark(row)) }
      } else {
        table.add(foreign: met.number, waiting: try met.waitingSize())
      }
      isOver = left > 0
      return isOver
    }
    return isOver
  }

  /// Counts the insertion or removal of a row, if the walk has passed the row's place. Otherwise the walk has yet to
  /// meet the row.
  ///
  /// - Parameter mark: the mark of a row that counts in the hash; nil for a waiting one.
  /// - Returns: the facts that were overwritten; nil for a row that is yet to be met.
  mutating func apply(
    _ kind: RecordChanges.Kind, _ row: Database.DepositOutline, _ mark: RecordMark?
  ) -> DepositTable.Overwritten? {
    guard place.hasPassed(row.row) else { return nil }
    if let mark { kind.apply(mark, to: &found) }
    return table.apply(kind, row)
  }

  /// Undoes the latest change.
  mutating func undo(_ change: DepositChange) {
    guard let overwritten = change.walk, place.hasPassed(change.row.row) else { return }
    table.undo(change.kind, change.row, overwritten)
    if let mark = change.mark { change.kind.reverse.apply(mark, to: &found) }
  }

  /// The table, if the rows that count are those with that hash; nil otherwise.
  func verified(by stored: RecordSet) -> DepositTable? {
    guard found == stored else { return nil }
    var table = table
    table.isVerified = true
    return table
  }
}

extension Keychain {
  /// The number of records in one step over the deposits: some small rows, or half a MiB.
  public static let depositStep = 128

  /// True from an unlock until the deposits are known again. A deposit that is left in between has to wait, too.
  public var isReadingDeposits: Bool { bound.depositWalk != nil }

  /// Continues the reading of the deposits until the time is up, but by at least one step; true when all are known.
  ///
  /// - Parameter isTimeUp: called between two steps.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)``, also when the rows that were settled or kept aside
  ///   are not those that were stored last; ``VaultError/storage(_:)``.
  public func readDeposits(isTimeUp: () -> Bool) throws(VaultError) -> Bool {
    try noticing { () throws(VaultError) in
      guard holdsAllKeys else { throw .locked }
      while try !checkDeposits(records: Self.depositStep) { if isTimeUp() { return false } }
      return true
    }
  }

  /// Continues over at most `records` records; true when the table is known, and known to be as it was stored last.
  /// After an error, the next step begins anew.
  func checkDeposits(records: Int) throws(VaultError) -> Bool {
    if bound.depositTable?.isVerified == true { return true }
    // If the open transaction fails, rows that this step meets are gone, and rows that it misses are back. The table is
    // then forgotten (``undoDeposits()``).
    if !changes.deposits.isEmpty { changes.depositChanges = nil }
    var walk = bound.depositWalk.take() ?? DepositWalk()
    guard try walk.step(self, records: records) else {
      bound.depositWalk = walk
      return false
    }
    guard let table = walk.verified(by: try classRecord(.whenUnlocked).sets[Self.depositsPlace]) else {
      throw Self.otherDeposits
    }
    bound.depositTable = table
    return true
  }

  /// Continues the first reading of the deposits, which needs no key, until the time is up, but by at least one step;
  /// true when all are known.
  ///
  /// - Parameter isTimeUp: called between two steps.
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. The next step begins anew.
  public func outlineDeposits(isTimeUp: () -> Bool) throws(VaultError) -> Bool {
    while try !outlineDeposits(records: Self.depositStep) { if isTimeUp() { return false } }
    return true
  }

  /// Continues over the outlines of at most `records` records; true when the table is known.
  func outlineDeposits(records: Int) throws(VaultError) -> Bool {
    if bound.depositTable != nil {
      bound.depositOutlines = nil
      return true
    }
    var walk = bound.depositOutlines.take() ?? DepositWalk(isMarking: false)
    guard try walk.step(self, records: records) else {
      bound.depositOutlines = walk
      return false
    }
    bound.depositTable = walk.table
    return true
  }

  /// Forgets what is known of the table of deposits.
  func forgetDeposits() {
    changes.depositChanges = nil
    bound.depositTable = nil
    bound.depositWalk = nil
    bound.depositOutlines = nil
  }
}
