public import VaultCore

// The ways into the vault. Their records are in the clear but for the wrapped vault key, so these work in every state.
extension Keychain {
  /// The number for a new slot: none that a slot has or had.
  public var nextSlotID: UInt32 {
    let stored = (try? database.meta(MetaName.nextSlot)).flatMap { $0 }.flatMap(MetaName.decode) ?? 1
    let used = (slots.map(\.id) + damagedSlots).max() ?? 0
    return max(stored, used &+ 1)
  }

  /// Adds a way in.
  ///
  /// - Throws: ``VaultError/alreadyExists`` when a slot has that id; ``VaultError/storage(_:)``.
  public func addSlot(_ slot: SlotRecord) throws(VaultError) {
    try write { () throws(VaultError) in
      guard !hasSlot(slot.id) else { throw .alreadyExists }
      try database.putMeta(MetaName.nextSlot, MetaName.encode(max(nextSlotID, slot.id &+ 1)))
      try database.putSlot(Int64(slot.id), slot.encoded())
      try readSlots()
    }
  }

  /// Puts a slot in place of the one with the same id: a changed password.
  ///
  /// - Throws: ``VaultError/noSuchSlot(_:)``, ``VaultError/storage(_:)``.
  public func replaceSlot(_ slot: SlotRecord) throws(VaultError) {
    try write { () throws(VaultError) in
      guard hasSlot(slot.id) else { throw .noSuchSlot(slot.id) }
      try database.putSlot(Int64(slot.id), slot.encoded())
      try readSlots()
    }
  }

  /// Removes a way in.
  ///
  /// - Throws: ``VaultError/lastSlot`` when no other can be read; ``VaultError/noSuchSlot(_:)``,
  ///   ``VaultError/storage(_:)``.
  public func removeSlot(id: UInt32) throws(VaultError) {
    try write { () throws(VaultError) in
      guard hasSlot(id) else { throw .noSuchSlot(id) }
      guard slots.contains(where: { $0.id != id }) else { throw .lastSlot }
      try database.deleteSlot(Int64(id))
      try readSlots()
    }
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
