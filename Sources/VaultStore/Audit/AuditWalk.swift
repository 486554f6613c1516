public import VaultCore
public import VaultModel

/// A walk over the audit log, from one position to its end, in steps. It opens every record and checks that the record
/// is the one that was written.
///
/// The walk holds keys, so it must be released at a lock.
public final class AuditWalk {
  /// A fault of the log.
  public struct Fault: Hashable, Sendable {
    /// The numbers of the first and the last entry that the fault is about; nil when they are not known.
    public let first: Int64?
    public let last: Int64?
    public let text: String
    /// True when the text continues a sentence that begins with the numbers.
    let isRange: Bool
  }

  /// The most faults that are recorded.
  private static let mostFaults = 64
  /// The most chains that are examined backwards to find the chain at which to begin.
  private static let mostSteps = 1024

  /// The faults found so far: the first ones, up to a limit.
  public internal(set) var faults: [Fault] = []
  /// The number of faults that the walk has met, of which ``faults`` has the first ones.
  private(set) var found = 0
  /// The number of entries that nothing authenticates: the entries of chains that were begun before the first unlock
  /// and without the boot key.
  public private(set) var unvouched: Int64 = 0
  /// The first and the last of the entries counted in ``unvouched`` that were written since the vault was last
  /// unlocked.
  private(set) var unvouchedSince: (first: Int64, last: Int64)?
  /// True while the walk passes a chain of which only later rows can tell who began it: it continues a chain that was
  /// not read. Anyone who has the disk can write such a chain.
  var isDoubtful = false
  /// The number of entries of such chains that are still to be confirmed: by a chain of the unlocked vault, or by the
  /// end of the part that the anchor covers.
  private var doubtful: Int64 = 0
  /// The number of bytes, after the part that the anchor covers, that were written before a first unlock.
  private(set) var early: Int64 = 0
  /// True while the walk passes a part that was written before a first unlock.
  var isEarly = false
  /// The number of entries read so far.
  public private(set) var entries: Int64 = 0
  /// The position that the walk has reached, as far as it is known.
  var position: AuditPosition
  /// The position at which the walk began.
  let start: AuditPosition
  /// The part of the log that the anchor covers: the position where it begins, and the position where it ends.
  let (cut, joined): (AuditPosition, AuditPosition)
  /// The rows that were set aside, over which the links continue.
  let aside: [ClosedRange<Int64>]
  /// The parts that were removed from within the log.
  let gaps: [AuditGap]
  /// The bounds of the number of entries before the present row, after rows that were set aside; nil elsewhere.
  var asideBounds: AuditBounds?
  /// The links within the rows of ``aside``, to compare with links that were noted elsewhere.
  var asideLinks: Set<Digest> = []
  /// The row up to which everything was removed.
  var gone: Int64
  /// True when everything that the walk had yet to read was removed meanwhile.
  var isOvertaken = false
  /// The position at which the log ends.
  let end: AuditPosition
  /// The end of the log according to the store; nil when the walk ends elsewhere. If another process wrote it, only its
  /// MAC authenticates it, even after this process has begun to write behind it.
  let foundEnd: AuditEnd?
  private let readsUnwritten: Bool
  /// The fault of the anchor; nil when it has none.
  let anchorProblem: String?
  /// True when the store does not say where the log ends. The walk then goes to the log's last row.
  var isEndLost = false
  /// True when the log does not end where the store says. The walk then goes to the log's last row, too.
  var isEndFalse = false
  private var goesToLastRow: Bool { isEndLost || isEndFalse }
  /// The links that were noted elsewhere and are not compared yet, each by the number of the last entry that it covers.
  var noted: [Int64: Digest]
  /// The further links that were noted for an entry and are not compared yet, by the number of the entry.
  var others: [Int64: Set<Digest>]
  /// The numbers of the entries for which several links were noted, all of which the log has. Earlier versions have
  /// noted the link of a chain's beginning for the last entry before that chain.
  public internal(set) var agreed: Set<Int64> = []
  /// The number of entries for which links were noted elsewhere.
  public let notes: Int
  /// The number of these entries whose links cannot be compared, because the entries were removed; known at the end.
  public internal(set) var uncompared = 0
  /// The number of the last entry that was removed before the walk could read it.
  private(set) var removed: Int64
  private let plaintext = Scratch()
  var reading: Reading?
  /// True when the walk passed rows whose entries are not known.
  var isBroken = false
  var isVouchedFor: Bool

