import VaultCore
import VaultModel

/// Chains of the audit log, one after the other, that earlier versions left sealed to the keys from before a rekey:
/// their entries waited in memory when the new store took the old one's place, and were written into it as they were.
///
/// Nobody can read them any more. That nothing else has happened to them is known all the same: the chain after them,
/// which the vault's present keys began, names the link to their last record, and its first records tell of the rekey.
public struct AuditRemains: Hashable, Sendable {
  let rows: ClosedRange<Int64>
  /// The numbers of their entries.
  public let entries: ClosedRange<Int64>
  /// The times at which the first of them and the chain after them were begun, Unix seconds.
  public let times: (since: Int64, until: Int64)

  /// The number of entries.
  public var count: Int64 { entries.upperBound - entries.lowerBound + 1 }

  /// Their outcome, in the words of the log.
  var note: (item: String, detail: String) {
    let range = count == 1 ? "entry \(entries.lowerBound)" : "entries \(entries.lowerBound) to \(entries.upperBound)"
    let (since, until) = (Timestamp.format(times.since), Timestamp.format(times.until))
    return ("\(range): set aside", "\(count) from \(since) to \(until), sealed to the keys from before a rekey")
  }

  public static func == (one: Self, other: Self) -> Bool { one.rows == other.rows && one.entries == other.entries }

  public func hash(into hasher: inout Hasher) { hasher.combine(rows) }
}

extension AuditWalk.Fault {
  init(_ remains: AuditRemains) {
    self.init(
      first: remains.entries.lowerBound, last: remains.entries.upperBound,
      text: "sealed to the keys from before a rekey, and cannot be read; `vault audit repair` sets them aside",
      isRange: true)
  }
}

// Finding them, and setting them aside.
extension Keychain {
  /// The detail of the entry of a rekey that has taken the whole log along.
  public static let rekeyedWithLog = "with the whole log"
  /// The most records of a chain among which the word of the rekey before it is looked for: its entry is made in the
  /// turn in which the new store takes the old one's place, and nothing but what waited in memory comes before it.
  private static let recordsToRekey = 8

  /// The chains that a rekey left sealed to the old keys, and that were not set aside.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` where the log's anchor is not the one that was stored
  ///   last.
  func auditRemains() throws(VaultError) -> [AuditRemains] {
    let anchor = try anchor()
    var position = anchor?.cut ?? .start
    var found: [AuditRemains] = []
    var begun: Run?
    try database.eachAuditRow(after: position.row) { (row: AuditRow) throws(VaultError) in
      guard row.row == position.row + 1 else { return false }
      guard row.isBeginning else {
        position.pass(row.bytes, entries: 0)
        return true
      }
      guard let chain = try? Self.chain(row), chain.previous == position.link else { return false }
      if anchor?.isAside(row.row) != true, !isRight(chain, row.row), try isSealedToOthers(chain) {
        if begun == nil { begun = Run(row: row.row, chain: chain) }
        begun?.times.append(chain.time)
      } else if let run = begun, chain.first > run.chain.first {
        begun = nil
        guard chain.origin == .unlocked, isRight(chain, row.row), run.isLeft(byRekeyAt: chain.time),
          try tellsOfRekey(chain, row.row)
        else { return false }
        found.append(
          AuditRemains(
            rows: run.row...row.row - 1, entries: run.chain.first...chain.first - 1,
            times: (run.chain.time, chain.time)))
      }
      position.pass(chain)
      return true
    }
    return found
  }

  /// Chains that cannot be read, one after the other.
  private struct Run {
    /// The beginning of the first of them.
    let row: Int64
    let chain: AuditChain
    /// The times at which they were begun, which the links cover.
    var times: [Int64] = []

    /// True when a rekey can have left all of them: it left what waited in memory, which is one chain, or a few that
    /// were begun as it ended. Whoever has the disk can make any chain unreadable, but not a later one of it.
    func isLeft(byRekeyAt time: Int64) -> Bool {
      times.count == 1
        || times.allSatisfy { max(Seconds.from($0, to: time), Seconds.from(time, to: $0)) <= Self.longest }
    }

    /// The seconds that entries wait in memory at most, with room for a slow disk.
    private static let longest: Int64 = 10
  }

  /// True when the seed of a chain is for another box than the vault's.
  private func isSealedToOthers(_ chain: AuditChain) throws(VaultError) -> Bool {
    try withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) { _ = try chain.seed(key) } catch { return true }
      return false
    }
  }

  /// True when the first records of a chain tell that a rekey was done.
  private func tellsOfRekey(_ chain: AuditChain, _ beginning: Int64) throws(VaultError) -> Bool {
    var reading = try withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) {
        return AuditWalk.Reading(chain: beginning, next: beginning + 1, key: AuditKey(seed: try chain.seed(key)))
      } catch { throw .corrupt("the seed does not open") }
    }
    let plaintext = Scratch()
    defer { plaintext.wipe() }
    var isTold = false
    for number in beginning + 1...beginning + Int64(Self.recordsToRekey) where !isTold {
      guard let row = try database.auditRow(number), row.chain == beginning else { break }
      do throws(CryptoError) {
        try reading.open(row, vault, into: plaintext)
        _ = try plaintext.withBytes { (bytes: RawSpan) throws(CryptoError) in
          try AuditBlock.read(bytes) { _, entry in
            // Later versions say that they have taken the log along.
            if entry.action == .rekey, entry.outcome == .ok, entry.caller == nil, entry.detail == nil { isTold = true }
          }
        }
      } catch { break }
    }
    return isTold
  }

  /// Sets aside what a rekey left sealed to the old keys, where nothing else is wrong: the rows stay as they are, and
  /// the log says which entries they have and is whole without them. A check of the store is needed after that.
  ///
  /// - Parameter now: Unix seconds.
  /// - Returns: what was set aside; nothing where there is nothing of that kind.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` where anything else is wrong with the log, or is known
  ///   to be with the store; ``VaultError/storage(_:)``. Nothing is changed then.
  public func setAsideAuditRemains(now: Int64) throws(VaultError) -> [AuditRemains] {
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    guard holdsAllKeys else { throw .locked }
    let remains = try auditRemains()
    guard !remains.isEmpty else { return [] }
    let expected = remains.map { AuditWalk.Fault($0) }
    try checkForOthers(than: expected)
    for one in remains { try note(one, now) }
    var anchor = try anchor() ?? AuditAnchor(cut: .start, joined: .start)
    anchor.aside = (anchor.aside + remains.map(\.rows)).sorted { $0.lowerBound < $1.lowerBound }
    anchor.joined = auditEnd
    try writeUnwritten(anchor)
    // Whatever else there is, the next check finds.
    verdict = Verdict()
    database.trust()
    beginVerification()
    return remains
  }

  /// - Throws: ``VaultError/corrupt(_:)`` where anything else is wrong than these faults.
  private func checkForOthers(than expected: [AuditWalk.Fault]) throws(VaultError) {
    let walk = try AuditWalk(self, isTail: false)
    while try !walk.step(self, rows: .max) {}
    let known = Set(expected.map { Finding($0).text })
    let met = verdict.met.union(walk.faults.map { Finding($0).text })
    if let other = met.first(where: { !known.contains($0) }) { throw .corrupt(other) }
  }

  private func note(_ remains: AuditRemains, _ now: Int64) throws(VaultError) {
    var block = AuditBlock()
    let note = remains.note
    block.add(.audit, .ok, time: now, caller: nil, item: note.item, detail: note.detail)
    try sealAuditAnyway(&block, now: now)
  }
}
