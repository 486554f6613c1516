import VaultCore

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
    let (savedClock, savedSlots, savedDamage) = (clock, slots, damagedSlots)
    recent.forget()
    try database.begin()
    transaction = .open
    do throws(VaultError) {
      let result = try body()
      if case .failed(let error) = transaction { throw error }
      if clock != savedClock { try writeClock() }
      try database.commit()
      transaction = .none
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

  private func writeClock() throws(VaultError) {
    let mac: [UInt8]
    switch always.integrity {
    case .some(let key): mac = clock.mac(vault, key: key)
    case .none: throw .locked
    }
    try database.putClock(time: clock.time, items: clock.items, mac: mac)
  }
}