  /// Begins a walk, at the oldest entry or, with `isTail`, after the part that the anchor covers.
  ///
  /// - Parameters:
  ///   - noted: links that were noted elsewhere, to be compared: for the number of an entry, the link that covers all
  ///     entries up to it.
  ///   - others: the further links that were noted for an entry.
  ///   - readsUnwritten: true to continue with the records that are not on the disk yet.
  ///   - readsTally: true to continue with the tally of a store that has failed, which nothing replaces any more.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when the anchor is not the one that was stored last.
  init(
    _ keychain: Keychain, isTail: Bool, noted: [Int64: Digest] = [:], others: [Int64: Set<Digest>] = [:],
    readsUnwritten: Bool = false, readsTally: Bool = false
  ) throws(VaultError) {
    let (anchor, problem) = try Self.anchor(of: keychain)
    joined = anchor?.joined ?? .start
    cut = anchor?.cut ?? (problem == nil ? .start : Self.first(of: keychain))
    anchorProblem = problem
    position = cut
    isVouchedFor = anchor?.isVouchedFor ?? true
    (aside, gaps) = (anchor?.aside ?? [], anchor?.gaps ?? [])
    // The keys of a chain follow from one another, so a chain is read from its beginning.
    if isTail, let last = try keychain.database.auditRow(joined.row), last.chain > position.row + 1,
      last.chain <= joined.row,
      let row = try keychain.database.auditRow(last.chain), row.isBeginning
    {
      position = AuditPosition(before: try Keychain.chain(row), in: row.row)
    }
    (start, gone) = (position, cut.row)
    removed = position.entries
    (self.noted, self.others, notes) = (noted, others, noted.count)
    self.readsUnwritten = readsUnwritten
    if readsTally, let found = try Self.tallyEnd(of: keychain) {
      (end, foundEnd) = (found.position, found)
      isEndFalse = try Self.isFalse(found.position, joined, keychain)
    } else if let written = keychain.writtenAuditEnd {
      let (end, found) = (readsUnwritten ? keychain.auditEnd : written, try Self.foundEnd(of: keychain))
      (self.end, foundEnd) = (end, found?.position == end ? found : nil)
      isEndFalse = try Self.isFalse(written, joined, keychain)
    } else {
      let found = try Self.foundEnd(of: keychain)
      isEndLost = found == nil
      (end, foundEnd) = (found?.position ?? joined, found)
      if !isEndLost { isEndFalse = try Self.isFalse(end, joined, keychain) }
    }
    // The link of the first chain's beginning may have been noted for the last entry that was removed, too.
    if others[position.entries] != nil { compareNoted() }
  }

  /// A reader's need for a chain and for the chains before it.
  enum Reach {
    /// All entries from this chain on, and none before it.
    case fromHere
    /// At least all entries from this chain on.
    case here
    /// Perhaps some entries of the chains before it.
    case before
  }

