import VaultCore
import VaultModel

// A second store with the same keys and ways in.
extension Keychain {
  /// Makes a store without items in `directory` that has this one's keys, wrapped as here, and those of its slots that are
  /// the ones that were stored last; opens it, with the keys that are in memory here.
  ///
  /// - Parameter lose: gets what does not come along.
  func makeEmptyCopy(
    in directory: String, now: Int64, lose: (Finding) -> Void
  ) throws(VaultError) -> Keychain {
    let stored = try? storedHashes(Self.slotClass)
    if stored == nil {
      lose(Finding(.damaged, "the hash over the slots is lost, so whether they are the latest cannot be told"))
    }
    let kept = try authenticSlots(stored, lose)
    let wrapped = try authenticKeys(stored, lose)
    let clock = Clock(time: effective(now), items: 0)
    let mac = try withIntegrityKey(.always) { clock.mac(vault, hasHashes: true, key: $0) }
    try Database.create(in: directory) { (database: Database) throws(VaultError) in
      try database.putMeta(MetaName.vaultID, vault.bytes)
      try database.putMeta(MetaName.nextSlot, MetaName.encode(nextSlotID))
      let stale = staleSlots.intersection(kept.map { UInt32(truncatingIfNeeded: $0.id) })
      try database.putMeta(MetaName.staleSlots, stale.sorted().flatMap(MetaName.encode))
      for (name, sealed) in wrapped { try database.putKey(name, sealed) }
      for (id, record) in kept { try database.insertSlot(id, record) }
      try database.putClock(time: clock.time, items: clock.items, mac: mac)
      let keychain = Keychain(database, vault, clock)
      keychain.takeKeys(of: self)
      try keychain.writeAllHashes()
    }
    let copy = try Keychain(opening: directory)
    copy.takeKeys(of: self)
    try copy.checkClock(copy.always)
    return copy
  }

  private func takeKeys(of other: Keychain) {
    whenUnlocked = other.whenUnlocked.copy()
    afterFirstUnlock = other.afterFirstUnlock.copy()
    always = other.always.copy()
  }

  /// The slots that are those that were stored last, as far as the hash over them tells, and that can be read.
  private func authenticSlots(
    _ stored: RecordSets?, _ lose: (Finding) -> Void
  ) throws(VaultError) -> [(id: Int64, record: [UInt8])] {
    var kept: [(id: Int64, record: [UInt8])] = []
    let readable = Set(slots.map { Int64($0.id) })
    for (id, record) in try database.slots() {
      let place = RecordSets.Place(.slots, part: UInt32(truncatingIfNeeded: id))
      if readable.contains(id), try isStored(mark(slot: id, record), place, stored) {
        kept.append((id, record))
      } else {
        lose(Finding(.damaged, "slot \(id) is lost: it is not the one that was stored last"))
      }
    }
    guard !kept.isEmpty else { throw .corrupt("no slot is left that could open what is saved") }
    return kept
  }

  /// The wrapped keys that are those that were stored last, of which those under the vault key have to be there.
  private func authenticKeys(
    _ stored: RecordSets?, _ lose: (Finding) -> Void
  ) throws(VaultError) -> [(name: String, sealed: [UInt8])] {
    var kept: [(name: String, sealed: [UInt8])] = []
    for (name, sealed) in try database.keys() {
      let place = RecordSets.Place(.keys, part: KeyName.part(name))
      if try isStored(mark(key: name, sealed), place, stored) {
        kept.append((name, sealed))
      } else {
        lose(
          Finding(
            .damaged, "the wrapped key \(KeyName.name(part: place.part)) is lost: it is not the one that was stored"))
      }
    }
    for accessible in AccessClass.allCases where !kept.contains(where: { $0.name == KeyName.vault(accessible) }) {
      throw .corrupt("the wrapped key \(KeyName.vault(accessible)) is damaged, so nothing could open what is saved")
    }
    return kept
  }

  private func isStored(
    _ mark: @autoclosure () throws(VaultError) -> RecordMark, _ place: RecordSets.Place, _ stored: RecordSets?
  ) throws(VaultError) -> Bool {
    guard let stored else { return true }
    return stored[place].isSet(RecordSet(), with: try mark())
  }
}
