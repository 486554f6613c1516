internal import VaultModel

/// Gets that are equal in all but time: the first is an entry, and those of the minute after it are counted.
///
/// It holds no name: what is equal is told by a hash under a key of the process.
struct AuditRepeats {
  /// The time for which they are counted, in nanoseconds of `CLOCK_BOOTTIME`.
  static let span: Int64 = 60 * 1_000_000_000
  /// The most that are told apart at a time.
  private static let most = 65_536

  private struct Seen {
    let number: Int64
    let began: Int64
    var count: UInt32 = 0
    var last: Int64
  }

  private var seen: [Int: Seen] = [:]

  var isEmpty: Bool { seen.isEmpty }

  /// What stands for all that is equal: Swift's hash, whose key is drawn at the start of the process.
  static func key(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller, _ item: String?, _ version: Int?,
    _ purpose: String?
  ) -> Int {
    var hasher = Hasher()
    hasher.combine(action)
    hasher.combine(outcome)
    hasher.combine(caller.memory.identity(caller))
    hasher.combine(item)
    hasher.combine(version)
    hasher.combine(purpose)
    return hasher.finalize()
  }

  /// Counts one, if one that is equal was met within the minute; false when it is to be an entry.
  mutating func count(_ key: Int, now: Int64, wall: Int64) -> Bool {
    guard let place = seen.index(forKey: key), now - seen.values[place].began < Self.span else { return false }
    seen.values[place].count += 1
    seen.values[place].last = wall
    return true
  }

  /// Has those that are equal be counted from now on.
  mutating func begin(_ key: Int, as number: Int64, now: Int64, wall: Int64) {
    guard seen.count < Self.most else { return }
    seen[key] = Seen(number: number, began: now, last: wall)
  }

  /// The counts of those whose minute is over, in the order of their entries.
  mutating func take(until now: Int64) -> [(number: Int64, count: UInt32, last: Int64)] {
    // A time that never comes is the end of all.
    let over = seen.filter { now == .max || now - $0.value.began >= Self.span }
    for key in over.keys { seen[key] = nil }
    return over.values.filter { $0.count > 0 }.map { ($0.number, $0.count, $0.last) }.sorted { $0.number < $1.number }
  }
}
