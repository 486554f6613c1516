internal import VaultBytes
public import VaultCore
public import VaultModel

// The removal of the oldest entries of the audit log.
extension Keychain {
  /// The number of bytes that are removed at a time, so that nobody waits for long.
  private static let cutAtATime: Int64 = 256 << 10

  /// Removes the oldest chains as long as the log is longer than `bytes` or these chains are older than `age`. The
  /// chain that is being written stays.
  ///
  /// - Parameters:
  ///   - age: the age in seconds, as ``AuditChain/age`` counts; nil to remove no chain for its age.
  ///   - now: Unix seconds.
  ///   - steps: the most parts to remove.
  ///   - usage: the subjects' use of the log, to be stored with the anchor.
  ///   - carry: returns the entries of a part that must be kept, if at least some of that part is removed because the
  ///     log is too long, and not for its age. It gets the entries of the part and the number of bytes that they take.
  ///     The kept entries are written at the end of the log at the same time, and must take fewer bytes.
  ///   - tell: makes the entry that reports how many entries were removed; it is written at the same time.
  ///   - then: called after that, to seal what must stand after these entries.
  /// - Returns: the number of entries that were removed.
  /// - Throws: ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``. The log is then as it was
  ///   before the part that could not be removed, and nothing of that part was written again.
  public func cutAudit(
    toBytes bytes: Int64, olderThan age: Int64?, now: Int64, steps: Int = .max, usage: AuditUsage? = nil,
    carry: (_ entries: [(number: Int64, entry: AuditEntry)], _ bytes: Int64) -> [AuditEntry] = { _, _ in [] },
    tell: (_ gone: Int64) -> AuditEntry? = { _ in nil }, then: () -> Void = {}
  ) throws(VaultError) -> Int64 {
    // A salvage copies the log as it found it.
    guard bound.isAuditJoined, !hasFailed, !isBeingSalvaged, var anchor = try anchor() else { return 0 }
    let oldest = age.map { auditAge(at: now) - $0 } ?? .min
    let before = anchor.cut.entries
    var left = steps
    while left > 0, let next = try cutEnd(of: anchor, bytes: bytes, oldest) {
      left -= 1
      let found = next.isForLength ? try entries(from: anchor.cut, to: next.end) : []
      var entries = next.isForLength ? carry(found, anchor.bytes(after: anchor.cut, to: next.end)) : []
      if let told = tell(next.end.entries - anchor.cut.entries) { entries.append(told) }
      (anchor.cut, anchor.isVouchedFor) = (next.end, next.isVouchedFor)
      anchor.aside.removeAll { $0.upperBound <= next.end.row }
      anchor.gaps.removeAll { $0.rows.upperBound <= next.end.row }
      try orAsBefore { () throws(VaultError) in
        try seal(entries, now: now)
        then()
        if let usage { anchor.keep(try sealed(usage), at: usage.time) }
        anchor.join(to: hasUnwrittenAudit ? auditEnd : anchor.joined, early: earlyAudit)
        try writeAudit { () throws(VaultError) in
          try database.cutAudit(upTo: anchor.cut.row)
          try put(anchor)
        }
      }
      earlyAudit = 0
    }
    return anchor.cut.entries - before
  }

  private func seal(_ entries: [AuditEntry], now: Int64) throws(VaultError) {
    var block = AuditBlock()
    for entry in entries {
      if block.isFull || !block.hasRoom(for: entry) { try sealAuditAnyway(&block, now: now) }
      block.add(entry)
    }
    try sealAuditAnyway(&block, now: now)
  }

