/// How long a caller who failed to prove itself has to wait: 1 s, doubling to 60 s, for each uid and method.
///
/// No uid delays another. It slows guessing through the socket only; whoever has the file meets Argon2id alone.
/// An attempt is charged before it is checked, so that neither a flood nor killing the daemon buys free ones.
/// Times are `CLOCK_BOOTTIME` nanoseconds; after a restart of the machine the wait begins anew.
struct Backoff: Sendable, Equatable {
  struct Caller: Hashable, Sendable {
    var uid: UInt32
    var method: String
  }

  struct Failures: Sendable, Equatable {
    var count: Int
    /// No attempt before this time.
    var until: Int64
  }

  static let longest: Int64 = 60

  private(set) var failures: [Caller: Failures] = [:]

  /// Nanoseconds until the caller may try again; 0 when now.
  func wait(for caller: Caller, now: Int64) -> Int64 { max(0, (failures[caller]?.until ?? 0) - now) }

  /// Counts an attempt as failed and says how many seconds the caller has to wait if it really was.
  mutating func charge(_ caller: Caller, now: Int64) -> Int64 {
    let count = (failures[caller]?.count ?? 0) + 1
    let seconds = Self.seconds(after: count)
    failures[caller] = Failures(count: count, until: now + seconds * 1_000_000_000)
    return seconds
  }

  /// The attempt was a success: nothing is held against the caller any more.
  mutating func forgive(_ caller: Caller) { failures[caller] = nil }

  static func seconds(after count: Int) -> Int64 { count > 6 ? longest : min(longest, 1 << (max(count, 1) - 1)) }

  // MARK: The file, one line a caller: uid, method, count, boot id, until.

  func text(bootID: String) -> String {
    failures.sorted { ($0.key.uid, $0.key.method) < ($1.key.uid, $1.key.method) }
      .map { "\($0.key.uid) \($0.key.method) \($0.value.count) \(bootID) \($0.value.until)\n" }.joined()
  }

  /// Reads the file back. A line that cannot be read is skipped: the file holds no secret and opens nothing. A line of
  /// an earlier boot keeps its count and waits its whole time again.
  init(parsing text: String, bootID: String, now: Int64) {
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: " ")
      guard parts.count == 5, let uid = UInt32(parts[0]), let count = Int(parts[2]), count > 0,
        let until = Int64(parts[4])
      else { continue }
      let longest = now + Self.seconds(after: count) * 1_000_000_000
      failures[Caller(uid: uid, method: String(parts[1]))] = Failures(
        count: count, until: parts[3] == bootID ? min(until, longest) : longest)
    }
  }

  init() {}
}
