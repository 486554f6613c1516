import VaultModel

// The store that is at fault when a rekey meets something that was not written so: the live one, which then has failed,
// or the second one, which can be filled anew.
extension Rekey {
  /// Runs a part of the work, and has what is wrong with the second store told as that.
  ///
  /// - Throws: what `body` throws; ``VaultError/secondStore(_:)`` in place of what says that a store is not what was
  ///   written, unless that is the live one.
  func findingFault<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      guard error != error.ofSecondStore, !source.isGone else { throw error }
      source.readSmallTables()
      throw source.hasFailed ? error : error.ofSecondStore
    }
  }
}

extension VaultError {
  /// The same as an error of the second store of a rekey, where it says that a store is not what it should be.
  var ofSecondStore: VaultError {
    switch self {
    case .noVault: .secondStore("vault.db is missing")
    case .newer(let version): .secondStore("vault.db has format \(version)")
    case .corrupt(let reason), .distrusted(let reason, _): .secondStore(reason)
    case .secondStore, .vaultExists, .inUse, .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired,
      .notAllowed, .storage, .permissions, .invalidValue, .tooLarge, .lastSlot, .noSuchSlot, .overtaken, .rekeying,
      .neverRead:
      self
    }
  }
}

extension Keychain {
  /// Reads what a rekey copies beside the items, so that a fault in it is noticed as one of this store: what is read
  /// and written in one go does not tell where it was met.
  fileprivate func readSmallTables() {
    _ = try? noticing { () throws(VaultError) in
      for accessible in AccessClass.allCases { _ = try grants(of: accessible) }
      bound.depositTable = nil
      try knownDeposits(verified: true)
      _ = try anchor()
      _ = try storedEnd()
    }
  }
}