  /// Begins a walk for a reader at the oldest chain that it needs. The walk begins at the oldest entry if no chain
  /// shows where to begin, or if too many chains would have to be examined.
  ///
  /// - Parameter reach: the reader's need, given the beginning of a chain. It is called from the last chain backwards,
  ///   until it returns ``Reach/fromHere`` or there is no earlier chain.
  convenience init(_ keychain: Keychain, reach: (AuditChain) -> Reach) throws(VaultError) {
    try self.init(keychain, isTail: false, readsUnwritten: true)
    let written = keychain.writtenAuditEnd ?? end
    var row = try keychain.database.lastAuditRow(upTo: goesToLastRow ? AuditPosition.most : written.row)
    var oldest: AuditPosition?
    var steps = 0
    while row > position.row {
      steps += 1
      guard steps <= Self.mostSteps, let found = try? keychain.database.auditRow(row), found.chain > position.row,
        let beginning = try? keychain.database.auditRow(found.chain), let chain = try? Keychain.chain(beginning)
      else { return }
      let place = found.chain - 1 > position.row ? AuditPosition(before: chain, in: found.chain) : position
      switch reach(chain) {
      case .fromHere:
        position = place
        return
      case .here: oldest = place
      case .before: break
      }
      row = rowBefore(found.chain)
    }
    if let oldest { position = oldest }
  }

  /// The end of the log according to the store, after the tally that this process left there. Nil when there is no
  /// tally, and when the store has not failed, because the next record then replaces the tally.
  private static func tallyEnd(of keychain: Keychain) throws(VaultError) -> AuditEnd? {
    guard keychain.hasFailed, let tally = keychain.standingAudit, let found = try foundEnd(of: keychain) else {
      return nil
    }
    return found.position.row == tally ? found : nil
  }

  /// True if an end of the log is not where the log ends: the anchor covers more, or there are rows behind that end.
  /// Nothing authenticates where the log ends, except for what the anchor covers.
  private static func isFalse(
    _ end: AuditPosition, _ joined: AuditPosition, _ keychain: Keychain
  ) throws(VaultError) -> Bool {
    do throws(VaultError) {
      // A tally after the end is this process's own.
      let last = try keychain.database.lastAuditRow(upTo: AuditPosition.most)
      return end.row < joined.row || last > keychain.standingAudit ?? end.row
    } catch {
      // On a page that cannot be read, nobody knows which row is the last one.
      guard case .corrupt = error else { throw error }
      return true
    }
  }

  /// The end of the part that is checked: the number of its last entry, and the link that covers everything up to it.
  public var checked: (entries: Int64, link: Digest) {
    goesToLastRow ? (position.entries, position.link) : (end.entries, end.link)
  }

  /// The anchor, or the fault of the anchor. With a fault, the log is walked from its first row on, and the anchor
  /// covers nothing.
  private static func anchor(of keychain: Keychain) throws(VaultError) -> (anchor: AuditAnchor?, problem: String?) {
    do throws(VaultError) { return (try keychain.anchor(), nil) } catch {
      guard case .corrupt(let reason) = error else { throw error }
      return (nil, reason)
    }
  }

  /// The position before the first row, according to that row itself.
  private static func first(of keychain: Keychain) -> AuditPosition {
    guard let number = (try? keychain.database.firstAuditRow(from: 1)) ?? nil,
      let row = try? keychain.database.auditRow(number), row.isBeginning, let chain = try? Keychain.chain(row)
    else { return .start }
    return AuditPosition(before: chain, in: number)
  }

  /// The end of the log according to the store; nil when it cannot be read, or is missing although there is a log.
  private static func foundEnd(of keychain: Keychain) throws(VaultError) -> AuditEnd? {
    do throws(VaultError) {
      if let end = try keychain.storedEnd() { return end }
      return try keychain.isAuditEmpty() ? AuditEnd(.start, chain: 0) : nil
    } catch {
      guard case .corrupt = error else { throw error }
      return nil
    }
  }

  /// The number of the last entry that the log must have.
  var lastEntry: Int64 { max(end.entries, joined.entries) }

  /// The progress: the number of bytes passed, and the number of bytes of the log.
  public var progress: (done: Int64, of: Int64) { (position.bytes, end.bytes) }

  /// Continues over at most `rows` rows, of which a long one counts as several; true at the end.
  ///
  /// - Parameter body: called with each entry and its number.
  /// - Throws: ``VaultError/locked``; ``VaultError/storage(_:)``. Corrupt data is not thrown: it becomes a fault.
  public func step(
    _ keychain: Keychain, rows: Int, _ body: (Int64, AuditEntry) -> Void = { _, _ in }
  ) throws(VaultError) -> Bool {
    try step(keychain, rows: rows, body) { _ in }
  }

