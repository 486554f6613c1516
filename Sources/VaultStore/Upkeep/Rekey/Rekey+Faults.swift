import VaultModel

// Decides which store is at fault when a rekey finds data that is not what was written: the live store, which has then
// failed, or the second store, which can be filled anew.
extension Rekey {
  /// Runs a part of the work. A fault of the second store is thrown as an error about the second store.
  ///
  /// - Throws: what `body` throws. An error that says that a store is not what was written is replaced by
  ///   ``VaultError/secondStore(_:)``, unless the live store is at fault.
  func findingFault<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      guard error != error.ofSecondStore, !source.isGone else { throw error }
      source.readSmallTables()
      throw source.hasFailed ? error : error.ofSecondStore
    }
  }
}

extension VaultError {
  /// This error as an error about a rekey's second store, if it says that a store is not what it should be; otherwise
  /// the error itself.
  var ofSecondStore: VaultError {
    switch self {
    case .noVault: .secondStore("vault.db is missing, because the rekey was called off, or the file was removed")
    case .newer(let version): .secondStore("vault.db has format \(version)")
    case .corrupt(let reason), .distrusted(let reason, _): .secondStore(reason)
    case .secondStore, .vaultExists, .inUse, .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired,
      .notAllowed, .storage, .permissions, .invalidValue, .needsAnotherItem, .tooLarge, .lastSlot, .noSuchSlot,
      .overtaken, .backingUp, .rekeying, .neverRead:
      self
    }
  }
}

extension Keychain {
  /// Reads the tables that a rekey copies beside the items, so that a fault in them is recognized as a fault of this
  /// store. An operation that reads from one store and writes to another does not show which store caused its error.
  fileprivate func readSmallTables() {
    _ = try? noticing { () throws(VaultError) in
      for accessible in AccessClass.allCases { _ = try grants(of: accessible) }
      forgetDeposits()
      try knownDeposits(verified: true)
      _ = try anchor()
      _ = try storedEnd()
    }
  }
}