  /// Runs `body`; if it fails, restores the sealed and unwritten part of the log from before.
  func orAsBefore<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    var before: AuditWriting? =
      switch bound.audit {
      case .some(let writing): AuditWriting(copying: writing)
      case .none: nil
      }
    do throws(VaultError) { return try body() } catch {
      bound.audit = before.take()
      throw error
    }
  }

  /// The end of the part to be removed next.
  private struct CutEnd {
    var end: AuditPosition
    /// True when the chain at the end of the part is authenticated.
    var isVouchedFor: Bool
    /// True when at least some of the part is removed because the log is too long, and not because of its age.
    var isForLength: Bool
  }

  /// The end of the oldest chains to be removed, or of some of them if they are long; nil when no chain must be
  /// removed.
  private func cutEnd(of anchor: AuditAnchor, bytes: Int64, _ oldest: Int64) throws(VaultError) -> CutEnd? {
    let (cut, joined) = (anchor.cut, anchor.joined)
    // A log that is too long is made a bit shorter than necessary, so that this does not happen for each record.
    let least = anchor.bytes(after: cut, to: joined) > bytes ? bytes - bytes / 256 : bytes
    var (position, isVouchedFor) = (cut, anchor.isVouchedFor)
    var bounds = AuditBounds(cut)
    var isForLength = false
    var next: CutEnd?
    // The time and the age of the previous chain, and whether the unlocked vault began that chain or the chains that it
    // continues.
    var (last, isKnown): ((time: Int64, age: Int64)?, Bool) = (nil, true)
    try database.eachAuditRow(after: cut.row, upTo: joined.row) { (row: AuditRow) throws(VaultError) in
      if row.isBeginning {
        let chain = try Self.chain(row)
        if let gap = anchor.gap(before: row.row), gap.rows.lowerBound == position.row + 1 {
          position.pass(gap, before: chain)
          bounds.pass(gap)
          (isVouchedFor, isKnown) = (false, false)
        }
        // A log with a missing row is not cut, because the missing part would be forgotten. Nor is one with a number
        // that cannot be, because the anchor would have the number.
        guard row.row == position.row + 1, row.row <= joined.row, bounds.take(chain.first - 1),
          chain.first - 1 <= joined.entries
        else { return false }
        switch chain.origin {
        case .unlocked: isKnown = true
        case .cold: isKnown = false
        case .continued: break
        }
        var age = chain.age
        // The age that a chain of a cold start states is not believed.
        if let last, !isKnown { age = AuditChain.age(at: chain.time, since: last.time, last.age) }
        last = (chain.time, age)
        if position != cut {
          // The age of a chain is that of its beginning; the whole chain is older than the beginning of the next one.
          let isOld = age <= oldest
          let isLong = anchor.bytes(after: next?.end ?? cut, to: joined) > least
          guard isOld || isLong else { return false }
          isForLength = isForLength || !isOld
          position.entries = chain.first - 1
          next = CutEnd(end: position, isVouchedFor: isVouchedFor, isForLength: isForLength)
          guard position.bytes - cut.bytes < Self.cutAtATime else { return false }
        }
        isVouchedFor = chain.isVouchedFor(after: isVouchedFor)
        position.pass(chain)
      } else {
        guard row.row == position.row + 1, row.row <= joined.row else { return false }
        position.pass(row.bytes, entries: 0)
        bounds.pass(record: row.bytes.count)
      }
      return true
    }
    return next
  }

  /// The entries of a part that begins where the log begins.
  private func entries(
    from start: AuditPosition, to end: AuditPosition
  ) throws(VaultError) -> [(number: Int64, entry: AuditEntry)] {
    let walk = try auditWalk(noted: [:])
    guard walk.start.row == start.row else { return [] }
    var entries: [(number: Int64, entry: AuditEntry)] = []
    var isOver = false
    while !isOver, walk.position.row < end.row {
      isOver = try walk.step(self, rows: 32) { number, entry in
        if number <= end.entries { entries.append((number, entry)) }
      }
    }
    return entries
  }

  // MARK: The use of the log

  /// The subjects' use of the log when it was last anchored; nil when it was not stored.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when it is not the one that was stored last.
  public func auditUsage() throws(VaultError) -> AuditUsage? {
    guard let sealed = try anchor()?.usage, !sealed.isEmpty else { return nil }
    let place = usagePlace
    return try withGrantsKey(.whenUnlocked) { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) {
        let opened = try sealed.withSpan { (bytes: RawSpan) throws(CryptoError) in
          try AEAD.open(bytes, key: key, associatedData: place)
        }
        return try opened.withBytes { (bytes: RawSpan) throws(CryptoError) in try AuditUsage(decoding: bytes) }
      } catch { throw .corrupt("the record of who uses the audit log's space cannot be read") }
    }
  }

  /// Seals the usage with the key of the grants. The usage names subjects by hashes that anybody could compute, so it
  /// is sealed as grants are.
  func sealed(_ usage: AuditUsage) throws(VaultError) -> [UInt8] {
    let (bytes, place) = (usage.encoded, usagePlace)
    return try withGrantsKey(.whenUnlocked) { (key: borrowing SecureBytes) in
      bytes.withSpan { AEAD.seal($0, key: key, associatedData: place) }
    }
  }

  private var usagePlace: AssociatedData {
    AssociatedData(vault: vault, table: .meta, number: 3, accessible: .whenUnlocked)
  }

  /// The number of bytes of the log that the anchor does not cover, plus the recently covered bytes that were written
  /// before a first unlock. Nil once this process has joined the earlier part of the log.
  ///
  /// The number itself is not authenticated, but a change that makes it smaller shows at the next unlock.
  public var unjoinedAuditBytes: Int64? {
    if bound.isAuditJoined { return nil }
    guard let anchor = try? storedAnchor() else { return auditEnd.bytes }
    return anchor.bytes(after: anchor.joined, to: auditEnd) + anchor.early
  }
}
