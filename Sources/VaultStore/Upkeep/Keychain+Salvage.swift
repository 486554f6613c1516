import VaultCore
import VaultModel

// A second store with the same keys and slots.
extension Keychain {
  /// Makes a store without items in `directory` that has this one's keys, wrapped as here, and those of its slots that
  /// are the ones stored last; opens it with the keys that are in memory here.
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
          "the class record of \(accessible.name) is lost, so whether its items are the latest cannot be told"))
    }
    // The other class records alone could all be made by somebody who has less than the vault key.
    if !stored.contains(where: { $0.accessible == .whenUnlocked }) {
      lose(Finding(.damaged, "the hash over the slots is lost, so whether they are the latest cannot be told"))
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
    try copy.transaction { () throws(VaultError) in
      try copy.copyGrants(of: self) { accessible, error in
        let reason =
          if case .corrupt(let reason) = error, error == Database.tooManyGrants { reason } else {
            "they are not those that were stored last"
          }
        lose(Finding(.damaged, "the grants for items of class \(accessible.name) are lost: \(reason)"))
      }
      try copy.saveDeposits(of: self, lose: lose)
    }
    return copy
  }

  /// The first facts for the class records of the copy. No time of a class comes again that its own record vouches for;
  /// the rows are counted from the start; and the ids of slots continue where the strongest class's record says, or
  /// else from the first free one on.
  private func copiedFacts(_ now: Int64, _ nextSlot: UInt32?, _ kept: [Int64]) -> ByClass<ClassRecord.Facts> {
    var free: UInt32 = 1
    while kept.contains(Int64(free)) { free += 1 }
    var copied = ByClass(repeating: ClassRecord.Facts(time: now, nextRow: 1, nextSlot: nextSlot ?? free))
    for accessible in AccessClass.allCases { copied[accessible].time = effective(now, accessible) }
    return copied
  }

  private func takeKeys(of other: Keychain) {
    keys.whenUnlocked = other.keys.whenUnlocked.copy()
    keys.afterFirstUnlock = other.keys.afterFirstUnlock.copy()
    keys.always = other.keys.always.copy()
    bound.publicKey = other.publicKey
  }

  /// The slots that can be read and are the ones stored last, as far as the hashes over them tell.
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

  /// The wrapped keys that are the ones stored last; those under the vault key have to be among them.
  private func authenticKeys(
    _ stored: [StoredSets], _ lose: (Finding) -> Void
  ) throws(VaultError) -> [(name: String, sealed: [UInt8])] {
    var kept: [(name: String, sealed: [UInt8])] = []
    for (name, found) in try database.keys() {
      let place = Self.place(key: name)
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
    for accessible in AccessClass.allCases where !kept.contains(where: { $0.name == KeyName.vault(accessible) }) {
      throw .corrupt("the wrapped key \(KeyName.vault(accessible)) is damaged, so nothing could open what is saved")
    }
    return kept
  }

  /// True when a row is the one that was stored last, according to ``judges(_:)``.
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

/// The part of an authentic class record of a damaged store that is about rows that count towards all classes.
private struct StoredSets {
  let accessible: AccessClass
  let sets: RecordSets
  let nextSlot: UInt32
}
