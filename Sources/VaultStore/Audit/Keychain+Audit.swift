public import VaultCore
import VaultModel

// Writing the audit log. It is written in every state of the keychain, and read while the vault is unlocked alone.
//
// The first records of a process begin a chain; so do the first ones after an unlock, and those after a long one. What a
// chain is sealed with goes on from record to record, so that nobody who takes the process's memory can read or make
// earlier ones.
extension Keychain {
  /// What is told of the log.
  public struct AuditFacts: Hashable, Sendable {
    /// The number of entries that were ever made, and that of the last one that was taken out.
    public var entries: Int64
    public var cut: Int64
    /// The size of the log in bytes.
    public var bytes: Int64
    /// What stands for all of it (``AuditChain``), for whoever keeps such somewhere else.
    public var link: Digest
  }

  /// The most bytes of records that wait for a disk on which there is room.
  public static let mostUnwrittenAudit = 2 << 20
  /// So many bytes of records do not wait for more.
  private static let longUnwrittenAudit = 1 << 20

  /// What is known of the log; before the first entry of this process what the store says of it, which nobody vouches for.
  public var auditFacts: AuditFacts {
    let cut = (try? storedAnchor())?.cut ?? .start
    let end = auditEnd
    return AuditFacts(entries: end.entries, cut: cut.entries, bytes: max(0, end.bytes - cut.bytes), link: end.link)
  }

  /// The number that the next entry gets.
  public var nextAuditEntry: Int64 { auditEnd.entries + 1 }

  /// The end of the log, of what is not written as well.
  var auditEnd: AuditPosition {
    switch bound.audit {
    case .some(let writing): writing.end
    case .none: (try? storedEnd())?.position ?? .start
    }
  }

