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
    let saved = try begin()
    let result: R
    do throws(VaultError) { result = try body() } catch {
      rollBack(saved)
      throw error
    }
    try commit(saved)
    return result
  }

  /// What a transaction that is taken back leaves in memory.
  struct Saved {
    let clock: Clock
    let slots: [SlotRecord]
    let damagedSlots: [UInt32]
    let itemCounts: ByClass<Int64?>
  }

  /// Begins a transaction, which ``commit(_:)`` or ``rollBack(_:)`` ends.
  func begin() throws(VaultError) -> Saved {
    if hasFailed {
      throw .corrupt(
        "the check of the store failed, so nothing is written to it; `vault verify` says what is wrong, `vault salvage` saves the rest"
      )
    }
    recent.forget()
    changes = RecordChanges(isListing: pass != nil || touched != nil)
    try database.begin()
    transaction = .open
    return Saved(clock: clock, slots: slots, damagedSlots: damagedSlots, itemCounts: itemCounts)
  }

  /// Ends the transaction, and keeps all of it or, when this throws, nothing.
  func commit(_ saved: Saved) throws(VaultError) {
    do throws(VaultError) {
      if case .failed(let error) = transaction { throw error }
      if clock != saved.clock { try writeClock(insteadOf: saved.clock) }
      try writeHashes()
      try database.commit()
    } catch {
      rollBack(saved)
      throw error
    }
    transaction = .none
    pass?.apply(changes)
    if touched != nil {
      for change in changes.list { if case .head(let row) = change.key { touched?.insert(row) } }
    }
  }

  /// Ends the transaction, and takes back all of it.
  func rollBack(_ saved: Saved) {
    transaction = .none
    database.rollback()
    (clock, slots, damagedSlots, itemCounts) = (saved.clock, saved.slots, saved.damagedSlots, saved.itemCounts)
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
