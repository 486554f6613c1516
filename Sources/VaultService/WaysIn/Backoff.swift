/// The wait of a caller who failed to prove itself: 1 s, doubling to 60 s, for each uid and method.
///
/// No uid delays another. It slows guessing through the socket only; whoever has the file meets Argon2id alone.
/// An attempt is charged before it is checked, so that neither a flood nor killing the daemon buys free ones.
/// Times are `CLOCK_BOOTTIME` nanoseconds; after a restart of the machine the wait begins anew.
package struct Backoff: Sendable, Equatable {
  package struct Source: Hashable, Sendable {
    package var uid: UInt32
    package var method: String
  }

  package struct Failures: Sendable, Equatable {
    package var count: Int
    /// No attempt before this time.
    package var until: Int64
  }

  package static let longest: Int64 = 60
  /// Failures above this many are not counted; the wait has long been the longest.
  package static let most = 1000

  package private(set) var failures: [Source: Failures] = [:]
  /// The failures that are held against callers of whom nothing is known, since the file could not be believed; nil
  /// when it could.
  package private(set) var suspicion: Failures?

  /// Nanoseconds until the caller may try again; 0 when now.
  package func wait(for caller: Source, now: Int64) -> Int64 { max(0, (known(caller)?.until ?? 0) - now) }

  private func known(_ caller: Source) -> Failures? { failures[caller] ?? suspicion }

  /// Counts an attempt as failed and says how many seconds the caller has to wait if it really was.
  package mutating func charge(_ caller: Source, now: Int64) -> Int64 {
    let count = min((known(caller)?.count ?? 0) + 1, Self.most)
    let seconds = Self.seconds(after: count)
    failures[caller] = Failures(count: count, until: now + seconds * 1_000_000_000)
    return seconds
  }

  /// The attempt was a success: nothing is held against the caller any more.
  package mutating func forgive(_ caller: Source) {
    failures[caller] = suspicion == nil ? nil : Failures(count: 0, until: 0)
  }

  /// Takes a charge back: the attempt could not be made. `earlier` is what was held against the caller before.
  package mutating func takeBack(_ caller: Source, to earlier: Failures?) { failures[caller] = earlier }

  package static func seconds(after count: Int) -> Int64 {
    count > 6 ? longest : min(longest, 1 << (max(count, 1) - 1))
  }

  // MARK: The file, one line a caller: uid, method, count, boot id, until. `* *` is whoever has no line.

  package func text(bootID: String) -> String {
    let rest = suspicion.map { "* * \($0.count) \(bootID) \($0.until)\n" } ?? ""
    return rest
      + failures.sorted { ($0.key.uid, $0.key.method) < ($1.key.uid, $1.key.method) }
      .map { "\($0.key.uid) \($0.key.method) \($0.value.count) \(bootID) \($0.value.until)\n" }.joined()
  }

  /// Reads the file back. A line of an earlier boot keeps its count and waits its whole time again. A line that cannot be
  /// read may have been anybody's: everyone without a line is taken to have failed often.
  package init(parsing text: String, bootID: String, now: Int64) {
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: " ")
      guard parts.count == 5, let count = Int(parts[2]), count >= 0, let until = Int64(parts[4]) else {
        suspicion = Self.worst(now)
        continue
      }
      let longest = count == 0 ? 0 : now + Self.seconds(after: count) * 1_000_000_000
      let read = Failures(
        count: min(count, Self.most), until: parts[3] == bootID ? max(0, min(until, longest)) : longest)
      if let uid = UInt32(parts[0]) {
        failures[Source(uid: uid, method: String(parts[1]))] = read
      } else {
        // Of an earlier boot it keeps the count alone: nobody has failed in this one.
        let kept = Failures(count: read.count, until: parts[3] == bootID ? read.until : 0)
        suspicion = parts[0] == "*" && parts[1] == "*" && suspicion == nil ? kept : Self.worst(now)
      }
    }
  }

  package init() {}

  /// Holds the worst against everybody, because nothing is known.
  package init(suspecting now: Int64) { suspicion = Self.worst(now) }

  private static func worst(_ now: Int64) -> Failures {
    Failures(count: 7, until: now + longest * 1_000_000_000)
  }
}
