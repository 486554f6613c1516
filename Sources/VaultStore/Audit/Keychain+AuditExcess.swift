import VaultCore
public import VaultModel

// The limit on the part of the log that was written before an unlock.
extension Keychain {
  /// Removes the oldest chains that were written before an unlock, as far as these chains and those of the last days
  /// have more than `most` bytes. A daemon does not write so much, so somebody else has added to the file, or the log
  /// was made smaller. If all of it stayed, entries that the vault vouches for would be removed for it.
  ///
  /// Chains that the unlocked vault has begun stay. Call this before the first ``joinAudit(rows:_:)``.
  ///
  /// - Parameters:
  ///   - least: the fewest bytes for which a gap is made.
  ///   - now: Unix seconds.
  ///   - tell: makes the entry that reports how many entries were removed, as their chains state it. It is written at
  ///     the same time, in a chain of the unlocked vault.
  /// - Returns: false if this is not possible yet, because records wait to be written.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)``; ``VaultError/storage(_:)``. Nothing was removed then.
  public func dropExcessAudit(
    beyond most: Int64, atLeast least: Int64 = 1, now: Int64, tell: (_ gone: Int64) -> AuditEntry
  ) throws(VaultError) -> Bool {
    guard !bound.isAuditJoined, bound.auditJoin == nil, !hasFailed, unjoinedAuditBytes ?? 0 > most else { return true }
    guard !hasUnwrittenAudit else { return false }
    var anchor = try anchor() ?? AuditAnchor(cut: .start, joined: .start)
    let room = max(0, most - anchor.early)
    let early = try earlyBytes(after: anchor)
    guard early - room >= least else { return true }
    var excess = Excess(anchor, left: early - room)
    try eachTailRow(after: anchor) { (row: AuditRow) throws(VaultError) in try excess.meet(row) }
    let removed = excess.end(at: auditEnd)
    guard !removed.isEmpty else { return true }
    anchor.gaps = excess.gaps
    try orAsBefore { () throws(VaultError) in
      endAuditChain()
      var block = AuditBlock()
      block.add(tell(excess.entries))
      try sealAuditAnyway(&block, now: now)
      try writeAudit { () throws(VaultError) in
        for rows in removed { try database.cutAudit(rows: rows) }
        try put(anchor)
      }
    }
    return true
  }

  /// Walks the written rows that the anchor does not cover, without a tally of this process.
  private func eachTailRow(
    after anchor: AuditAnchor, _ body: (AuditRow) throws(VaultError) -> Void
  ) throws(VaultError) {
    let end = auditEnd.row
    try database.eachAuditRow(after: anchor.joined.row) { (row: AuditRow) throws(VaultError) in
      guard row.row <= end else { return false }
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
    private var removed: [ClosedRange<Int64>] = []
    /// The position after the last row that stays, or after the gap before the present row.
    private var position: AuditPosition
    /// The earlier gaps after the part that the anchor covers.
    private var known: [AuditGap]
    private var gap: AuditGap?
    /// The number of the first entry of the chains that are being removed.
    private var first: Int64?
    private var isEarly = false

    init(_ anchor: AuditAnchor, left: Int64) {
      (self.left, position) = (left, anchor.joined)
      gaps = anchor.gaps.filter { $0.rows.upperBound <= anchor.joined.row }
      known = anchor.gaps.filter { $0.rows.upperBound > anchor.joined.row }
    }

    mutating func meet(_ row: AuditRow) throws(VaultError) {
      if let next = known.first, next.rows.upperBound == row.row - 1 {
        known.removeFirst()
        add(next.rows, next.bytes, after: next.link)
        // The chain after the gap may continue a chain that was removed.
        isEarly = true
      }
      guard row.isBeginning else { return pass(row) }
      let chain = try Keychain.chain(row)
      isEarly = chain.isEarly(after: isEarly)
      // The last place is for a gap that is there already.
      if isEarly, left > 0, gaps.count + known.count < AuditAnchor.mostGaps - 1 {
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
      if let first { entries += max(0, entry - first) }
      (gap, first) = (nil, nil)
    }

    /// Ends the gap at the end of the log.
    ///
    /// - Returns: the rows to be removed.
    mutating func end(at end: AuditPosition) -> [ClosedRange<Int64>] {
      close(before: end.entries + 1)
      return removed
    }
  }
}

extension AuditChain {
  /// True if the chain was begun before an unlock, or continues such a chain.
  fileprivate func isEarly(after isBefore: Bool) -> Bool {
    switch origin {
    case .unlocked: false
    case .cold: true
    case .continued: isBefore
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
