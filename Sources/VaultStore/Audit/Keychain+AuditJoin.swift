public import VaultCore
public import VaultModel

// The joining of an earlier part of the log at an unlock, and the walks for readers of the log.
extension Keychain {
  /// Continues to check the part of the log that was written after the last anchor: by a daemon that has ended, or by
  /// this daemon before its first unlock. At the end, all of the log can be anchored, and the next records begin a
  /// chain of the vault's own keys.
  ///
  /// - Parameter each: called with the entries that no anchor covered before, their numbers, and whether they were
  ///   written before a first unlock, so that somebody else may have made them.
  /// - Returns: nil when the check is not over; otherwise the faults, as sentences, because of which the store has
  ///   failed.
  /// - Throws: ``VaultError/locked``; ``VaultError/storage(_:)``.
  public func joinAudit(
    rows: Int, _ each: (Int64, AuditEntry, _ isEarly: Bool) -> Void = { _, _, _ in }
  ) throws(VaultError) -> [String]? {
    if bound.isAuditJoined { return [] }
    var findings: [Finding] = []
    do throws(VaultError) {
      if bound.auditJoin == nil { bound.auditJoin = try AuditWalk(self, isTail: true) }
      let join = bound.auditJoin
      let joined = join?.joined.entries ?? 0
      let isOver = try join?.step(self, rows: rows) { number, entry in
        if number > joined { each(number, entry, join?.isEarly ?? false) }
      }
      guard isOver ?? true else { return nil }
      findings = join?.faults.map { Finding($0) } ?? []
    } catch .corrupt(let reason) {
      findings = [Finding(.damaged, reason)]
    }
    // The walk need not see the fault that prevented the removal.
    if findings.isEmpty, let fault = bound.auditFault { findings = [Finding(.damaged, fault)] }
    bound.unvouchedAudit = bound.auditJoin?.unvouchedSince
    earlyAudit = bound.auditJoin?.early ?? 0
    bound.auditJoin = nil
    bound.isAuditJoined = true
    endAuditChain()
    for finding in findings { notice(finding) }
    return findings.map(\.text)
  }

  /// A remark for an administrator on the part that was joined, although nothing is wrong with it: a daemon without the
  /// boot key has written to it, although there is a boot key. Nil when that is not so.
  public var auditNote: String? {
    guard opensWithBootKey, let (first, last) = bound.unvouchedAudit else { return nil }
    let (entries, were) = first == last ? ("entry \(first)", "it was") : ("entries \(first) to \(last)", "they were")
    return "nobody vouches for \(entries): \(were) written without the boot key, although there is one"
  }

  /// A walk over the whole log.
  ///
  /// - Parameters:
  ///   - noted: links that were noted elsewhere: for the number of an entry, the link that covers all entries up to it.
  ///   - others: the further links that were noted for an entry.
  public func auditWalk(
    noted: [Int64: Digest], others: [Int64: Set<Digest>] = [:]
  ) throws(VaultError) -> AuditWalk {
    try noticing { () throws(VaultError) in try AuditWalk(self, isTail: false, noted: noted, others: others) }
  }

  /// A walk over all entries for a reader, including those that are not on the disk yet.
  public func auditWalk() throws(VaultError) -> AuditWalk {
    try noticing { () throws(VaultError) in try AuditWalk(self, isTail: false, readsUnwritten: true) }
  }

  /// A walk over the end of the log, beginning with the last chain that begins at that entry or before it.
  public func auditWalk(from entry: Int64) throws(VaultError) -> AuditWalk {
    try noticing { () throws(VaultError) in
      try AuditWalk(self) { chain in chain.first <= entry ? .fromHere : .before }
    }
  }

  /// A walk over the end of the log, beginning with the oldest chain that may have an entry of the time `time`, in Unix
  /// seconds, or later.
  ///
  /// The clock may have been set back and forth, so the chains need not be in the order of their times. But a record
  /// more than ``AuditChain/longestStep`` away from its chain's beginning begins another chain. The search allows twice
  /// that, because records may have been in memory when the clock was set.
  public func auditWalk(since time: Int64) throws(VaultError) -> AuditWalk {
    let earliest = Seconds.after(-2 * AuditChain.longestStep, time)
    return try noticing { () throws(VaultError) in
      try AuditWalk(self) { chain in chain.time >= earliest ? .here : .before }
    }
  }

  /// True when a key of the vault authenticates the beginning of a chain, which stands in row `row`.
  func isRight(_ chain: AuditChain, _ row: Int64) -> Bool {
    switch chain.origin {
    case .unlocked: Self.isRight(chain, row, vault, keys.whenUnlocked.audit)
    case .cold: Self.isRight(chain, row, vault, keys.always.audit)
    case .continued: false
    }
  }

  private static func isRight(
    _ chain: AuditChain, _ row: Int64, _ vault: VaultID, _ key: borrowing SecureBytes?
  ) -> Bool {
    switch key {
    case .some(let key): chain.mac == chain.mac(row, vault, key: key)
    case .none: false
    }
  }

  // MARK: Copies