  /// Continues as ``step(_:rows:_:)`` does.
  ///
  /// - Parameter passed: called after each row.
  func step(
    _ keychain: Keychain, rows: Int, _ body: (Int64, AuditEntry) -> Void, passed: (AuditRow) -> Void
  ) throws(VaultError) -> Bool {
    // A part that was removed meanwhile by a cut is not reported as missing.
    if let anchor = try Self.anchor(of: keychain).anchor, anchor.cut.row > position.row {
      (position, isVouchedFor) = (anchor.cut, anchor.isVouchedFor)
      (gone, isOvertaken) = (anchor.cut.row, anchor.cut.row > end.row)
      removed = anchor.cut.entries
      reading = nil
    }
    var left = rows
    // The first record that waits has the number of the tally that is on the disk, and takes its place.
    let last = readsUnwritten ? min(end.row, keychain.writtenAuditEnd?.row ?? end.row) : end.row
    do throws(VaultError) {
      let upTo = goesToLastRow ? AuditPosition.most : last
      try keychain.database.eachAuditRow(after: position.row, upTo: upTo, passesDamage: true) {
        (row: AuditRow) throws(VaultError) in
        try meet(row, keychain, body)
        passed(row)
        left -= 1 + row.bytes.count / 4096
        return left > 0
      }
      if readsUnwritten, left > 0 {
        for row in keychain.unwrittenAudit where row.row > position.row && row.row <= end.row {
          try meet(row, keychain, body)
          passed(row)
        }
      }
    } catch .corrupt(let reason) {
      add(nil, nil, "the audit log cannot be read any further: \(reason)")
      conclude(keychain)
      return true
    }
    guard left > 0 else { return false }
    conclude(keychain)
    return true
  }

  private func meet(
    _ row: AuditRow, _ keychain: Keychain, _ body: (Int64, AuditEntry) -> Void
  ) throws(VaultError) {
    if row.row != position.row + 1, !passGap(before: row) {
      isBroken = true
      position.row = row.row - 1
    }
    if isAside(row.row) {
      passAside(row)
    } else if row.isBeginning {
      try begin(row, keychain)
    } else {
      try open(row, keychain, body)
    }
    if isEarly, row.row > joined.row { early += Int64(row.bytes.count) }
    if position.row == joined.row, !isBroken {
      if position.link == joined.link {
        position.bytes = joined.bytes
        (isDoubtful, doubtful) = (false, 0)
      } else {
        add(nil, position.entries, "the entries up to \(position.entries) are not those that were written")
      }
    }
  }

  // MARK: Chains

