import VaultCore
import VaultModel

/// Consecutive chains of the audit log that earlier versions of the program left sealed to the keys from before a
/// rekey. Their entries waited in memory when the new store took the old one's place, and were written into the new
/// store unchanged.
///
/// Nobody can read these chains any more. It is known all the same that nothing else has happened to them: the chain
/// after them, which the vault's present keys began, names the link to their last record, and its first records report
/// the rekey.
public struct AuditRemains: Hashable, Sendable {
  let rows: ClosedRange<Int64>
  /// The numbers of the entries in these chains.
  public let entries: ClosedRange<Int64>
  /// The times at which the first of these chains and the chain after them were begun, Unix seconds.
  public let times: (since: Int64, until: Int64)

  /// The number of entries.
  public var count: Int64 { entries.upperBound - entries.lowerBound + 1 }

  /// The item and the detail of the log's entry that reports these chains as set aside.
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

// The search for such chains, and the operation that sets them aside.
extension Keychain {
  /// The detail of the entry of a rekey that took the whole log along.
  public static let rekeyedWithLog = "with the whole log"
  /// The number of records at the beginning of a chain in which ``tellsOfRekey(_:_:)`` looks for the entry of a rekey.
  /// That entry is made in the same turn in which the new store takes the old one's place, so only entries that waited
  /// in memory then come before it.
  private static let recordsToRekey = 8

  /// The chains that a rekey left sealed to the old keys, and that were not set aside yet. `isWhole` is false if the
  /// search ended at a row with another fault.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when the log's anchor is not the one that was stored
  ///   last.
  func auditRemains() throws(VaultError) -> (found: [AuditRemains], isWhole: Bool) {
    let anchor = try anchor()
    var position = anchor?.cut ?? .start
    var bounds = AuditBounds(position)
    var found: [AuditRemains] = []
    var begun: Run?
    try database.eachAuditRow(after: position.row) { (row: AuditRow) throws(VaultError) in
      guard row.isBeginning else {
        guard row.row == position.row + 1 else { return false }
        position.pass(row.bytes, entries: 0)
        bounds.pass(record: row.bytes.count)
        return true
      }
      guard let chain = try? Self.chain(row) else { return false }
      if let gap = anchor?.gap(before: row.row), gap.rows.lowerBound == position.row + 1, gap.link == position.link {
        position.pass(gap, before: chain)
        bounds.pass(gap)
      }
      guard row.row == position.row + 1, chain.previous == position.link, bounds.take(chain.first - 1) else {
        return false
      }
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
    // If the log ends with unreadable chains, no chain after them shows that a rekey left them.
    let last = try database.lastAuditRow()
    return (found, begun == nil && last <= position.row)
  }

  /// Consecutive chains that cannot be read.
  private struct Run {
    /// The row of the first chain's beginning.
    let row: Int64
    let chain: AuditChain
    /// The times at which the chains were begun. The links from chain to chain cover these times.
    var times: [Int64] = []

    /// True when a rekey can have left all of these chains. A rekey left what waited in memory: one chain, or a few
    /// chains that were begun as the rekey ended. Whoever has the disk can make any chain unreadable, but cannot give
    /// it a later time.
    func isLeft(byRekeyAt time: Int64) -> Bool {
      times.count == 1
        || times.allSatisfy { max(Seconds.from($0, to: time), Seconds.from(time, to: $0)) <= Self.longest }
    }

    /// The most seconds that entries wait in memory, with time to spare for a slow disk.
    private static let longest: Int64 = 10
  }

  /// True when the seed of a chain is sealed to a box other than the vault's.
  private func isSealedToOthers(_ chain: AuditChain) throws(VaultError) -> Bool {
    try withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) { _ = try chain.seed(key) } catch { return true }
      return false
    }
  }

  /// True when the first records of a chain report that a rekey was done.
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
            // Later versions report in the detail that they took the log along.
            if entry.action == .rekey, entry.outcome == .ok, entry.caller == nil, entry.detail == nil { isTold = true }
          }
        }
      } catch { break }
    }
    return isTold
  }

  /// Sets aside the chains that a rekey left sealed to the old keys, if nothing else is wrong. The rows stay as they
  /// are; the log records which entries they hold, and counts as intact without them. A check of the store is needed
  /// after that.
  ///
  /// - Parameter now: Unix seconds.
  /// - Returns: the chains that were set aside; empty when there are none, and nothing is known to be wrong. A check in
  ///   progress may still find a fault.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when anything else is wrong with the log, or is known
  ///   to be wrong with the store; ``VaultError/storage(_:)``. Then nothing has changed.
  public func setAsideAuditRemains(now: Int64) throws(VaultError) -> [AuditRemains] {
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    guard holdsAllKeys else { throw .locked }
    let (remains, isWhole) = try auditRemains()
    guard !remains.isEmpty || !isWhole || hasFailed else { return [] }
    try checkForOthers(than: remains.map { AuditWalk.Fault($0) })
    guard !remains.isEmpty else { return [] }
    var anchor = try anchor() ?? .beginning
    anchor.aside = (anchor.aside + remains.map(\.rows)).sorted { $0.lowerBound < $1.lowerBound }
    // A note that cannot be written must not stay: the next attempt makes another one.
    try orAsBefore { () throws(VaultError) in
      for one in remains { try note(one, now) }
      anchor.join(to: auditEnd, early: earlyAudit)
      try writeUnwritten(anchor)
    }
    // The next check finds any other fault.
    verdict = Verdict()
    database.trust()
    beginVerification()
    return remains
  }

  /// Checks that nothing other than the expected faults is wrong with the log, and that nothing else is known to be
  /// wrong with the store.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when anything else is wrong.
  private func checkForOthers(than expected: [AuditWalk.Fault]) throws(VaultError) {
    let known = Set(expected.map { Finding($0).text })
    let met = [verdict.failure?.text].compactMap(\.self) + verdict.met.sorted()
    if let other = met.first(where: { !known.contains($0) }) { throw .corrupt(other) }
    let walk = try AuditWalk(self, isTail: false)
    while try !walk.step(self, rows: .max) {}
    let found = walk.faults.lazy.map { Finding($0).text }
    if let other = found.first(where: { !known.contains($0) }) { throw .corrupt(other) }
  }

  private func note(_ remains: AuditRemains, _ now: Int64) throws(VaultError) {
    var block = AuditBlock()
    let note = remains.note
    block.add(.audit, .ok, time: now, caller: nil, item: note.item, detail: note.detail)
    try sealAuditAnyway(&block, now: now)
  }
}
