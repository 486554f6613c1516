@testable import VaultStore

extension Database {
  /// Returns the outlines of all deposits that are ours, in the order of their numbers.
  func depositOutlines() throws -> [DepositOutline] {
    var found: [DepositOutline] = []
    var place = RowPlace()
    try walkDeposits(from: &place, isOutline: true) { (met: WalkedDeposit) throws(VaultError) in
      if let outline = try met.outline() { found.append(outline) }
      return true
    }
    return found
  }
}
