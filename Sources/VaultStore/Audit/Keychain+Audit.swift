internal import VaultBytes
public import VaultCore
import VaultModel

// The writing of the audit log. It is written in every state of the keychain, and read only while the vault is
// unlocked.
//
// A process begins a chain with its first records, with the first records after an unlock, and after a long chain. The
// key that seals a chain advances from record to record, so that nobody who takes the process's memory can read or
// forge earlier records.
extension Keychain {
  /// The facts about the log that a caller may see.
  public struct AuditFacts: Hashable, Sendable {
    /// The number of entries ever made, and the number of the last entry that was removed.
    public var entries: Int64
    public var cut: Int64
    /// The size of the log in bytes.
    public var bytes: Int64
    /// The link of the last record, which covers all entries (``AuditChain``), for a caller who notes it somewhere
    /// else.
    public var link: Digest
  }

  /// The most bytes of records that may wait while nothing can be written.
  public static let mostUnwrittenAudit = 2 << 20
  /// The number of waiting bytes at which records should be written without waiting for more.
  private static let longUnwrittenAudit = 512 << 10

  /// The known facts about the log. Before the first entry of this process, these are what the store says, which
  /// nothing authenticates.
  public var auditFacts: AuditFacts {
    let end = auditEnd
    let anchor = (try? storedAnchor()) ?? .beginning
    let bytes = anchor.bytes(after: anchor.cut, to: end)
    return AuditFacts(entries: end.entries, cut: anchor.cut.entries, bytes: bytes, link: lastAuditLink)
  }

  /// The link of the last record. A chain that has only a tally so far ends with the link of its beginning, but the
  /// beginning has no entry for which that link could be noted.
  private var lastAuditLink: Digest {
    switch bound.audit {
    case .some(let writing): writing.lastLink
    case .none: auditEnd.link
    }
  }

  /// The number of the next entry.
  public var nextAuditEntry: Int64 { auditEnd.entries + 1 }

  /// The end of the log, including what is not written yet.
  var auditEnd: AuditPosition {
    switch bound.audit {
    case .some(let writing): writing.end
    case .none: (try? storedEnd())?.position ?? .start
    }
  }

  /// The most entries whose repetitions may be counted at a time. The counts may all be added to the end of a chain.
  public static let mostAuditRepeats = 1 << 14

