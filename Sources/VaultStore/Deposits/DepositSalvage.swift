import VaultCore
import VaultModel

/// The saving of the deposits of a damaged store into another store that has the same keys and no deposits, in steps.
///
/// Waiting deposits are saved if they are authentic. Those that were settled or kept aside are saved if they are the
/// ones that were stored last, which is known once all were read.
final class DepositSalvage {
  private let source: Keychain
  private let target: Keychain
  private var place = Database.DepositPlace()
  /// The numbers of the copied rows that count in the hash over deposits, and the hash over the rows that were read.
  private var counted: [Int64] = []
  private var found = RecordSet()
  /// The stored hash when the walk began; nil if it cannot be read.
  private var stored: RecordSet?
  /// The numbers of the copied rows that must be removed again; nil during the walk.
  private var wrong: [Int64]?
  private var losses: [Finding] = []

  init(from source: Keychain, to target: Keychain) {
    (self.source, self.target) = (source, target)
    stored = Self.stored(source)
  }

  private static func stored(_ source: Keychain) -> RecordSet? {
    try? source.classRecord(.whenUnlocked).sets[Keychain.depositsPlace]
  }

  /// Continues for about as long as `left` items take; true at the end. The other store needs an open transaction.
  ///
  /// - Parameter lose: called with each loss.
  func step(_ left: inout Int, lose: (Finding) -> Void) throws(VaultError) -> Bool {
    if wrong == nil {
      guard try walk(&left) else { return false }
      try judge()
    }
    while let number = wrong?.last {
      guard left > 0 else { return false }
      wrong?.removeLast()
      guard let row = try target.database.deposit(number) else { continue }
      try target.remove(row)
      left -= Self.weight(of: row)
    }
    target.forgetDeposits()
    losses.forEach(lose)
    return true
  }

  /// The number of items that a row counts as in a step, as an item with long values does.
  private static func weight(of row: DepositRow) -> Int { 1 + row.sealed.count / Salvage.unit }

  /// Copies the next rows; true at the end.
  private func walk(_ left: inout Int) throws(VaultError) -> Bool {
    guard left > 0 else { return false }
    var rows: [Result<DepositRow, VaultError>] = []
    var problem: Finding?
    do throws(VaultError) {
      try source.database.eachDeposit(from: &place) { (read: Result<DepositRow, VaultError>) throws(VaultError) in
        rows.append(read)
        if case .success(let row) = read { left -= Self.weight(of: row) } else { left -= 1 }
        return left > 0
      }
    } catch .corrupt(let reason) {
      problem = Finding(.damaged, "the deposits cannot be read any further: \(reason)")
    }
    for row in rows { try meet(row) }
    if let problem { losses.append(problem) }
    return problem != nil || left > 0
  }

  private func meet(_ read: Result<DepositRow, VaultError>) throws(VaultError) {
    guard case .success(let row) = read else {
      losses.append(Finding(.damaged, "a deposit is lost: it cannot be read"))
      return
    }
    if row.isCounted {
      counted.append(row.row)
      found.insert(try source.mark(row))
    } else if try !row.isAuthentic(source) {
      losses.append(Finding(.foreign, "a deposit is lost: nothing vouches for it"))
      return
    }
    try target.add(row)
  }

  /// Decides whether the copied rows that count are those that were stored last.
  private func judge() throws(VaultError) {
    wrong = []
    var now = Self.stored(source)
    if now != stored {
      // Deposits that somebody has changed meanwhile, in a store that is not damaged, are read again at once.
      while try !target.clearDeposits(records: .max) {}
      (place, counted, found, losses) = (Database.DepositPlace(), [], RecordSet(), [])
      var left = Int.max
      _ = try walk(&left)
      now = Self.stored(source)
    }
    // If there are no rows and the class record names none, nothing is lost.
    guard now.map({ $0 != found }) ?? (found != RecordSet()) else { return }
    wrong = counted
    losses.append(
      Finding(.damaged, "the deposits that were kept aside are lost: they are not those that were stored last"))
  }
}