  /// Seals what is in a block, for ``writeAudit(now:)``, and empties it.
  ///
  /// - Parameters:
  ///   - now: Unix seconds.
  ///   - staysInChain: true to go on with the chain that is there, however long it is: for what tells more of its
  ///     entries.
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)`` when no chain can be begun;
  ///   ``VaultError/diskFull`` when too much waits already. The block is as it was then.
  public func sealAudit(_ block: inout AuditBlock, now: Int64, staysInChain: Bool = false) throws(VaultError) {
    if unwrittenAuditBytes > Self.mostUnwrittenAudit, block.count > 0 { throw .diskFull }
    guard staysInChain, hasAuditChain else { return try sealAuditAnyway(&block, now: now) }
    bound.audit?.seal(&block, vault)
  }

  /// The same however much waits already.
  func sealAuditAnyway(_ block: inout AuditBlock, now: Int64) throws(VaultError) {
    guard block.count > 0 else { return }
    try beginChainIfNeeded(now: now)
    bound.audit?.seal(&block, vault)
  }

  /// Seals what is in a block behind the last record, for ``writeAudit(now:)``, and empties it: the next record, or the
  /// next tally, takes its place. No number of an entry counts those in it.
  ///
  /// - Throws: as ``sealAudit(_:now:)``.
  public func sealAuditTally(_ block: inout AuditBlock, now: Int64) throws(VaultError) {
    guard block.count > 0 else { return }
    try beginChainIfNeeded(now: now)
    bound.audit?.seal(tally: &block, vault)
  }

  /// True when there is a tally behind the last record, on the disk or on its way there.
  public var hasAuditTally: Bool {
    switch bound.audit {
    case .some(let writing): writing.tally != nil
    case .none: false
    }
  }

  private func beginChainIfNeeded(now: Int64) throws(VaultError) {
    if beginsAuditChain(now: now) { try beginChain(now: now) }
  }

  /// True when a record that is sealed now, Unix seconds, begins another chain.
  public func beginsAuditChain(now: Int64) -> Bool {
    switch bound.audit {
    case .some(let writing): writing.isLong(at: now)
    case .none: true
    }
  }

  /// True when a record goes on with a chain that is there, for which no other key is needed.
  public var hasAuditChain: Bool {
    switch bound.audit {
    case .some: true
    case .none: false
    }
  }

  /// True when there are records that are not on the disk.
  public var hasUnwrittenAudit: Bool {
    switch bound.audit {
    case .some(let writing): writing.unwrittenBytes > 0 || writing.hasUnwrittenTally
    case .none: false
    }
  }

  /// True when there are so many that they should not wait for more, and nothing is in the way.
  public var hasLongUnwrittenAudit: Bool {
    guard unwrittenAuditBytes >= Self.longUnwrittenAudit, case .none = transaction.state else { return false }
    return !hasFailed
  }

  private var unwrittenAuditBytes: Int {
    switch bound.audit {
    case .some(let writing): writing.unwrittenBytes
    case .none: 0
    }
  }

  /// The records that are not on the disk.
  var unwrittenAudit: [AuditRow] {
    switch bound.audit {
    case .some(let writing): writing.unwritten
    case .none: []
    }
  }

  /// The end of what is written of the log.
  var writtenAuditEnd: AuditPosition? {
    switch bound.audit {
    case .some(let writing): writing.written
    case .none: nil
    }
  }

  /// Writes all records that are not on the disk, and waits until they are.
  ///
  /// - Parameters:
  ///   - anchored: true to vouch for all of them, where the keys for that are in memory.
  ///   - usage: what subjects have used of the log, to be kept with that; nil to leave what is kept.
  ///   - isSynced: false to hand them to the system alone; ``syncLog()`` waits for the disk later.
  /// - Throws: ``VaultError/distrusted(_:advice:)`` when the store has failed; ``VaultError/storage(_:)``: they are
  ///   written the next time then.
  public func writeAudit(anchored: Bool, usage: AuditUsage? = nil, isSynced: Bool = true) throws(VaultError) {
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    if hasFailed { throw Self.failed }
    database.defersSyncs = !isSynced
    defer { database.defersSyncs = false }
    var anchor = anchored ? try anchor(joining: auditEnd) : nil
    if let usage, anchor != nil { try anchor?.keep(sealed(usage), at: usage.time, early: earlyAudit) }
    try writeUnwritten(anchor)
    if usage != nil, anchor != nil { earlyAudit = 0 }
  }

  /// The row of the tally that is on the disk.
  var standingAudit: Int64? {
    switch bound.audit {
    case .some(let writing): writing.standing
    case .none: nil
    }
  }

  /// The same, also into a store that has failed.
  func writeUnwritten(_ anchor: AuditAnchor?) throws(VaultError) {
    guard writtenAuditEnd != nil, hasUnwrittenAudit || anchor != nil else { return }
    try writeAudit { () throws(VaultError) in if let anchor { try put(anchor) } }
  }

  /// Writes all records that are not on the disk, and in the same transaction what `body` does.
  func writeAudit(with body: () throws(VaultError) -> Void) throws(VaultError) {
    let (rows, end) = (unwrittenAudit, bound.audit?.storedEnd(vault))
    let tally: AuditRow? =
      switch bound.audit {
      case .some(let writing): writing.unwrittenTally
      case .none: nil
      }
    try database.begin()
    do throws(VaultError) {
      if let standing = standingAudit, !rows.isEmpty || tally != nil { try database.dropAudit(standing) }
      for row in rows { try database.insertAudit(row) }
      if let tally { try database.insertAudit(tally) }
      if let end { try database.putMeta(MetaName.auditEnd, end.encoded) }
      try body()
      try database.commit()
    } catch {
      database.rollback()
      notice(error)
      throw error
    }
    bound.audit?.haveWritten()
    // The pages that a check reads have changed.
    pass?.apply(RecordChanges(isListing: false), self)
  }

  // MARK: Chains

  /// Begins a chain after the end of the log.
  private func beginChain(now: Int64) throws(VaultError) {
    let seed = RandomBytes.secret(count: 32)
    // Another public key than the one that was stored last would have somebody else read this, and write it anew.
    let publicKey = try noticing { () throws(VaultError) in try checkedPublicKey() }
    let age = auditAge(at: now)
    let found = try noticing { () throws(VaultError) in try storedEnd() } ?? AuditEnd(.start, chain: 0)
    var before = bound.audit.take()
    let (end, written): (AuditPosition, AuditPosition)
    let unwritten: [AuditRow]
    let origin: AuditChain.Origin
    switch before {
    case .some(let writing):
      (end, written, unwritten, origin) = (writing.end, writing.written, writing.unwritten, .continued)
    case .none:
      (end, written, unwritten, origin) = (found.position, found.position, [], .cold)
    }
    let ended = before?.lastEnd(vault).mac ?? found.mac
    let standing = before?.standing
    let isUnlocked = keys.whenUnlocked.audit != nil
    var chain: AuditChain
    do throws(CryptoError) {
      chain = try AuditChain(
        origin: isUnlocked ? .unlocked : origin, time: now, age: age, after: end, ended: ended, seed: seed,
        publicKey: publicKey)
    } catch {
      bound.audit = consume before
      throw .corrupt("the public key is none")
    }
    let row = end.row + 1
    switch chain.origin {
    case .unlocked: mac(&chain, row, keys.whenUnlocked.audit)
    case .cold: mac(&chain, row, keys.always.audit)
    case .continued: if before != nil { chain.mac = chain.mac(row, vault, after: &before!.key) }
    }
    bound.audit = AuditWriting(
      chain, AuditKey(seed: seed), after: end, written: written, unwritten: unwritten, standing: standing)
  }

  /// The age of the log at a time, Unix seconds, as its last chain tells.
  func auditAge(at now: Int64) -> Int64 {
    switch bound.audit {
    case .some(let writing): return AuditChain.age(at: now, since: writing.time, writing.age)
    case .none: break
    }
    guard let end = try? storedEnd(), let last = try? database.auditRow(end.position.row),
      let row = try? database.auditRow(last.chain), row.isBeginning, let chain = try? Self.chain(row)
    else { return 0 }
    return AuditChain.age(at: now, since: chain.time, chain.age)
  }

  func mac(_ chain: inout AuditChain, _ row: Int64, _ key: borrowing SecureBytes?) {
    switch key {
    case .some(let key): chain.mac = chain.mac(row, vault, key: key)
    case .none: break
    }
  }

  /// Has the next record begin another chain: after an unlock one that the vault's own keys vouch for, from which on the
  /// memory of a cold process says nothing.
  public func endAuditChain() { bound.audit?.isOver = true }

  // MARK: The end and the anchor

  /// The end of the log by the store, which nobody vouches for.
  func storedEnd() throws(VaultError) -> AuditEnd? {
    guard let bytes = try database.meta(MetaName.auditEnd) else { return nil }
    do throws(CryptoError) {
      return try bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditEnd(decoding: bytes) }
    } catch { throw .corrupt("the end of the audit log cannot be read") }
  }

  /// The anchor by the store.
  func storedAnchor() throws(VaultError) -> AuditAnchor? {
    guard let bytes = try database.meta(MetaName.auditAnchor) else { return nil }
    do throws(CryptoError) {
      return try bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditAnchor(decoding: bytes) }
    } catch { throw .corrupt("the anchor of the audit log cannot be read") }
  }

  /// The anchor, if it is the one that was stored last; nil for a log that has none.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when it is another.
  func anchor() throws(VaultError) -> AuditAnchor? {
    let stored = try classRecord(.whenUnlocked).sets[Self.auditPlace]
    guard let bytes = try database.meta(MetaName.auditAnchor) else {
      guard stored == RecordSet() else { throw Self.wrongAnchor }
      return nil
    }
    guard stored.isSet(RecordSet(), with: try mark(anchor: bytes)) else { throw Self.wrongAnchor }
    return try storedAnchor()
  }

  private static var wrongAnchor: VaultError {
    .corrupt("the anchor of the audit log is not the one that was stored last")
  }

  /// The anchor that vouches for everything up to `end`; nil where the keys for that are not in memory, or the log before
  /// it is yet to be joined.
  private func anchor(joining end: AuditPosition) throws(VaultError) -> AuditAnchor? {
    guard bound.isAuditJoined, holdsIntegrityKey(.whenUnlocked) else { return nil }
    var anchor = try anchor() ?? AuditAnchor(cut: .start, joined: end)
    anchor.joined = end
    return anchor
  }

  /// Stores an anchor within the open transaction of the database.
  func put(_ anchor: AuditAnchor) throws(VaultError) {
    try database.putMeta(MetaName.auditAnchor, anchor.encoded)
    var (sets, facts) = try classRecord(.whenUnlocked).parts
    sets[Self.auditPlace] = RecordSet()
    sets[Self.auditPlace].insert(try mark(anchor: anchor.encoded))
    facts = facts.raised(to: self.facts[.whenUnlocked] ?? facts)
    facts.trashed = self.facts[.whenUnlocked]?.trashed ?? facts.trashed
    try store(ClassRecord(sets: sets, facts: facts), .whenUnlocked)
  }

  static let auditPlace = RecordSets.Place(.audit)

  func mark(anchor bytes: [UInt8]) throws(VaultError) -> RecordMark {
    let place = AssociatedData(vault: vault, table: .meta, number: 2, accessible: .whenUnlocked)
    return try withIntegrityKey(.whenUnlocked) { (key: borrowing SecureBytes) in
      bytes.withSpan { RecordMark(place, $0, key: key) }
    }
  }

  /// The beginning of a chain in a row.
  static func chain(_ row: AuditRow) throws(VaultError) -> AuditChain {
    do throws(CryptoError) {
      return try row.bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditChain(decoding: bytes) }
    } catch { throw .corrupt("the beginning of an audit chain cannot be read") }
  }
}
