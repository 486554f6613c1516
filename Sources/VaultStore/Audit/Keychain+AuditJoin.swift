public import VaultCore
import VaultModel

// What an unlock does with the part of the log that was written before it, and who is shown it.
extension Keychain {
  /// Goes on with a look at what was written since somebody vouched for the log last: by a daemon that has ended, or before
  /// the first unlock of this one. From its end on all of it can be vouched for, and the next records begin a chain of the
  /// vault's own keys.
  ///
  /// - Returns: nil when it is not over; else what is wrong, in sentences, of which the store has failed then.
  /// - Throws: ``VaultError/locked``; ``VaultError/storage(_:)``.
  public func joinAudit(rows: Int) throws(VaultError) -> [String]? {
    if isAuditJoined { return [] }
    var findings: [Finding] = []
    do throws(VaultError) {
      if auditJoin == nil { auditJoin = try AuditWalk(self, isTail: true) }
      guard try auditJoin?.step(self, rows: rows) ?? true else { return nil }
      findings = auditJoin?.faults.map { Finding($0) } ?? []
    } catch .corrupt(let reason) {
      findings = [Finding(.damaged, reason)]
    }
    auditJoin = nil
    isAuditJoined = true
    endAuditChain()
    for finding in findings { notice(finding) }
    return findings.map(\.text)
  }

  /// A walk over the whole log.
  ///
  /// - Parameter noted: what was noted elsewhere: for the number of an entry what stood for all up to it.
  public func auditWalk(noted: [Int64: Digest]) throws(VaultError) -> AuditWalk {
    try noticing { () throws(VaultError) in try AuditWalk(self, isTail: false, noted: noted) }
  }

  /// A walk over the end of the log, from a chain on that has the entry of that number, or begins before it.
  public func auditWalk(from entry: Int64) throws(VaultError) -> AuditWalk {
    try noticing { () throws(VaultError) in try AuditWalk(self) { chain in chain.first <= entry } }
  }

  /// A walk over the end of the log, from the last chain on that was begun before a time, Unix seconds.
  public func auditWalk(since time: Int64) throws(VaultError) -> AuditWalk {
    try noticing { () throws(VaultError) in try AuditWalk(self) { chain in chain.time < time } }
  }

  // MARK: Copies

  /// Goes on copying the log of another store, of the same vault, which has the same keys or those of a rekey; true when
  /// all is here that was written there, and is vouched for. A transaction must be open.
  func copyAudit(of source: Keychain, rows: Int, upTo whole: AuditPosition? = nil) throws(VaultError) -> Bool {
    let known = whole ?? source.writtenAuditEnd
    guard let end = if let known { known } else { try source.storedEnd()?.position } else { return true }
    let cut = try source.anchor()?.cut ?? .start
    try database.cutAudit(upTo: cut.row)
    var left = rows
    var last = max(cut.row, try database.lastAuditRow())
    var chain = end.row
    try source.database.eachAuditRow(after: last) { (row: AuditRow) throws(VaultError) in
      guard row.row <= end.row, left > 0 else { return false }
      left -= 1 + row.bytes.count / 4096
      last = row.row
      if row.isBeginning { try database.insertAudit(reseal(row, of: source)) } else { try database.insertAudit(row) }
      return true
    }
    guard last >= end.row else { return false }
    if let row = try source.database.auditRow(end.row) { chain = row.chain }
    let stored = whole == nil ? try source.storedEnd() : nil
    try database.putMeta(MetaName.auditEnd, (stored ?? AuditEnd(end, chain: chain)).encoded)
    let anchor = AuditAnchor(cut: cut, joined: end)
    let mark = try mark(anchor: anchor.encoded)
    changes.clear(Self.auditPlace, .whenUnlocked, stored: try classRecord(.whenUnlocked).sets[Self.auditPlace])
    note(.insert, .whenUnlocked, Self.auditPlace, .single, mark)
    try database.putMeta(MetaName.auditAnchor, anchor.encoded)
    return true
  }

  /// The beginning of a chain, with its seed sealed to the box of this store.
  private func reseal(_ row: AuditRow, of source: Keychain) throws(VaultError) -> AuditRow {
    var chain = try Self.chain(row)
    guard let publicKey, publicKey != source.publicKey else { return row }
    let seed = try source.withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) { return try chain.seed(key) } catch {
        throw .corrupt("the seed of an audit chain does not open")
      }
    }
    do throws(CryptoError) { try chain.seal(seed, to: publicKey) } catch { throw .corrupt("the public key is none") }
    return AuditRow(row: row.row, chain: row.chain, bytes: chain.encoded)
  }
}