  private func begin(_ row: AuditRow, _ keychain: Keychain) throws(VaultError) {
    let isFirst = reading == nil && !isBroken
    var before = reading.take()
    // If rows are missing, chains may be missing, and the key of an earlier one tells nothing about this chain.
    if isBroken { before = nil }
    guard let chain = try? Keychain.chain(row) else { return pass(row) }
    let isLinked = !isBroken && chain.previous == position.link
    checkEnd(before: chain, row.row, &before, keychain.vault)
    if !isBroken, chain.previous != position.link {
      add(position.entries, position.entries, "the log up to entry \(position.entries) does not match what was written")
    }
    // If the row before this one was set aside, the entries that were set aside end just before this chain's first
    // entry.
    if !isBroken, asideBounds?.take(chain.first - 1) == true { position.entries = chain.first - 1 }
    asideBounds = nil
    resume(at: chain.first)
    position.row = row.row - 1
    position.entries = chain.first - 1
    position.pass(chain)
    compareNoted()
    isVouchedFor = chain.isVouchedFor(after: isVouchedFor)
    isEarly = chain.isEarly(after: isEarly)
    let isRight = check(chain, row.row, &before, isFirst: isFirst, keychain)
    judge(chain, isRight: isRight, isRead: before != nil, isLinked: isLinked)
    let seed: SecureBytes
    do throws(VaultError) {
      seed = try keychain.withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
        do throws(CryptoError) { return try chain.seed(key) } catch { throw .corrupt("the seed does not open") }
      }
    } catch {
      if error == .locked { throw error }
      // The beginning of the next chain reports the entries of this chain as missing.
      isBroken = true
      return
    }
    reading = Reading(chain: row.row, next: row.row + 1, key: AuditKey(seed: seed))
  }

  // MARK: Records

  private func open(
    _ row: AuditRow, _ keychain: Keychain, _ body: (Int64, AuditEntry) -> Void
  ) throws(VaultError) {
    if reading == nil { return pass(row) }
    defer { plaintext.wipe() }
    do throws(CryptoError) {
      try reading?.open(row, keychain.vault, into: plaintext)
      let (first, count, previous) = try plaintext.withBytes { (bytes: RawSpan) throws(CryptoError) in
        try AuditBlock.read(bytes, body)
      }
      if !isBroken, previous != position.link {
        add(
          position.entries, position.entries, "the log up to entry \(position.entries) does not match what was written")
      }
      resume(at: first)
      position.entries = first - 1
      judgeNoted()
      // If something is missing, that is reported already; from here on each record names the link before it.
      position.link = previous
      position.pass(row.bytes, entries: count)
      compareNoted()
      entries += count
      if isDoubtful, isVouchedFor {
        doubtful += count
      } else if !isVouchedFor {
        unvouched += count
        if row.row > joined.row { unvouchedSince = (unvouchedSince?.first ?? first, position.entries) }
      }
    } catch { pass(row) }
  }

  /// Passes a row whose content is unknown.
  private func pass(_ row: AuditRow) {
    isBroken = true
    settleDoubt()
    position.row = row.row
    position.bytes += Int64(row.bytes.count)
  }

  /// Reports the entries that are missing before entry `first`, the next entry that can be read.
  private func resume(at first: Int64) {
    if isBroken { settleDoubt() }
    if first > position.entries + 1 {
      add(position.entries + 1, first - 1, "missing, or not what was written", isRange: true)
    } else if isBroken || first != position.entries + 1 {
      add(first, first, "before entry \(first) something was removed, inserted or changed")
    }
    isBroken = false
  }

  /// Judges who vouches for a chain, and for the chains before it whose beginnings could not be checked.
  ///
  /// - Parameters:
  ///   - isRight: whether the chain was begun by the one who could begin it.
  ///   - isRead: whether the chain before was read, so that its key could tell.
  ///   - isLinked: whether everything up to the chain is what was written before it.
  private func judge(_ chain: AuditChain, isRight: Bool, isRead: Bool, isLinked: Bool) {
    switch chain.origin {
    case .unlocked:
      isDoubtful = !isRight
      if isRight, isLinked { doubtful = 0 }
    case .continued: if !isRead || !isRight { isDoubtful = true }
    case .cold: isDoubtful = false
    }
    if !isLinked { settleDoubt() }
  }

  /// Counts the entries that nothing can confirm any more.
  func settleDoubt() {
    unvouched += doubtful
    doubtful = 0
  }

  func add(_ first: Int64?, _ last: Int64?, _ text: String, isRange: Bool = false) {
    found += 1
    guard faults.count < Self.mostFaults else { return }
    faults.append(Fault(first: first, last: last, text: text, isRange: isRange))
  }
}

extension Finding {
  /// A finding about a fault of the audit log.
  init(_ fault: AuditWalk.Fault) {
    let subject =
      switch (fault.first, fault.last) {
      case (let first?, let last?) where fault.isRange:
        first == last ? "entry \(first) of the audit log is" : "the entries \(first) to \(last) of the audit log are"
      default: "the audit log:"
      }
    self.init(.damaged, "\(subject) \(fault.text)")
  }
}
