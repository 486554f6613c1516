import VaultCore
import VaultModel

// The copying of deposits into another store, for a salvage.
extension Keychain {
  /// Gives this store, which has the same keys, those deposits of a damaged store that are the ones stored last.
  ///
  /// - Parameter lose: called with each loss.
  func saveDeposits(of source: Keychain, lose: (Finding) -> Void) throws(VaultError) {
    var (counted, waiting): ([DepositRow], [DepositRow]) = ([], [])
    var found = RecordSet()
    do throws(VaultError) {
      try source.database.eachDeposit { (read: Result<DepositRow, VaultError>) throws(VaultError) in
        guard case .success(let row) = read else {
          lose(Finding(.damaged, "a deposit is lost: it cannot be read"))
          return true
        }
        if row.isCounted {
          counted.append(row)
          found.insert(try source.mark(row))
        } else if try row.isAuthentic(source) {
          waiting.append(row)
        } else {
          lose(Finding(.foreign, "a deposit is lost: nothing vouches for it"))
        }
        return true
      }
    } catch .corrupt(let reason) { lose(Finding(.damaged, "the deposits cannot be read any further: \(reason)")) }
    let stored = try? source.classRecord(.whenUnlocked).sets[Self.depositsPlace]
    // If there are no rows and the class record names none, nothing is lost.
    if stored.map({ $0 != found }) ?? (found != RecordSet()) {
      counted = []
      lose(Finding(.damaged, "the deposits that were kept aside are lost: they are not those that were stored last"))
    }
    for row in counted + waiting { try add(row) }
    forgetDeposits()
  }
}