  /// Continues to copy the log of another store of the same vault. This store has the same keys as the other one, or
  /// the new keys of a rekey. True when everything that was written there is here, and the anchor here covers as much.
  /// A transaction must be open.
  ///
  /// - Parameter part: the anchor of the part to copy, which covers all of it; nil for all of the log.
  func copyAudit(of source: Keychain, rows: Int, _ part: AuditAnchor?) throws(VaultError) -> Bool {
    let known = part?.joined ?? source.writtenAuditEnd
    guard let end = if let known { known } else { try source.storedEnd()?.position } else { return true }
    var anchor: AuditAnchor
    if let part {
      anchor = part
    } else {
      anchor = try source.anchor() ?? .beginning
      // The anchor covers only what was joined.
      if source.bound.isAuditJoined { anchor.join(to: end, early: source.earlyAudit) }
    }
    let cut = anchor.cut
    if part == nil { try removeLastRecord(besides: source) }
    try database.cutAudit(upTo: cut.row)
    guard try copyAuditRows(of: source, rows, anchor, upTo: end.row) else { return false }
    var chain = end.row
    // Rows may have been copied before the source removed them.
    for gap in anchor.gaps { try database.cutAudit(rows: gap.rows) }
    if let row = try source.database.auditRow(end.row) { chain = row.chain }
    var stored = part == nil ? try source.storedEnd() : (try? source.storedEnd()) ?? nil
    // The copy does not have a tally that the source has after this end.
    if let tally = source.standingTally, end.row < tally.row { stored = tally.before }
    if stored?.position != end { stored = nil }
    try database.putMeta(MetaName.auditEnd, (stored ?? AuditEnd(end, chain: chain)).encoded)
    // If only a part of the log is copied, its use cannot be known.
    let usage = part == nil ? try source.auditUsage() : nil
    anchor.forgetUsage()
    if let usage { anchor.keep(try sealed(usage), at: anchor.earlyTime) }
    let mark = try mark(anchor: anchor.encoded)
    changes.clear(Self.auditPlace, .whenUnlocked, stored: try classRecord(.whenUnlocked).sets[Self.auditPlace])
    note(.insert, .whenUnlocked, Self.auditPlace, .single, mark)
    try database.putMeta(MetaName.auditAnchor, anchor.encoded)
    return true
  }

  /// Continues to copy the rows of the log of another store; true when the rows up to `end` are here. The rows in a gap
  /// are left out.
  private func copyAuditRows(
    of source: Keychain, _ rows: Int, _ anchor: AuditAnchor, upTo end: Int64
  ) throws(VaultError) -> Bool {
    var left = rows
    var last = max(anchor.cut.row, try database.lastAuditRow())
    var gap: AuditGap?
    repeat {
      gap = nil
      try source.database.eachAuditRow(after: last, upTo: end, passesDamage: true) {
        (row: AuditRow) throws(VaultError) in
        guard left > 0 else { return false }
        gap = anchor.gap(with: row.row)
        last = gap?.rows.upperBound ?? row.row
        left -= 1 + row.bytes.count / 4096
        guard gap == nil else { return false }
        guard row.isReadable else { throw .corrupt("row \(row.row) of the audit log is none that a log can have") }
        if row.isBeginning, !anchor.isAside(row.row) {
          try database.insertAudit(reseal(row, of: source))
        } else {
          try database.insertAudit(row)
        }
        return true
      }
    } while gap != nil && left > 0
    return last >= end
  }

  /// Adds a record, in a chain of its own, after the log that was copied last. A transaction must be open; the caller
  /// counts the chain as written after the commit.
  func addLastRecord(_ block: inout AuditBlock, now: Int64) throws(VaultError) {
    bound.audit = nil
    try sealAuditAnyway(&block, now: now)
    guard let end = bound.audit?.storedEnd(vault) else { return }
    for row in unwrittenAudit { try database.insertAudit(row) }
    try database.putMeta(MetaName.auditEnd, end.encoded)
  }

  /// Removes the record that ``addLastRecord(_:now:)`` added when ``Rekey/finish(recording:now:)`` failed before.
  /// Records are copied unchanged, so a last record that the other log does not have is not a copy.
  private func removeLastRecord(besides source: Keychain) throws(VaultError) {
    guard let last = try database.auditRow(try database.lastAuditRow()), !last.isBeginning else { return }
    guard try source.database.auditRow(last.row)?.bytes != last.bytes else { return }
    try database.cutAudit(from: last.chain)
  }

  /// The beginning of a chain with its seed sealed to the box of this store, and with a MAC of this store if it had a
  /// MAC.
  private func reseal(_ row: AuditRow, of source: Keychain) throws(VaultError) -> AuditRow {
    var chain = try Self.chain(row)
    guard let publicKey, publicKey != source.publicKey else { return row }
    let seed = try source.withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) { return try chain.seed(key) } catch {
        throw .corrupt("the seed of an audit chain does not open")
      }
    }
    do throws(CryptoError) { try chain.seal(seed, to: publicKey) } catch { throw .corrupt("the public key is invalid") }
    guard chain.origin == .continued || chain.mac == .none || source.isRight(chain, row.row) else {
      throw .corrupt("a chain of the audit log was begun by somebody else")
    }
    if chain.mac != .none {
      switch chain.origin {
      case .unlocked: mac(&chain, row.row, keys.whenUnlocked.audit)
      case .cold: mac(&chain, row.row, keys.always.audit)
      case .continued: break
      }
    }
    return AuditRow(row: row.row, chain: row.chain, bytes: chain.encoded)
  }
}
