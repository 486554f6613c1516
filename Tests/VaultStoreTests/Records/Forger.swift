import VaultBytes
import VaultModel

@testable import VaultCore
@testable import VaultStore

extension Fixture {
  /// Writes to the vault as somebody who has only the boot key: through this program, which asks for no more than the
  /// keys, and then with a record of `always` that fits all rows.
  func forgeAlways(_ body: (Forger) throws -> Void) throws {
    let keychain = try open()
    // A forger does not stop where an honest program does.
    keychain.verdict.failure = nil
    try keychain.openAlways(bootKey: bootKey)
    keychain.verdict.failure = nil
    let forger = Forger(keychain)
    try body(forger)
    try forger.finish()
  }
}

/// A writer to a vault who has the key of `always`.
final class Forger {
  private let keychain: Keychain
  private var numbers: (nextRow: Int64, nextSlot: UInt32)?
  private var deniesSlots = false
  private var counts: [RecordSets.Place: RecordSet] = [:]

  init(_ keychain: Keychain) {
    self.keychain = keychain
    // With keys other than the vault's, no name of the other classes seems to be taken.
    keychain.keys.whenUnlocked = ClassKeys(classKey: RandomBytes.secret(count: 32), of: .whenUnlocked)
    keychain.keys.afterFirstUnlock = ClassKeys(classKey: RandomBytes.secret(count: 32), of: .afterFirstUnlock)
  }

  func put(
    _ name: String, _ value: String, accessible: AccessClass? = nil, update: Bool = false, now: Int64 = 2000
  ) throws { try keychain.put(name, value, accessible: accessible, update: update, now: now) }

  func claim(nextRow: Int64, nextSlot: UInt32) { numbers = (nextRow, nextSlot) }

  /// Makes the record claim that there is no slot.
  func denySlots() { deniesSlots = true }

  /// Makes the record claim 2^`power` records of a place, or a negative number of that size.
  func claim(_ place: RecordSets.Place, power: Int, isNegative: Bool) throws {
    var set = RecordSet()
    set.insert(try keychain.mark(slot: 0, [], .always))
    for _ in 0..<power { set.merge(set) }
    counts[place] = isNegative ? set.emptied : set
  }

  /// Makes the head of an item name this many versions of that many bytes each, of which only the current one exists.
  func claimVersions(_ count: Int, of text: String, size: Int) throws {
    try keychain.write { () throws(VaultError) in
      guard let name = try? ItemName(text), let old = try keychain.find(name, marking: true) else {
        throw .noSuchItem
      }
      var (head, columns) = (old.head, old.columns)
      head.headRevision += 1
      (columns.revision, columns.current, head.nextVersion) = (head.headRevision, count, count + 1)
      let value = try [UInt8](repeating: 1, count: size).withSpan { (bytes: RawSpan) throws(VaultError) in
        try keychain.seal(bytes, columns, version: count)
      }
      head.item.versions = (1...count).map { VersionInfo(number: $0, created: 2000, size: size) }
      head.digests = (1...count).map {
        $0 == count ? value.digest : [UInt8(truncatingIfNeeded: $0)].withSpan { Digest(of: $0) }
      }
      try keychain.put(columns, head, value: value, insteadOf: old)
    }
  }

  /// Gives an item a value that does not open, as its current or its first version, and a head that describes the value
  /// correctly, except for `surplus` bytes of its size.
  func spoil(_ text: String, version: Int, surplus: Int = 0) throws {
    try keychain.write { () throws(VaultError) in
      guard let name = try? ItemName(text), let old = try keychain.find(name, marking: true) else {
        throw .noSuchItem
      }
      var (head, columns) = (old.head, old.columns)
      head.headRevision += 1
      columns.revision = head.headRevision
      let index = version - 1
      let bytes = RandomBytes.array(count: head.item.versions[index].size + AEAD.overhead)
      let spoilt = SealedValue(version: version, bytes: bytes, digest: bytes.withSpan { Digest(of: $0) })
      try keychain.noteRemoval(of: version, old.columns, head.digests[index])
      head.digests[index] = spoilt.digest
      let (number, created) = (head.item.versions[index].number, head.item.versions[index].created)
      let size = head.item.versions[index].size + surplus
      head.item.versions[index] = VersionInfo(number: number, created: created, size: size)
      if version == columns.current { return try keychain.put(columns, head, value: spoilt, insteadOf: old) }
      try keychain.put(columns, older: spoilt, isNew: false)
      let current: SealedValue? = try keychain.database.withValue(row: columns.row, version: columns.current) {
        (sealed: RawSpan) throws(VaultError) in
        SealedValue(version: columns.current, bytes: [UInt8](copying: sealed), digest: Digest(of: sealed))
      }
      guard let current else { throw .noSuchItem }
      try keychain.put(columns, head, value: current, insteadOf: old)
    }
  }

  /// Fills the head of an item with fields that this program does not know, as far as they fit.
  func fillHead(of text: String) throws {
    try keychain.write { () throws(VaultError) in
      guard let name = try? ItemName(text), let old = try keychain.find(name, marking: true) else {
        throw .noSuchItem
      }
      var (head, columns) = (old.head, old.columns)
      head.extensions = Extensions([(100, [UInt8](repeating: 1, count: 1 << 16 - 4))])
      head.headRevision += 1
      columns.revision = head.headRevision
      let current: SealedValue? = try keychain.database.withValue(row: columns.row, version: columns.current) {
        (sealed: RawSpan) throws(VaultError) in
        SealedValue(version: columns.current, bytes: [UInt8](copying: sealed), digest: Digest(of: sealed))
      }
      guard let current else { throw .noSuchItem }
      try keychain.put(columns, head, value: current, insteadOf: old)
    }
  }

  /// Makes the record of `always` from the existing rows, as if all were right.
  func finish() throws {
    var (walk, verification) = (RecordWalk(), Verification())
    var left = Int.max
    while try !walk.step(keychain, &left, &verification) {}
    try walk.walkFewRows(keychain, &verification)
    var sets = walk.sets[.always]
    if deniesSlots { for place in sets.places where place.table == .slots { sets[place] = RecordSet() } }
    for (place, set) in counts { sets[place] = set }
    var facts = keychain.facts[.always] ?? .init(time: 1, nextRow: 1, nextSlot: 1)
    if let numbers { (facts.nextRow, facts.nextSlot) = numbers }
    try keychain.database.begin()
    try keychain.store(ClassRecord(sets: sets, facts: facts), .always)
    try keychain.database.commit()
  }
}
