import VaultCore
import VaultModel

/// The saving of the deposits of a damaged store into another store that has the same keys and no deposits, in steps.
///
/// Waiting deposits are saved if they are authentic. Those that were settled or kept aside are saved if they are the
/// ones that were stored last, which is known once all were read. If the store is not damaged, ``Keychain/salvaged``
/// has the numbers of rows that are written or removed meanwhile. All of these rows are copied again before the rows
/// are judged.
final class DepositSalvage {
  private let source: Keychain
  private let target: Keychain
  private var place = Database.RowPlace()
  private var isWalkOver = false
  /// The marks of the copied rows that count in the hash over deposits, and the hash over these.
  private var marks: [Int64: RecordMark] = [:]
  private var found = RecordSet()
  /// The numbers of the copied rows that must be removed again; nil until that is decided.
  private var wrong: [Int64]?
  private var losses: [Finding] = []
  private var isOver = false

  init(from source: Keychain, to target: Keychain) { (self.source, self.target) = (source, target) }

  /// Continues for about as long as `left` items take; true at the end. The other store needs an open transaction.
  ///
  /// - Parameter lose: called with each loss.
  func step(_ left: inout Int, lose: (Finding) -> Void) throws(VaultError) -> Bool {
    if isOver { return true }
    if wrong == nil {
      guard try walk(&left), try bring(&left) else { return false }
      judge()
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
    isOver = true
    return true
  }

  /// The number of items that a row counts as in a step, as an item with long values does.
  private static func weight(of row: DepositRow) -> Int { 1 + row.sealed.count / Salvage.unit }

  /// Copies the next rows; true at the end.
  private func walk(_ left: inout Int) throws(VaultError) -> Bool {
    if isWalkOver { return true }
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
    isWalkOver = problem != nil || left > 0
    return isWalkOver
  }

  /// Copies again the rows that have changed in the source; true when none is left.
  private func bring(_ left: inout Int) throws(VaultError) -> Bool {
    while left > 0, let number = source.salvaged?.deposits.popFirst() {
      if let mark = marks.removeValue(forKey: number) { found.remove(mark) }
      if let old = try target.database.deposit(number) { try target.remove(old) }
      left -= 1
      guard let row = try source.database.deposit(number) else { continue }
      left -= Self.weight(of: row)
      try meet(.success(row))
    }
    return source.salvaged?.deposits.isEmpty ?? true
  }

  private func meet(_ read: Result<DepositRow, VaultError>) throws(VaultError) {
    guard case .success(let row) = read else {
      losses.append(Finding(.damaged, "a deposit is lost: it cannot be read"))
      return
    }
    if row.isCounted {
      let mark = try source.mark(row)
      marks[row.row] = mark
      found.insert(mark)
    } else if try !row.isAuthentic(source) {
      losses.append(Finding(.foreign, "a deposit is lost: nothing vouches for it"))
      return
    }
    try target.add(row)
  }

  /// Decides whether the copied rows that count are those that were stored last.
  private func judge() {
    wrong = []
    let stored = try? source.classRecord(.whenUnlocked).sets[Keychain.depositsPlace]
    // If there are no rows and the class record names none, nothing is lost.
    guard stored.map({ $0 != found }) ?? (found != RecordSet()) else { return }
    wrong = Array(marks.keys)
    losses.append(
      Finding(
        .damaged,
        "the deposits that were kept aside are lost, and sealed boxes that were used can be used again: "
          + "the records of both are not those that were stored last"))
  }
}