  /// Seals the content of a block for ``writeAudit(anchored:usage:isSynced:)``, and empties the block.
  ///
  /// - Parameters:
  ///   - now: Unix seconds.
  ///   - staysInChain: true to continue the present chain, however long it is. This is for a block that adds to the
  ///     entries of that chain.
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)`` when no chain can be begun, or when too much
  ///   waits already. The block is then as it was.
  public func sealAudit(_ block: inout AuditBlock, now: Int64, staysInChain: Bool = false) throws(VaultError) {
    if unwrittenAuditBytes > Self.mostUnwrittenAudit, block.count > 0 { throw .storage("too many entries wait") }
    guard staysInChain, hasAuditChain else { return try sealAuditAnyway(&block, now: now) }
    bound.audit?.seal(&block, vault)
  }

  /// Seals the content of a block however much waits already; see ``sealAudit(_:now:staysInChain:)``.
  func sealAuditAnyway(_ block: inout AuditBlock, now: Int64) throws(VaultError) {
    guard block.count > 0 else { return }
    try beginChainIfNeeded(now: now)
    bound.audit?.seal(&block, vault)
  }

  /// Seals the content of a block as a tally after the last record, for ``writeAudit(anchored:usage:isSynced:)``, and
  /// empties the block. The next record or the next tally replaces it. The entries in it are not counted in the numbers
  /// of entries.
  ///
  /// - Throws: as ``sealAudit(_:now:staysInChain:)``.
  public func sealAuditTally(_ block: inout AuditBlock, now: Int64) throws(VaultError) {
    guard block.count > 0 else { return }
    try beginChainIfNeeded(now: now)
    bound.audit?.seal(tally: &block, vault)
  }

  /// True when there is a tally after the last record, on the disk or on its way there.
  public var hasAuditTally: Bool {
    switch bound.audit {
    case .some(let writing): writing.tally != nil
    case .none: false
    }
  }

  private func beginChainIfNeeded(now: Int64) throws(VaultError) {
    if beginsAuditChain(now: now) { try beginChain(now: now) }
  }

  /// True when a record sealed at the time `now`, in Unix seconds, begins another chain.
  public func beginsAuditChain(now: Int64) -> Bool {
    switch bound.audit {
    case .some(let writing): writing.isLong(at: now)
    case .none: true
    }
  }

  /// True when a record can continue an existing chain, which needs no other key.
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

  /// True when so many records wait that they should be written now, and nothing prevents that.
  public var hasLongUnwrittenAudit: Bool {
    guard unwrittenAuditBytes >= Self.longUnwrittenAudit, case .none = transaction.state else { return false }
    return !hasFailed
  }

  /// The bytes of the sealed records that are not on the disk yet.
  public var unwrittenAuditBytes: Int {
    switch bound.audit {
    case .some(let writing): writing.unwrittenBytes
    case .none: 0
    }
  }

  /// The number of sealed entries that are not on the disk yet, without the tally.
  public var unwrittenAuditEntries: Int64 {
    switch bound.audit {
    case .some(let writing): writing.end.entries - writing.written.entries
    case .none: 0
    }
  }

  /// The records that are not on the disk yet.
  var unwrittenAudit: [AuditRow] {
    switch bound.audit {
    case .some(let writing): writing.unwritten
    case .none: []
    }
  }

  /// The end of the written part of the log; nil before the first entry of this process.
  var writtenAuditEnd: AuditPosition? {
    switch bound.audit {
    case .some(let writing): writing.written
    case .none: nil
    }
  }

  /// Writes all records that are not on the disk yet, and waits until they are.
  ///
  /// - Parameters:
  ///   - anchored: true to let the anchor cover all of them, if the keys for that are in memory.
  ///   - usage: the subjects' use of the log, to be stored with the anchor; nil to leave the stored use as it is.
  ///   - isSynced: false to hand the records to the system only; ``syncLog()`` waits for the disk later.
  /// - Throws: ``VaultError/distrusted(_:advice:)`` when the store has failed; ``VaultError/storage(_:)``. The records
  ///   are then written the next time.
  public func writeAudit(anchored: Bool, usage: AuditUsage? = nil, isSynced: Bool = true) throws(VaultError) {
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    if hasFailed { throw refusal }
    database.defersSyncs = !isSynced
    defer { database.defersSyncs = false }
    try writeUnwritten(anchored ? try anchor(joining: auditEnd, usage) : nil)
  }

  /// The row of the tally that is on the disk; nil when there is none.
  var standingAudit: Int64? { standingTally?.row }

  /// The tally that is on the disk; nil when there is none.
  var standingTally: AuditWriting.Standing? {
    switch bound.audit {
    case .some(let writing): writing.standing
    case .none: nil
    }
  }

  /// Writes the records that are not on the disk yet, and an anchor if there is one, even into a store that has failed.
  /// The anchor must count ``earlyAudit``.
  func writeUnwritten(_ anchor: AuditAnchor?) throws(VaultError) {
    guard writtenAuditEnd != nil, hasUnwrittenAudit || anchor != nil else { return }
    try writeAudit { () throws(VaultError) in if let anchor { try put(anchor) } }
    if anchor != nil { earlyAudit = 0 }
  }

  /// Makes changes in a transaction of their own, which also writes all records of the log that are not on the disk
  /// yet. So either both the changes and their entries are kept, or neither.
  ///
  /// - Parameter seal: seals the entries of the changes, after these are made; it receives the result of `body`.
  /// - Throws: what the closures throw; ``VaultError/storage(_:)``. Then nothing has changed, and the log is as it was
  ///   before, without these entries.
  public func transaction<R>(
    sealing seal: (R) throws(VaultError) -> Void, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard case .none = transaction.state else { throw .storage("a change is being made") }
    return try orAsBefore { () throws(VaultError) in
      let result = try transaction { () throws(VaultError) in
        let result = try body()
        try seal(result)
        try putUnwritten()
        return result
      }
      bound.audit?.haveWritten(vault)
      return result
    }
  }

  /// Writes all records that are not on the disk yet and, in the same transaction, what `body` writes.
  func writeAudit(with body: () throws(VaultError) -> Void) throws(VaultError) {
    try database.begin()
    do throws(VaultError) {
      try putUnwritten()
      try body()
      try database.commit(isOfLog: true)
    } catch {
      database.rollback()
      notice(error)
      throw error
    }
    bound.audit?.haveWritten(vault)
    // The pages that a check reads have changed.
    pass?.apply(RecordChanges(isListing: false), self)
  }

  /// Puts all records that are not on the disk yet into the open transaction of the database.
  private func putUnwritten() throws(VaultError) {
    let (rows, end) = (unwrittenAudit, bound.audit?.storedEnd(vault))
    let tally: AuditRow? =
      switch bound.audit {
      case .some(let writing): writing.unwrittenTally
      case .none: nil
      }
    if let standing = standingAudit, !rows.isEmpty || tally != nil { try database.dropAudit(standing) }
    for row in rows { try database.insertAudit(row) }
    if let tally { try database.insertAudit(tally) }
    if let end { try database.putMeta(MetaName.auditEnd, end.encoded) }
  }

  // MARK: Chains

  /// Begins a chain after the end of the log.
  private func beginChain(now: Int64) throws(VaultError) {
    let seed = RandomBytes.secret(count: 32)
    // If this used a public key other than the one stored last, somebody else could read the chain and write it anew.
    let publicKey = try noticing { () throws(VaultError) in try checkedPublicKey() }
    let known = try noticing { () throws(VaultError) in try knownAuditAge() }
    let age = auditAge(at: now, known)
    let lastLink = lastAuditLink
    let found = try noticing { () throws(VaultError) in try continuedEnd() }
    var before = bound.audit.take()
    let (end, written): (AuditPosition, AuditPosition)
    let unwritten: [AuditRow]
    var origin: AuditChain.Origin
    switch before {
    case .some(let writing):
      (end, written, unwritten) = (writing.end, writing.written, writing.unwritten)
      // The boot key vouches for each chain from before the first unlock, because those before it may be removed.
      origin = writing.isEarly && keys.always.audit != nil ? .cold : .continued
    case .none:
      (end, written, unwritten, origin) = (found.position, found.position, [], .cold)
    }
    let ended = before?.lastEnd(vault).mac ?? found.mac
    let standing = before?.standing
    let isEarly = before?.isEarly ?? true
    if keys.whenUnlocked.audit != nil { origin = .unlocked }
    var chain: AuditChain
    do throws(CryptoError) {
      chain = try AuditChain(
        origin: origin, time: now, age: age, after: end, ended: ended, seed: seed, publicKey: publicKey)
    } catch {
      bound.audit = consume before
      throw .corrupt("the public key is invalid")
    }
    let row = end.row + 1
    switch chain.origin {
    case .unlocked: mac(&chain, row, keys.whenUnlocked.audit)
    case .cold: mac(&chain, row, keys.always.audit)
    case .continued: if before != nil { chain.mac = chain.mac(row, vault, after: &before!.key) }
    }
    bound.audit = AuditWriting(
      chain, AuditKey(seed: seed), after: end, written: written, unwritten: unwritten, standing: standing,
      isAfterEarly: isEarly, known: known, lastLink: lastLink)
  }

  func mac(_ chain: inout AuditChain, _ row: Int64, _ key: borrowing SecureBytes?) {
    switch key {
    case .some(let key): chain.mac = chain.mac(row, vault, key: key)
    case .none: break
    }
  }

  /// Makes the next record begin another chain. After an unlock, the vault's own keys authenticate that chain, and the
  /// memory of the process from before the unlock reveals nothing of it.
  public func endAuditChain() { bound.audit?.isOver = true }

  // MARK: The end and the anchor

  /// The end of the log according to the store, which nothing authenticates.
  func storedEnd() throws(VaultError) -> AuditEnd? {
    guard let bytes = try database.meta(MetaName.auditEnd) else { return nil }
    do throws(CryptoError) {
      return try bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditEnd(decoding: bytes) }
    } catch { throw .corrupt("the end of the audit log cannot be read") }
  }

  /// True if the store has no log, so that it says of none where it ends.
  func isAuditEmpty() throws(VaultError) -> Bool {
    let (last, anchor) = (try database.lastAuditRow(), try database.meta(MetaName.auditAnchor))
    return last == 0 && anchor == nil
  }

  /// The end of the log according to the store, after which another chain can begin.
  private func continuedEnd() throws(VaultError) -> AuditEnd {
    let stored = try storedEnd()
    if stored == nil, try !isAuditEmpty() {
      throw .corrupt("the end of the audit log is missing, so nothing is written to it")
    }
    let found = stored ?? AuditEnd(.start, chain: 0)
    guard !auditEnd.isTooFar else {
      throw .corrupt("the end of the audit log has numbers that no log reaches, so nothing is written to it")
    }
    return found
  }

  /// The anchor according to the store.
  func storedAnchor() throws(VaultError) -> AuditAnchor? {
    guard let bytes = try database.meta(MetaName.auditAnchor) else { return nil }
    do throws(CryptoError) {
      return try bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditAnchor(decoding: bytes) }
    } catch { throw .corrupt("the anchor of the audit log cannot be read") }
  }

  /// The anchor, checked to be the one that was stored last; nil for a log that has none.
  ///
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when it is another one.
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

  /// The anchor that covers everything up to `end`; nil when the keys for it are not in memory, or the earlier part of
  /// the log has not been joined yet.
  private func anchor(joining end: AuditPosition, _ usage: AuditUsage?) throws(VaultError) -> AuditAnchor? {
    guard bound.isAuditJoined, holdsIntegrityKey(.whenUnlocked) else { return nil }
    var anchor = try anchor() ?? .beginning
    if let usage { anchor.keep(try sealed(usage), at: usage.time) }
    anchor.join(to: end, early: earlyAudit)
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

  /// Reads the beginning of a chain from a row.
  static func chain(_ row: AuditRow) throws(VaultError) -> AuditChain {
    do throws(CryptoError) {
      return try row.bytes.withSpan { (bytes: RawSpan) throws(CryptoError) in try AuditChain(decoding: bytes) }
    } catch { throw .corrupt("the beginning of an audit chain cannot be read") }
  }
}
