public import VaultCore

// The ways into the vault. Their records are in the clear but for the wrapped vault key, so these work in every state;
// the vault key, which a change of slots has at hand, gives the key of the hash over them.
extension Keychain {
  /// The number for a new slot: none that a slot has or had.
  public var nextSlotID: UInt32 {
    let stored = (try? database.meta(MetaName.nextSlot)).flatMap { $0 }.flatMap(MetaName.decode) ?? 1
    let used = (slots.map(\.id) + damagedSlots).max() ?? 0
    return max(stored, used &+ 1)
  }

  /// Adds a way in.
  ///
  /// - Throws: ``VaultError/alreadyExists`` when a slot has that id; ``VaultError/invalidValue(_:)`` when there are as
  ///   many as can be; ``VaultError/corrupt(_:)`` also when `vaultKey` is
  ///   another vault's; ``VaultError/storage(_:)``.
  public func addSlot(_ slot: SlotRecord, vaultKey: borrowing SecureBytes) throws(VaultError) {
    try change(vaultKey: vaultKey) { () throws(VaultError) in
      guard !hasSlot(slot.id) else { throw .alreadyExists }
      guard slots.count + damagedSlots.count < Database.maximumSlots else {
        throw .invalidValue("a vault has at most \(Database.maximumSlots) slots")
      }
      try database.putMeta(MetaName.nextSlot, MetaName.encode(max(nextSlotID, slot.id &+ 1)))
      try store(slot, isNew: true)
    }
  }

  /// Puts a slot in place of the one with the same id: a changed password.
  ///
  /// - Throws: ``VaultError/noSuchSlot(_:)``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func replaceSlot(_ slot: SlotRecord, vaultKey: borrowing SecureBytes) throws(VaultError) {
    try change(vaultKey: vaultKey) { () throws(VaultError) in
      guard hasSlot(slot.id) else { throw .noSuchSlot(slot.id) }
      try setStale(staleSlots.subtracting([slot.id]))
      try noteStored(slot.id)
      try store(slot, isNew: false)
    }
  }

  /// Removes a way in.
  ///
  /// - Throws: ``VaultError/lastSlot`` when no other can be read; ``VaultError/noSuchSlot(_:)``,
  ///   ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func removeSlot(id: UInt32, vaultKey: borrowing SecureBytes) throws(VaultError) {
    try change(vaultKey: vaultKey) { () throws(VaultError) in
      guard hasSlot(id) else { throw .noSuchSlot(id) }
      guard slots.contains(where: { $0.id != id }) else { throw .lastSlot }
      try setStale(staleSlots.subtracting([id]))
      try noteStored(id)
      try database.deleteSlot(Int64(id))
      try readSlots()
    }
  }

  /// Slots whose secret has changed elsewhere and not here, as somebody said who may talk to the daemon.
  ///
  /// It is advice to people: it protects nothing, and nothing protects it. It ends when the slot is replaced or removed.
  public var staleSlots: Set<UInt32> {
    let stored = (try? database.meta(MetaName.staleSlots)).flatMap { $0 } ?? []
    return Set(stride(from: 0, to: stored.count, by: 4).compactMap { MetaName.decode(Array(stored[$0...].prefix(4))) })
  }

  /// Adds all slots of `kind` to ``staleSlots``.
  ///
  /// - Throws: ``VaultError/storage(_:)``.
  public func markStale(_ kind: SlotKind) throws(VaultError) {
    try write { () throws(VaultError) in
      try setStale(staleSlots.union(slots.filter { $0.kind == kind }.map(\.id)))
    }
  }

  /// Takes over from another store what is known of slots besides their records: which number the next one gets, and which
  /// ones are stale.
  func keepNumbers(of other: Keychain) throws(VaultError) {
    try database.putMeta(MetaName.nextSlot, MetaName.encode(max(nextSlotID, other.nextSlotID)))
    try setStale(other.staleSlots.intersection(slots.map(\.id)))
  }

  private func setStale(_ ids: Set<UInt32>) throws(VaultError) {
    guard ids != staleSlots else { return }
    try database.putMeta(MetaName.staleSlots, ids.sorted().flatMap(MetaName.encode))
  }

  private func store(_ slot: SlotRecord, isNew: Bool) throws(VaultError) {
    let record = slot.encoded()
    if isNew {
      try database.insertSlot(Int64(slot.id), record)
    } else {
      try database.updateSlot(Int64(slot.id), record)
    }
    try note(.insert, slot: Int64(slot.id), record)
    try readSlots()
  }

  /// Takes the record that a slot has now out of the hashes.
  private func noteStored(_ id: UInt32) throws(VaultError) {
    guard let old = try database.slots().first(where: { $0.id == Int64(id) }) else { return }
    try note(.remove, slot: old.id, old.record)
  }

  private func hasSlot(_ id: UInt32) -> Bool { slots.contains { $0.id == id } || damagedSlots.contains(id) }

  func readSlots() throws(VaultError) {
    var found: [SlotRecord] = []
    var damaged: [UInt32] = []
    for (id, record) in try database.slots() {
      guard let id = UInt32(exactly: id) else { throw .corrupt("a slot has an impossible number") }
      let slot = record.withSpan { try? SlotRecord(decoding: $0) }
      if let slot, slot.id == id {
        found.append(slot)
      } else {
        damaged.append(id)
      }
    }
    slots = found
    damagedSlots = damaged
  }
}
