internal import VaultBytes
public import VaultCore
public import VaultModel

// The slots, which are the ways into the vault. Their records are not encrypted, except for the wrapped vault key, so
// these methods work in every state. Whoever changes the slots has the vault key, from which the keys of the hashes
// over the slots follow.
extension Keychain {
  /// Checks that a slot that opened is the one that was stored last, according to the classes that ``judges(_:)``
  /// returns. Nobody who has less than the vault key can make these classes confirm a slot that was removed or
  /// replaced.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the slot is not the one stored last, or `vaultKey` belongs to another
  ///   vault; ``VaultError/noSuchSlot(_:)`` when the slot is no longer one of ``slots``; ``VaultError/storage(_:)``.
  public func check(_ slot: SlotRecord, vaultKey: borrowing SecureBytes) throws(VaultError) {
    guard slots.contains(slot) else { throw .noSuchSlot(slot.id) }
    let id = Int64(slot.id)
    var isStored = ByClass<Bool?>(repeating: nil)
    for accessible in AccessClass.allCases {
      let key = Subkey.integrity.derive(from: try unwrap(accessible, under: .vault, vaultKey))
      let record: ClassRecord
      do throws(VaultError) { record = try classRecord(accessible, key: key) } catch .corrupt { continue }
      let mark = mark(slot: id, slot.encoded(), accessible, key: key)
      isStored[accessible] = record.sets[Self.place(slot: id)].isSet(RecordSet(), with: mark)
    }
    let authentic = AccessClass.allCases.filter { isStored[$0] != nil }
    guard Self.judges(authentic).allSatisfy({ isStored[$0] == true }) else {
      let error = VaultError.corrupt("slot \(id) is not the one that was stored last")
      notice(error)
      throw error
    }
  }

  /// Makes a change of the slots if all slots in `seen` are still stored exactly as they are in `seen`. A person may
  /// have been asked since the right to the change was proven, and another change may have been made meanwhile.
  private func changeSlots(
    given seen: [SlotRecord], vaultKey: borrowing SecureBytes, _ body: () throws(VaultError) -> Void
  ) throws(VaultError) {
    try change(vaultKey: vaultKey) { () throws(VaultError) in
      // The new vault has its slots already, and would bring back a slot that is replaced or removed now.
      guard !isRekeying else { throw .rekeying }
      guard seen.allSatisfy(slots.contains) else { throw .overtaken }
      try body()
    }
  }

  /// Adds a slot.
  ///
  /// - Parameter seen: the slots that must still be stored unchanged, such as the slot that proved the right to this
  ///   change.
  /// - Throws: ``VaultError/alreadyExists`` when a slot has that id or had it before; ``VaultError/overtaken``,
  ///   ``VaultError/rekeying``; ``VaultError/invalidValue(_:)`` when the vault has the most slots that it can have;
  ///   ``VaultError/corrupt(_:)``, including when `vaultKey` belongs to another vault; ``VaultError/storage(_:)``.
  public func addSlot(
    _ slot: SlotRecord, given seen: [SlotRecord], vaultKey: borrowing SecureBytes
  ) throws(VaultError) {
    try changeSlots(given: seen, vaultKey: vaultKey) { () throws(VaultError) in
      guard !hasSlot(slot.id), slot.id >= nextSlotID else { throw .alreadyExists }
      guard slots.count + damagedSlots.count < Database.maximumSlots else {
        throw .invalidValue("a vault has at most \(Database.maximumSlots) slots")
      }
      try store(slot, isNew: true)
    }
  }

