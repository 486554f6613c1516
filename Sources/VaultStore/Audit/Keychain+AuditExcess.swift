import VaultCore
public import VaultModel

// The limit on the part of the log that was written before an unlock.
extension Keychain {
  /// Removes the oldest chains that were written before an unlock, as far as these chains and those of the last days
  /// have more than `most` bytes. A daemon does not write so much, so somebody else has added to the file, or the log
  /// was made smaller. If all of it stayed, entries that the vault vouches for would be removed for it.
  ///
  /// Chains that the unlocked vault has begun stay. Call this before the first ``joinAudit(rows:_:)``, which reports
  /// the fault if nothing can be removed because the log is damaged or has no place for another gap.
  ///
  /// - Parameters:
  ///   - least: the fewest bytes beyond `most` for which anything is removed.
  ///   - now: Unix seconds.
  ///   - tell: makes the entry that reports how many entries were removed, as their chains state it. It is written at
  ///     the same time, in a chain of the unlocked vault.
  /// - Returns: false if this is not possible yet, because records wait to be written.
  /// - Throws: ``VaultError/locked``; ``VaultError/storage(_:)``. Nothing was removed then.
  public func dropExcessAudit(
    beyond most: Int64, atLeast least: Int64, now: Int64, tell: (_ gone: Int64) -> AuditEntry
  ) throws(VaultError) -> Bool {
    guard !bound.isAuditJoined, bound.auditJoin == nil, !hasFailed, unjoinedAuditBytes ?? 0 > most else { return true }
    guard !hasUnwrittenAudit else { return false }
    do throws(VaultError) {
      var anchor = try anchor() ?? .beginning
      guard let excess = try excess(after: anchor, beyond: most, atLeast: least) else { return true }
      anchor.gaps = excess.gaps
      try remove(excess, anchor, now: now, tell)
    } catch .corrupt(let reason) {
      bound.auditFault = reason
    }
    return true
  }

  /// The chains to be removed; nil if all stay.
  private func excess(
    after anchor: AuditAnchor, beyond most: Int64, atLeast least: Int64
  ) throws(VaultError) -> Excess? {
    // The entries from before earlier unlocks stay, but they count: however little is added before each unlock, all of
    // it together stays within the limits.
    let beyond = anchor.early + (try earlyBytes(after: anchor)) - most
    guard beyond >= least else { return nil }
    var excess = Excess(anchor, left: beyond)
    try eachTailRow(after: anchor) { (row: AuditRow) throws(VaultError) in try excess.meet(row) }
    try excess.end(at: auditEnd)
    return excess.removed.isEmpty ? nil : excess
  }

  /// Removes chains, and stores the anchor that names the gaps.
  private func remove(
    _ excess: Excess, _ anchor: AuditAnchor, now: Int64, _ tell: (_ gone: Int64) -> AuditEntry
  ) throws(VaultError) {
    try orAsBefore { () throws(VaultError) in
      endAuditChain()
      var block = AuditBlock()
      block.add(tell(excess.entries))
      try sealAuditAnyway(&block, now: now)
      try writeAudit { () throws(VaultError) in
        for rows in excess.removed { try database.cutAudit(rows: rows) }
        try put(anchor)
      }
    }
  }

  /// Walks the written rows that the anchor does not cover, without a tally of this process.
  private func eachTailRow(
    after anchor: AuditAnchor, _ body: (AuditRow) throws(VaultError) -> Void
  ) throws(VaultError) {
    try database.eachAuditRow(after: anchor.joined.row, upTo: auditEnd.row) { (row: AuditRow) throws(VaultError) in
      try body(row)
      return true
    }
  }

  /// The bytes, after the part that the anchor covers, that were written before an unlock.
  private func earlyBytes(after anchor: AuditAnchor) throws(VaultError) -> Int64 {
    var (early, isEarly) = (Int64(0), false)
    try eachTailRow(after: anchor) { (row: AuditRow) throws(VaultError) in
      // The chain after a gap may continue a chain that was removed.
      if row.isBeginning { isEarly = try Self.chain(row).isEarly(after: isEarly || anchor.gap(before: row.row) != nil) }
      if isEarly { early += Int64(row.bytes.count) }
    }
    return early
  }

