import VaultCore
import VaultModel

// A second store with the same keys and slots, for a salvage.
extension Keychain {
  /// Makes a store in `directory`, with no items, grants or deposits. It has the wrapped keys of this store and those
  /// of its slots that are the ones stored last, and is opened with the keys that are in memory here.
  ///
  /// - Parameter lose: called with each loss.
  func makeEmptyCopy(
    in directory: String, now: Int64, lose: (Finding) -> Void
  ) throws(VaultError) -> Keychain {
    let stored = AccessClass.allCases.compactMap { accessible in
      (try? classRecord(accessible)).map {
        StoredSets(accessible: accessible, sets: $0.sets, nextSlot: $0.facts.nextSlot)
      }
    }
    for accessible in AccessClass.allCases where !stored.contains(where: { $0.accessible == accessible }) {
      lose(
        Finding(
          .damaged,
          "the class record of \(accessible.name) is lost, so nobody can tell whether its items are the latest"))
    }
    // Somebody who has less than the vault key could have made all of the other class records.
    if !stored.contains(where: { $0.accessible == .whenUnlocked }) {
      lose(Finding(.damaged, "the hash over the slots is lost, so nobody can tell whether they are the latest"))
    }
    let kept = try authenticSlots(stored, lose)
    let wrapped = try authenticKeys(stored, lose)
    let copied = copiedFacts(now, stored.first { $0.accessible == .whenUnlocked }?.nextSlot, kept.map(\.id))
    try Database.create(in: directory) { (database: Database) throws(VaultError) in
      try database.putMeta(MetaName.vaultID, vault.bytes)
      let stale = staleSlots.intersection(kept.map { UInt32(truncatingIfNeeded: $0.id) })
      try database.putMeta(MetaName.staleSlots, stale.sorted().flatMap(MetaName.encode))
      for (name, sealed) in wrapped { try database.putKey(name, sealed) }
      for (id, record) in kept { try database.insertSlot(id, record) }
      let keychain = Keychain(database, vault)
      keychain.takeKeys(of: self)
      try keychain.writeFirstRecords(copied)
    }
    let copy = try Keychain(opening: directory)
    copy.takeKeys(of: self)
    AccessClass.allCases.forEach(copy.vouch)
    return copy
  }

  /// The first facts for the class records of the copy. No class gets a time earlier than one that its own authentic
  /// record states, nor a lower age, because the items in the trash are copied with their ages. The numbers of rows
  /// begin again at 1. The ids of slots continue after the last id in the record of the strongest class, or else begin
  /// with the first free id.
  private func copiedFacts(_ now: Int64, _ nextSlot: UInt32?, _ kept: [Int64]) -> ByClass<ClassRecord.Facts> {
    var free: UInt32 = 1
    while kept.contains(Int64(free)) { free += 1 }
    let new = ClassRecord.Facts(time: now, nextRow: 1, nextSlot: nextSlot ?? free)
    var copied = ByClass(repeating: new)
    for accessible in AccessClass.allCases where isVouchedFor[accessible] {
      copied[accessible] = ClassRecord.Facts(
        time: effective(now, accessible), nextRow: new.nextRow, nextSlot: new.nextSlot,
        age: age(of: accessible, at: now))
    }
    return copied
  }

  private func takeKeys(of other: Keychain) {
    keys.whenUnlocked = other.keys.whenUnlocked.copy()
    keys.afterFirstUnlock = other.keys.afterFirstUnlock.copy()
    keys.always = other.keys.always.copy()
    bound.publicKey = other.publicKey
  }

  /// The slots that can be read and, according to the hashes over the slots, are the ones stored last.
  private func authenticSlots(
    _ stored: [StoredSets], _ lose: (Finding) -> Void
  ) throws(VaultError) -> [(id: Int64, record: [UInt8])] {
    var kept: [(id: Int64, record: [UInt8])] = []
    let readable = Set(slots.map { Int64($0.id) })
    for (id, found) in try database.slots() {
      guard case .success(let record) = found, readable.contains(id),
        try holds(
          Self.place(slot: id), stored,
          { (accessible: AccessClass) throws(VaultError) in try mark(slot: id, record, accessible) })
      else {
        lose(Finding(.damaged, "slot \(id) is lost: it is not the one that was stored last"))
        continue
      }
      kept.append((id, record))
    }
    guard !kept.isEmpty else { throw .corrupt("no slot is left that could open what is saved") }
    return kept
  }

  /// The wrapped keys that are the ones stored last. The class keys wrapped under the vault key must be among them.
  private func authenticKeys(
    _ stored: [StoredSets], _ lose: (Finding) -> Void
  ) throws(VaultError) -> [(name: String, sealed: [UInt8])] {
    var kept: [(name: String, sealed: [UInt8])] = []
    for (name, found) in try database.keys() {
      let place = Self.place(key: name)
      // The box's public key is added below.
      if name == KeyName.box, publicKey != nil { continue }
      guard case .success(let sealed) = found,
        try holds(
          place, stored, { (accessible: AccessClass) throws(VaultError) in try mark(key: name, sealed, accessible) })
      else {
        lose(
          Finding(
            .damaged, "the wrapped key \(KeyName.name(part: place.part)) is lost: it is not the one that was stored"))
        continue
      }
      kept.append((name, sealed))
    }
    if let publicKey { kept.append((KeyName.box, publicKey)) }
    for accessible in AccessClass.allCases where !kept.contains(where: { $0.name == KeyName.vault(accessible) }) {
      throw .corrupt("the wrapped key \(KeyName.vault(accessible)) is damaged, so nothing could open what is saved")
    }
    return kept
  }

  /// True when a row is the one that was stored last, according to the classes that ``judges(_:)`` returns.
  private func holds(
    _ place: RecordSets.Place, _ stored: [StoredSets], _ mark: (AccessClass) throws(VaultError) -> RecordMark
  ) throws(VaultError) -> Bool {
    let judges = Self.judges(stored.map(\.accessible))
    for one in stored where judges.contains(one.accessible) {
      guard try one.sets[place].isSet(RecordSet(), with: mark(one.accessible)) else { return false }
    }
    return true
  }
}

/// The part of an authentic class record of a damaged store that covers the rows counting towards all classes.
private struct StoredSets {
  let accessible: AccessClass
  let sets: RecordSets
  let nextSlot: UInt32
}
