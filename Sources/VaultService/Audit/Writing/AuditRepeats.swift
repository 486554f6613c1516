internal import VaultBytes
internal import VaultModel
internal import VaultStore

/// The repeated events of one subject: gets, searches and refusals that are equal except for their times. The first one
/// has an entry, and those of the minute after it are counted.
///
/// No name is held here: equal events are recognized by a hash under a key of the process.
struct AuditRepeats {
  /// The time for which repetitions are counted, in seconds.
  static let span: Int64 = 60
  /// The most separate events at a time, of one subject.
  static let most = 4096
  /// The most separate events at a time, of all subjects together.
  static let mostOfAll = Keychain.mostAuditRepeats

  /// An entry, and the number of its repetitions.
  struct Seen {
    /// The hash that stands for all equal events.
    fileprivate let key: UInt
    /// The number of the entry; 0 if it was lost.
    fileprivate(set) var entry: Int64
    let action: AuditAction
    let outcome: AuditOutcome
    /// The time of the last repetition, in Unix seconds.
    fileprivate(set) var last: Int64
    fileprivate(set) var count: UInt32 = 0
  }

  private var seen: [Seen] = []
  /// The hash table of the events. An event is at the place that its key selects, or at the next place that was free. A
  /// place contains the upper 16 bits of the key, which do not select places, and in its lower 16 bits the event's
  /// index plus 1; 0 stands for none. The number of places is a power of two, of which at most half are used, so that
  /// most new events are recognized as new from a few bytes.
  private var places: [UInt32] = []

  /// True when one more event can be counted separately.
  var hasRoom: Bool { seen.count < Self.most }

  /// The hash that stands for all equal events: Swift's hash, whose key is drawn at the start of the process.
  static func key(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller, _ item: RawSpan, _ id: ItemID?, _ version: Int?,
    _ purpose: RawSpan, detail: String?
  ) -> UInt {
    var hasher = caller.memory.hasher(caller)
    // Two names that look the same can belong to two items, so their bytes are hashed. The sizes separate the texts.
    hasher.combine(
      Int(action.rawValue) << 41 | Int(outcome.rawValue) << 33 | (version == nil ? 0 : 1 << 32)
        | (id == nil ? 0 : 1 << 50)
        | item.byteCount << 16 | purpose.byteCount)
    // An event of another item that has the name by now is not equal.
    if let id {
      hasher.combine(id.words.0)
      hasher.combine(id.words.1)
    }
    if let version { hasher.combine(version) }
    if let detail { hasher.combine(detail) }
    hasher.combine(words: item)
    hasher.combine(words: purpose)
    return UInt(bitPattern: hasher.finalize())
  }

  /// Counts an event if an equal one has an entry; false if the event needs an entry of its own.
  mutating func count(_ key: UInt, at time: Int64) -> Bool {
    guard !seen.isEmpty, let index = find(key).index else { return false }
    guard seen[index].entry > 0, seen[index].count < .max else { return false }
    seen[index].count += 1
    seen[index].last = time
    return true
  }

  /// Begins to count the repetitions of an entry.
  mutating func begin(
    _ key: UInt, _ action: AuditAction, _ outcome: AuditOutcome, as entry: Int64, at time: Int64
  ) {
    if 2 * seen.count >= places.count { grow() }
    let new = Seen(key: key, entry: entry, action: action, outcome: outcome, last: time)
    let (place, index) = find(key)
    if let index {
      seen[index] = new
    } else {
      places[place] = Self.upper(key) | UInt32(seen.count + 1)
      seen.append(new)
    }
  }

  /// The entries with at least one repetition.
  var repeated: [Seen] { seen.filter { $0.count > 0 && $0.entry > 0 } }

  /// Returns the entries with repetitions, and ends the counting.
  mutating func take() -> [Seen] {
    defer { self = AuditRepeats() }
    return repeated
  }

  /// Forgets the entries from the number `entry` on, which were lost.
  ///
  /// - Returns: the number of their repetitions.
  mutating func forget(from entry: Int64) -> Int {
    var lost = 0
    for index in seen.indices where seen[index].entry >= entry {
      lost += Int(seen[index].count)
      seen[index].entry = 0
    }
    return lost
  }

  // MARK: Places

  /// The place and index of a key; for a new key, the place that it would have, and nil.
  private func find(_ key: UInt) -> (place: Int, index: Int?) {
    let mask = places.count - 1
    var place = Int(truncatingIfNeeded: key) & mask
    while places[place] != 0 {
      let index = Int(places[place] & 0xFFFF) - 1
      if places[place] & ~0xFFFF == Self.upper(key), seen[index].key == key { return (place, index) }
      place = (place + 1) & mask
    }
    return (place, nil)
  }

  private static func upper(_ key: UInt) -> UInt32 { UInt32(truncatingIfNeeded: key >> 32) & ~0xFFFF }

  private mutating func grow() {
    places = Array(repeating: 0, count: max(64, 2 * places.count))
    for index in seen.indices { places[find(seen[index].key).place] = Self.upper(seen[index].key) | UInt32(index + 1) }
  }
}