  /// Replaces the slot with the same id, for example after a change of password.
  ///
  /// - Parameter seen: the slots that must still be stored unchanged: the slot that proved the right to this change,
  ///   and the slot to be replaced.
  /// - Throws: ``VaultError/lastSlot`` when no lasting slot would be left; ``VaultError/noSuchSlot(_:)``,
  ///   ``VaultError/overtaken``, ``VaultError/rekeying``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func replaceSlot(
    _ slot: SlotRecord, given seen: [SlotRecord], vaultKey: borrowing SecureBytes
  ) throws(VaultError) {
    try changeSlots(given: seen, vaultKey: vaultKey) { () throws(VaultError) in
      guard hasSlot(slot.id) else { throw .noSuchSlot(slot.id) }
      guard slot.kind.facts.isLasting || isLasting(without: slot.id) || !isLasting else { throw .lastSlot }
      try setStale(staleSlots.subtracting([slot.id]))
      try store(slot, isNew: false)
    }
  }

  /// Removes a slot.
  ///
  /// - Parameter seen: the slots that must still be stored unchanged, such as the slot that proved the right to this
  ///   change.
  /// - Throws: ``VaultError/lastSlot`` when no lasting slot would be left (see ``isLasting(without:)``);
  ///   ``VaultError/noSuchSlot(_:)``, ``VaultError/overtaken``, ``VaultError/rekeying``, ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``.
  public func removeSlot(
    id: UInt32, given seen: [SlotRecord], vaultKey: borrowing SecureBytes
  ) throws(VaultError) {
    try changeSlots(given: seen, vaultKey: vaultKey) { () throws(VaultError) in
      guard hasSlot(id) else { throw .noSuchSlot(id) }
      guard isLasting(without: id) else { throw .lastSlot }
      try setStale(staleSlots.subtracting([id]))
      try database.deleteSlot(Int64(id))
      try note(slot: Int64(id), nil)
      try readSlots()
    }
  }

  /// True when a slot other than `id` can be read and is lasting (``SlotKind/Facts/isLasting``). Without such a slot,
  /// the vault would be lost on the day the other slots end, and until then no slot could be added.
  public func isLasting(without id: UInt32) -> Bool { slots.contains { $0.id != id && $0.kind.facts.isLasting } }

  private var isLasting: Bool { slots.contains(where: \.kind.facts.isLasting) }

  /// The slots whose secret was changed elsewhere and not here, according to somebody who may talk to the daemon.
  ///
  /// The mark is advice to people: it protects nothing, and nothing protects it. It ends when the slot is replaced or
  /// removed.
  public var staleSlots: Set<UInt32> {
    let stored = (try? database.meta(MetaName.staleSlots)).flatMap { $0 } ?? []
    return Set(stride(from: 0, to: stored.count, by: 4).compactMap { MetaName.decode(Array(stored[$0...].prefix(4))) })
  }

  /// Marks all slots of `kind` as stale (``staleSlots``).
  ///
  /// - Throws: ``VaultError/storage(_:)``.
  public func markStale(_ kind: SlotKind) throws(VaultError) {
    try write { () throws(VaultError) in
      try setStale(staleSlots.union(slots.filter { $0.kind == kind }.map(\.id)))
    }
  }

  /// Copies the marks of stale slots from another store.
  func keepStale(of other: Keychain) throws(VaultError) {
    try setStale(other.staleSlots.intersection(slots.map(\.id)))
  }

  private func setStale(_ ids: Set<UInt32>) throws(VaultError) {
    guard ids != staleSlots else { return }
    try database.putMeta(MetaName.staleSlots, ids.sorted().flatMap(MetaName.encode))
  }

  private func store(_ slot: SlotRecord, isNew: Bool) throws(VaultError) {
    guard slot.id < ClassRecord.lastSlot else { throw .corrupt("a slot has an impossible number") }
    let record = slot.encoded()
    if isNew {
      try database.insertSlot(Int64(slot.id), record)
    } else {
      try database.updateSlot(Int64(slot.id), record)
    }
    try note(slot: Int64(slot.id), record)
    for accessible in AccessClass.allCases {
      if let next = facts[accessible]?.nextSlot { facts[accessible]?.nextSlot = max(next, slot.id + 1) }
    }
    try readSlots()
  }

  func hasSlot(_ id: UInt32) -> Bool { slots.contains { $0.id == id } || damagedSlots.contains(id) }

  func readSlots() throws(VaultError) {
    var found: [SlotRecord] = []
    var damaged: [UInt32] = []
    for (id, record) in try database.slots() {
      // A number outside this range was never given to a slot; a check reports it.
      guard let id = UInt32(exactly: id) else { continue }
      let slot = (try? record.get())?.withSpan { try? SlotRecord(decoding: $0) }
      // No slot was ever given the number 0, which would come before all others.
      if let slot, slot.id == id, id > 0 {
        found.append(slot)
      } else {
        damaged.append(id)
      }
    }
    slots = found
    damagedSlots = damaged
  }
}
