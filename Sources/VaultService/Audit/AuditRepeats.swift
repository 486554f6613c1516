internal import VaultModel

/// Events of one subject that are equal in all but time, gets, searches and refusals: the first is an entry, and
/// those of the minute after it are counted.
///
/// It holds no name: what is equal is told by a hash under a key of the process.
struct AuditRepeats {
  /// The time for which they are counted, in seconds.
  static let span: Int64 = 60
  /// The most that are told apart at a time, of one subject.
  static let most = 4096
  /// The same of all subjects together.
  static let mostOfAll = 16_384

  /// An entry, and what was counted after it.
  struct Seen {
    /// What stands for all that is equal.
    fileprivate let key: UInt
    /// The number of the entry; 0 when it was lost.
    fileprivate(set) var entry: Int64
    let action: AuditAction
    let outcome: AuditOutcome
    /// The time of the last one, Unix seconds.
    fileprivate(set) var last: Int64
    fileprivate(set) var count: UInt32 = 0
  }

  private var seen: [Seen] = []
  /// Where each of them is: at the place that its key says, or at the next one that was free, the upper half of the key's
  /// bits that say no place and, in 16 bits, its index and 1; 0 where there is none. Their number is a power of two, of which
  /// at most half are taken, so that most of what was never met is told from a few bytes.
  private var places: [UInt32] = []

  /// True when one more can be told apart.
  var hasRoom: Bool { seen.count < Self.most }

  /// What stands for all that is equal: Swift's hash, whose key is drawn at the start of the process.
  static func key(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller, _ item: RawSpan, _ id: ItemID?, _ version: Int?,
    _ purpose: RawSpan, detail: String?
  ) -> UInt {
    var hasher = caller.memory.hasher(caller)
    // Two names that look the same can be two items': their bytes count. The sizes say which are whose.
    hasher.combine(
      Int(action.rawValue) << 41 | Int(outcome.rawValue) << 33 | (version == nil ? 0 : 1 << 32)
        | (id == nil ? 0 : 1 << 50)
        | item.byteCount << 16 | purpose.byteCount)
    // Another item that has the name by now is not equal.
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

  /// Counts one, if one that is equal was met; false when it is to be an entry.
  mutating func count(_ key: UInt, at time: Int64) -> Bool {
    guard !seen.isEmpty, let index = find(key).index else { return false }
    guard seen[index].entry > 0, seen[index].count < .max else { return false }
    seen[index].count += 1
    seen[index].last = time
    return true
  }

  /// Has those that are equal to an entry be counted from now on.
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

  /// Those of which more than the entry was met.
  var repeated: [Seen] { seen.filter { $0.count > 0 && $0.entry > 0 } }

  /// The same, of which nothing is counted any more.
  mutating func take() -> [Seen] {
    defer { self = AuditRepeats() }
    return repeated
  }

  /// Forgets entries that were lost, from that number on.
  ///
  /// - Returns: how much was counted after them.
  mutating func forget(from entry: Int64) -> Int {
    var lost = 0
    for index in seen.indices where seen[index].entry >= entry {
      lost += Int(seen[index].count)
      seen[index].entry = 0
    }
    return lost
  }

  // MARK: Places

  /// The index of a key, and its place; where it was never met, the place that it would have.
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