  /// The oldest chains from before an unlock, as they are found.
  private struct Excess {
    /// The gaps that the log has without these chains.
    private(set) var gaps: [AuditGap]
    /// The number of entries in these chains, as far as the chains state it.
    private(set) var entries: Int64 = 0
    /// The bytes that are still to be removed.
    private var left: Int64
    /// The rows to be removed.
    private(set) var removed: [ClosedRange<Int64>] = []
    /// The position after the last row that stays, or after the gap before the present row.
    private var position: AuditPosition
    /// The last row, and the bytes of the log up to there.
    private var (last, bytes): (Int64, Int64)
    /// The bounds of the number of entries before the present row.
    private var bounds: AuditBounds
    /// The earlier gaps after the part that the anchor covers.
    private var known: [AuditGap]
    private var gap: AuditGap?
    /// The number of the first entry of the chains that are being removed.
    private var first: Int64?
    private var isEarly = false

    init(_ anchor: AuditAnchor, left: Int64) {
      (self.left, position) = (left, anchor.joined)
      (last, bytes, bounds) = (anchor.joined.row, anchor.joined.bytes, AuditBounds(anchor.joined))
      gaps = anchor.gaps.filter { $0.rows.upperBound <= anchor.joined.row }
      known = anchor.gaps.filter { $0.rows.upperBound > anchor.joined.row }
    }

    /// Meets the next row.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` when rows are missing, or a chain states a number that cannot be. What is
    ///   removed can be compared with nothing later on.
    mutating func meet(_ row: AuditRow) throws(VaultError) {
      if let next = known.first, next.rows.lowerBound == last + 1, next.rows.upperBound == row.row - 1 {
        known.removeFirst()
        (last, bytes) = (next.rows.upperBound, bytes + next.bytes)
        bounds.pass(next)
        add(next.rows, next.bytes, after: next.link)
        // The chain after the gap may continue a chain that was removed.
        isEarly = true
      }
      guard row.row == last + 1 else { throw Self.damaged }
      (last, bytes) = (row.row, bytes + Int64(row.bytes.count))
      guard row.isBeginning else {
        bounds.pass(record: row.bytes.count)
        return pass(row)
      }
      let chain = try Keychain.chain(row)
      guard bounds.take(chain.first - 1) else { throw Self.damaged }
      isEarly = chain.isEarly(after: isEarly)
      if isEarly, left > 0 {
        // If these chains stayed, entries that the vault vouches for would have to go for them.
        guard gap != nil || gaps.count + known.count < AuditAnchor.mostGaps else { throw Self.tooMany }
        if first == nil { first = chain.first }
      } else {
        close(before: chain.first)
        position = AuditPosition(before: chain, in: row.row)
      }
      pass(row)
    }

    private mutating func pass(_ row: AuditRow) {
      let bytes = Int64(row.bytes.count)
      if first != nil {
        add(row.row...row.row, bytes, after: position.link)
        left -= bytes
        removed.add(row.row)
      } else if row.isBeginning, let chain = try? Keychain.chain(row) {
        position.pass(chain)
      } else {
        position.pass(row.bytes, entries: 0)
      }
    }

    /// Adds rows to the gap, which begins with them if there is none.
    private mutating func add(_ rows: ClosedRange<Int64>, _ bytes: Int64, after link: Digest) {
      if let begun = gap {
        gap = AuditGap(
          rows: begun.rows.lowerBound...rows.upperBound, bytes: begun.bytes + bytes, link: begun.link)
      } else {
        gap = AuditGap(rows: rows, bytes: bytes, link: link)
      }
    }

    /// Ends the gap before a chain that stays.
    private mutating func close(before entry: Int64) {
      if let gap { gaps.append(gap) }
      if let first { entries += entry - first }
      (gap, first) = (nil, nil)
    }

    /// Ends the gap at the end of the log.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` when the log does not end there.
    mutating func end(at end: AuditPosition) throws(VaultError) {
      guard end.row == last, end.bytes == bytes, bounds.take(end.entries) else { throw Self.damaged }
      close(before: end.entries + 1)
    }

    private static var damaged: VaultError {
      .corrupt("the audit log is damaged, so nothing was removed for what was written before an unlock")
    }

    private static var tooMany: VaultError {
      let times = "\(AuditAnchor.mostGaps) times already"
      return .corrupt(
        "more was written into the audit log before an unlock than has room, and such entries were removed \(times)")
    }
  }
}

extension [ClosedRange<Int64>] {
  /// Adds the next row.
  fileprivate mutating func add(_ row: Int64) {
    if let last, last.upperBound == row - 1 {
      self[count - 1] = last.lowerBound...row
    } else {
      append(row...row)
    }
  }
}
