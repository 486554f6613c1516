import VaultCore
import VaultModel

// The numbers of deposits. The MAC of a waiting row covers the row's number. So a row that somebody inserted or moved
// does not influence any number: not the numbers that other rows get, and not the number under which it is kept aside.
//
// A holder of the key of one class can forge a row of that class under any number. So rows whose numbers jump do not
// influence the numbers of others either, and are not taken in: otherwise one row near the last number would keep all
// callers from leaving anything.
extension Keychain {
  /// The number for a new row: the first free number above those of all authentic rows, so that deposits are taken in
  /// in the order in which they were left.
  ///
  /// A row counts only if its number can have come about regularly (``DepositTable/endOfGiven``) and is in the lower
  /// half of such numbers, so that the numbers after it can have come about regularly as well. Rows that cannot be
  /// checked before the first unlock count under the same condition.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when no number is left, which only rows that were settled can cause.
  func nextDeposit() throws(VaultError) -> Int64 {
    let table = try knownDeposits()
    let last = if let given = table.lastGiven { given } else { try lastDeposit(table) }
    var number = last + 1
    while table.numbers.contains(number) { number += 1 }
    guard DepositRow.numbers.contains(number) else { throw .corrupt("vault.db: there is no number left for a deposit") }
    // If the transaction fails, the numbers that it gave are free again, and the last one is not looked for again.
    if changes.lastDeposit == nil { changes.lastDeposit = last }
    bound.depositTable?.lastGiven = number
    return number
  }

  /// The highest number of a row that is authentic, or may be.
  private func lastDeposit(_ table: DepositTable) throws(VaultError) -> Int64 {
    var last = table.isVerified ? table.lastSettled : 0
    let end = last + (table.endOfGiven - last) / 2
    var unjudged: [Int64] = []
    let publicKey = try? checkedPublicKey()
    // Rows that somebody inserted must not make this take long, so no more bytes are read than deposits can have in
    // total.
    var bytes = 0
    for number in table.waiting.keys.filter({ $0 < end }).sorted(by: >) where number > last {
      bytes += table.waiting[number] ?? 0
      guard bytes <= Self.mostDepositBytes else { break }
      guard let row = try database.deposit(number) else { throw .corrupt("a deposit is not where it was") }
      switch try isAuthentic(row, publicKey) {
      case true?: last = number
      case false?: continue
      case nil: unjudged.append(number)
      }
    }
    return max(last, unjudged.first ?? 0)
  }

  /// True when a waiting row is authentic; nil when there is no key to check it with.
  private func isAuthentic(_ row: DepositRow, _ publicKey: [UInt8]?) throws(VaultError) -> Bool? {
    guard let publicKey, withKeys(row.accessible, { $0.deposits != nil }) else { return nil }
    return try row.isAuthentic(self, publicKey: publicKey)
  }

  /// Moves a row to a number that this store gives; a transaction must be open.
  ///
  /// - Returns: the row with its new number.
  func renumber(_ old: DepositRow, as new: DepositRow) throws(VaultError) -> DepositRow {
    var moved = new
    moved.row = try nextDeposit()
    try remove(old)
    try add(moved)
    return moved
  }
}
