import VaultCore
import VaultModel

// The tables whose rows have numbers of their own, in steps: the grants, and the deposits.
extension RecordWalk {
  /// Continues over the grants for up to `left` records.
  mutating func walkGrants(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    var place = grant
    defer { grant = place }
    try keychain.database.eachGrant(from: &place) { (found: Result<GrantRow, VaultError>) throws(VaultError) in
      left -= 1
      do throws(VaultError) {
        let row = try found.get()
        guard isHashed(row.accessible, keychain) else { return left > 0 }
        sets[row.accessible][Keychain.grantsPlace].insert(try keychain.mark(row))
      } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, reason))
        unread.insert(Keychain.grantsPlace)
      }
      return left > 0
    }
  }

  /// Continues over the deposits for up to `left` records. Their rows may be few, but have many bytes.
  mutating func walkDeposits(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    guard isHashed(.whenUnlocked, keychain) else { return }
    var place = deposit
    defer { deposit = place }
    try keychain.database.walkDeposits(from: &place) { (met: Database.WalkedDeposit) throws(VaultError) in
      left -= met.weight
      do throws(VaultError) {
        guard let row = try met.counted() else { return left > 0 }
        sets[.whenUnlocked][Keychain.depositsPlace].insert(try keychain.mark(row))
      } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, reason))
        unread.insert(Keychain.depositsPlace)
      }
      return left > 0
    }
  }
}
