import VaultCore
import VaultModel

// The numbers of deposits. A row that waits vouches for its number by its MAC, so that one which somebody put in or
// moved decides on no number: none of those that others get, and not the one under which it is kept aside.
extension Keychain {
  /// The number for a new row: the first free one above those of all rows that are authentic, so that deposits are
  /// taken in as they were left.
  ///
  /// Before the first unlock some rows cannot be judged. They count as far as such numbers can have come about
  /// (``rowsApart``).
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when no number is left, which only authentic rows can cause.
  func nextDeposit() throws(VaultError) -> Int64 {
    let table = try knownDeposits()
    var number = if let last = table.lastGiven { last + 1 } else { try lastDeposit(table) + 1 }
    while table.numbers.contains(number) { number += 1 }
    guard DepositRow.numbers.contains(number) else { throw .corrupt("vault.db: there is no number left for a deposit") }
    bound.depositTable?.lastGiven = number
    return number
  }

  /// The highest number of a row that is authentic, or may be.
  private func lastDeposit(_ table: DepositTable) throws(VaultError) -> Int64 {
    var last = table.isVerified ? table.lastSettled : 0
    var unjudged: [Int64] = []
    let publicKey = try? checkedPublicKey()
    // What somebody puts in keeps nobody here for long: less than all that can be left is read.
    var bytes = 0
    for number in table.waiting.keys.filter(DepositRow.numbers.contains).sorted(by: >) where number > last {
      bytes += table.waiting[number] ?? 0
      guard bytes <= Self.mostDepositBytes else { break }
      guard let row = try database.deposit(number) else { throw .corrupt("a deposit is not where it was") }
      switch try isAuthentic(row, publicKey) {
      case true?: last = number
      case false?: continue
      case nil: unjudged.append(number)
      }
    }
    let end = min(last + Self.rowsApart, DepositRow.numbers.upperBound)
    return max(last, unjudged.first { $0 < end - 1 } ?? 0)
  }

  /// True when a row that waits is what was left here; nil where no key tells.
  private func isAuthentic(_ row: DepositRow, _ publicKey: [UInt8]?) throws(VaultError) -> Bool? {
    guard let publicKey, withKeys(row.accessible, { $0.deposits != nil }) else { return nil }
    return try row.isAuthentic(self, publicKey: publicKey)
  }

  /// Moves a row to a number of this store's own; a transaction must be open.
  ///
  /// - Returns: the row as it is there.
  func renumber(_ old: DepositRow, as new: DepositRow) throws(VaultError) -> DepositRow {
    var moved = new
    moved.row = try nextDeposit()
    try remove(old)
    try add(moved)
    return moved
  }
}
