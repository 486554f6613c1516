import VaultCore
import VaultModel

/// Whether a transaction is open, and what went wrong in it.
enum TransactionState {
  case none
  case open
  case failed(VaultError)
}

// Writing: everything in one transaction, and the state in memory with it.
extension Keychain {
  /// Makes all changes in `body` one: all are kept, or none.
  ///
  /// When one of them fails the transaction fails, also where `body` catches the error. Nested transactions are part
  /// of the outer one.
  /// - Throws: what `body` throws; the error of the first failed change; ``VaultError/storage(_:)``. Then nothing is
  ///   kept.
  public func transaction<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    if case .none = transaction {} else { return try join(body) }
    if hasFailed {
      throw .corrupt(
        "the check of the store failed, so nothing is written to it; `vault verify` says what is wrong, `vault salvage` saves the rest"
      )
    }
    let (savedClock, savedSlots, savedDamage) = (clock, slots, damagedSlots)
    recent.forget()
    changes = RecordChanges(isListing: pass != nil)
    try database.begin()
    transaction = .open
    do throws(VaultError) {
      let result = try body()
      if case .failed(let error) = transaction { throw error }
      if clock != savedClock { try writeClock(insteadOf: savedClock) }
      try writeHashes()
      try database.commit()
      transaction = .none
      pass?.apply(changes)
      return result
    } catch {
      transaction = .none
      database.rollback()
      (clock, slots, damagedSlots) = (savedClock, savedSlots, savedDamage)
      throw error
    }
  }

  /// Runs one change in a transaction of its own, or as a part of the one that is open.
  func write<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R { try transaction(body) }

  private func join<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      if case .open = transaction { transaction = .failed(error) }
      throw error
    }
  }

  private func writeClock(insteadOf old: Clock) throws(VaultError) {
    let mac = try withIntegrityKey(.always) { [clock] (key: borrowing SecureBytes) throws(VaultError) in
      note(.remove, .always, .init(.clock), .single, old.mark(vault, key: key))
      note(.insert, .always, .init(.clock), .single, clock.mark(vault, key: key))
      return clock.mac(vault, hasHashes: hasHashes, key: key)
    }
    try database.putClock(time: clock.time, items: clock.items, mac: mac)
  }
}
