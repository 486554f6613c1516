/// The wait of a caller after failed proofs: 1 s, doubling up to 60 s, for each uid and method.
///
/// The failures of one uid delay no other uid. The wait slows down only guesses through the socket; a person who has
/// the store's file is slowed down by Argon2id alone. An attempt is charged before it is checked, so that neither a
/// flood of attempts nor killing the daemon gives free attempts. Times are `CLOCK_BOOTTIME` nanoseconds; after a
/// restart of the machine the wait begins again.
package struct Backoff: Sendable, Equatable {
  package struct Source: Hashable, Sendable {
    package var uid: UInt32
    package var method: String
  }

  package struct Failures: Sendable, Equatable {
    package var count: Int
    /// The time before which no attempt may be made.
    package var until: Int64
  }

  package static let longest: Int64 = 60
  /// The number above which failures are not counted; the wait has reached its maximum long before.
  package static let most = 1000

  package private(set) var failures: [Source: Failures] = [:]
  /// The failures that count against unknown callers because the file could not be trusted; nil if it could.
  package private(set) var suspicion: Failures?

  /// The nanoseconds until the caller may try again; 0 for now.
  package func wait(for caller: Source, now: Int64) -> Int64 { max(0, (known(caller)?.until ?? 0) - now) }

  private func known(_ caller: Source) -> Failures? { failures[caller] ?? suspicion }

  /// Counts an attempt as failed.
  ///
  /// - Returns: the seconds that the caller must wait if the attempt really fails.
  package mutating func charge(_ caller: Source, now: Int64) -> Int64 {
    let count = min((known(caller)?.count ?? 0) + 1, Self.most)
    let seconds = Self.seconds(after: count)
    failures[caller] = Failures(count: count, until: now + seconds * 1_000_000_000)
    return seconds
  }

  /// Removes the failures of a caller whose attempt was successful.
  package mutating func forgive(_ caller: Source) {
    failures[caller] = suspicion == nil ? nil : Failures(count: 0, until: 0)
  }

  /// Takes back the charge for an attempt that could not be made.
  ///
  /// - Parameter earlier: the failures that counted against the caller before.
  package mutating func takeBack(_ caller: Source, to earlier: Failures?) { failures[caller] = earlier }

  package static func seconds(after count: Int) -> Int64 {
    count > 6 ? longest : min(longest, 1 << (max(count, 1) - 1))
  }

  // MARK: The file, one line a caller: uid, method, count, boot id, until. `* *` stands for all other callers.

  package func text(bootID: String) -> String {
    let rest = suspicion.map { "* * \($0.count) \(bootID) \($0.until)\n" } ?? ""
    return rest
      + failures.sorted { ($0.key.uid, $0.key.method) < ($1.key.uid, $1.key.method) }
      .map { "\($0.key.uid) \($0.key.method) \($0.value.count) \(bootID) \($0.value.until)\n" }.joined()
  }

  /// Reads the file. A line of an earlier boot keeps its count, and the whole wait begins again. A line that cannot be
  /// read may belong to anybody, so every caller without a line counts as having failed often.
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
        // A line for all other callers from an earlier boot keeps only its count, because nobody has failed in this
        // boot.
        let kept = Failures(count: read.count, until: parts[3] == bootID ? read.until : 0)
        suspicion = parts[0] == "*" && parts[1] == "*" && suspicion == nil ? kept : Self.worst(now)
      }
    }
  }

  package init() {}

  /// Holds the worst case against everybody, because nothing is known.
  package init(suspecting now: Int64) { suspicion = Self.worst(now) }

  private static func worst(_ now: Int64) -> Failures {
    Failures(count: 7, until: now + longest * 1_000_000_000)
  }
}
