public import VaultCore
public import VaultModel

/// A walk over the audit log from one position to its end, in steps, which opens every record and looks whether it is the one
/// that was written.
///
/// It holds keys, so it has to be let go of at a lock.
public final class AuditWalk {
  /// Something that is wrong with the log.
  public struct Fault: Hashable, Sendable {
    /// The numbers of the first and the last entry that it is about; nil where nothing tells.
    public let first: Int64?
    public let last: Int64?
    public let text: String
    /// True when the text goes on from the numbers.
    let isRange: Bool
  }

  /// The most faults that are kept.
  private static let mostFaults = 64
  /// The most chains that are looked at backwards for the one to begin at.
  private static let mostSteps = 1024

  /// The faults until now, the first ones of them.
  public internal(set) var faults: [Fault] = []
  /// The number of entries that nothing vouches for: those of chains that were begun before the first unlock and without
  /// the boot key.
  public private(set) var unvouched: Int64 = 0
  /// The first and the last of these among those that were written since the vault was unlocked last.
  private(set) var unvouchedSince: (first: Int64, last: Int64)?
  /// The bytes of what was written before a first unlock, behind what is vouched for.
  private(set) var early: Int64 = 0
  private var isEarly = false
  /// The number of entries that were met.
  public private(set) var entries: Int64 = 0
  /// The place that it has come to, as far as is known.
  var position: AuditPosition
  /// The last place up to which nothing was wrong.
  private(set) var whole: AuditPosition
  /// Where it has begun.
  let start: AuditPosition
  /// What is vouched for of the log: where it begins, and up to where.
  let (cut, joined): (AuditPosition, AuditPosition)
  /// The rows that were set aside, over which the links go on.
  let aside: [ClosedRange<Int64>]
  /// The links within them, for what was noted elsewhere.
  var asideLinks: Set<Digest> = []
  /// The row up to which everything was taken out.
  var gone: Int64
  /// True when all that it was to walk over was taken out meanwhile.
  var isOvertaken = false
  /// Where the log ends.
  let end: AuditPosition
  /// The end by the store, where this process has not written to the log yet, or has left a tally: nobody but its MAC
  /// vouches for it.
  let foundEnd: AuditEnd?
  private let readsUnwritten: Bool
  /// What is wrong with the anchor.
  let anchorProblem: String?
  /// True when the store does not say where the log ends: then it is walked over to its last row.
  var isEndLost = false
  /// The places that somebody else has noted, by the number of the last entry before each.
  var noted: [Int64: Digest]
  private let plaintext = Scratch()
  var reading: Reading?
  /// True when rows were passed of whose entries nothing is known.
  var isBroken = false
  var isVouchedFor: Bool

  /// Begins a walk, from the oldest entry on or, with `isTail`, behind what is vouched for.
  ///
  /// - Parameters:
  ///   - noted: places that were noted elsewhere, to be compared: for the number of an entry what stood for all up to it.
  ///   - readsUnwritten: true to go on to the records that are not on the disk yet.
  ///   - readsTally: true to go on to the tally of a store that has failed, which nothing replaces any more.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when the anchor is not the one that was stored last.
  init(
    _ keychain: Keychain, isTail: Bool, noted: [Int64: Digest] = [:], readsUnwritten: Bool = false,
    readsTally: Bool = false
  ) throws(VaultError) {
    let (anchor, problem) = try Self.anchor(of: keychain)
    joined = anchor?.joined ?? .start
    cut = anchor?.cut ?? (problem == nil ? .start : Self.first(of: keychain))
    anchorProblem = problem
    position = cut
    isVouchedFor = anchor?.isVouchedFor ?? true
    aside = anchor?.aside ?? []
    // The keys of a chain come one after the other, so that one is walked over from its beginning.
    if isTail, let last = try keychain.database.auditRow(joined.row), last.chain > position.row + 1,
      last.chain <= joined.row,
      let row = try keychain.database.auditRow(last.chain), row.isBeginning
    {
      position = AuditPosition(before: try Keychain.chain(row), in: row.row)
    }
    (whole, start, gone) = (position, position, cut.row)
    self.noted = noted
    self.readsUnwritten = readsUnwritten
    if readsTally, let found = try Self.tallyEnd(of: keychain) {
      (end, foundEnd) = (found.position, found)
    } else if let written = keychain.writtenAuditEnd {
      (end, foundEnd) = (readsUnwritten ? keychain.auditEnd : written, nil)
    } else {
      let found = try Self.foundEnd(of: keychain)
      isEndLost = found == nil
      (end, foundEnd) = (found?.position ?? joined, found)
    }
  }

  /// The part of the log that a reader needs of a chain and of those before it.
  enum Reach {
    /// All from this chain on, and none before it.
    case fromHere
    /// All from this chain on at least.
    case here
    /// Perhaps some of those before it.
    case before
  }

  /// Begins a walk for a reader at the oldest chain that it needs, or at the oldest entry where none tells, also where
  /// many would have to be looked at for that.
  ///
  /// - Parameter reach: what is needed, by a chain's beginning; asked from the last one back, until there is none before.
  convenience init(_ keychain: Keychain, reach: (AuditChain) -> Reach) throws(VaultError) {
    try self.init(keychain, isTail: false, readsUnwritten: true)
    let written = keychain.writtenAuditEnd ?? end
    var row = try keychain.database.lastAuditRow(upTo: isEndLost ? .max : written.row)
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
      row = found.chain - 1
    }
    if let oldest { position = oldest }
  }

  /// The end by the store behind the tally that this process has left there; nil where there is none, and where the
  /// store has not failed, so that the next record takes its place.
  private static func tallyEnd(of keychain: Keychain) throws(VaultError) -> AuditEnd? {
    guard keychain.hasFailed, let tally = keychain.standingAudit, let found = try foundEnd(of: keychain) else {
      return nil
    }
    return found.position.row == tally ? found : nil
  }

  /// Where the part ends that is looked at: the number of its last entry, and what stands for all up to it.
  public var checked: (entries: Int64, link: Digest) {
    isEndLost ? (position.entries, position.link) : (end.entries, end.link)
  }

  /// The anchor, or what is wrong with it: then the log is walked over from its first row on, and nothing vouches for it.
  private static func anchor(of keychain: Keychain) throws(VaultError) -> (anchor: AuditAnchor?, problem: String?) {
    do throws(VaultError) { return (try keychain.anchor(), nil) } catch {
      guard case .corrupt(let reason) = error else { throw error }
      return (nil, reason)
    }
  }

  /// The place before the first row, as that says itself.
  private static func first(of keychain: Keychain) -> AuditPosition {
    guard let number = (try? keychain.database.firstAuditRow()) ?? nil,
      let row = try? keychain.database.auditRow(number), row.isBeginning, let chain = try? Keychain.chain(row)
    else { return .start }
    return AuditPosition(before: chain, in: number)
  }

  /// The end by the store; nil when it cannot be read, or is missing where there is a log.
  private static func foundEnd(of keychain: Keychain) throws(VaultError) -> AuditEnd? {
    do throws(VaultError) {
      if let end = try keychain.storedEnd() { return end }
      let (last, anchor) = (try keychain.database.lastAuditRow(), try keychain.database.meta(MetaName.auditAnchor))
      return last == 0 && anchor == nil ? AuditEnd(.start, chain: 0) : nil
    } catch {
      guard case .corrupt = error else { throw error }
      return nil
    }
  }

  /// The progress: bytes that were passed, and those of the log.
  public var progress: (done: Int64, of: Int64) { (position.bytes, end.bytes) }

  /// Continues over at most `rows` rows; true at the end.
  ///
  /// - Parameter body: called with each entry and its number.
  /// - Throws: ``VaultError/locked``; ``VaultError/storage(_:)``. Anything corrupt is a fault.
  public func step(
    _ keychain: Keychain, rows: Int, _ body: (Int64, AuditEntry) -> Void = { _, _ in }
  ) throws(VaultError) -> Bool {
    // What was taken out meanwhile is none that is missing.
    if let anchor = try Self.anchor(of: keychain).anchor, anchor.cut.row > position.row {
      (position, isVouchedFor) = (anchor.cut, anchor.isVouchedFor)
      (gone, isOvertaken) = (anchor.cut.row, anchor.cut.row > end.row)
      reading = nil
    }
    var left = rows
    do throws(VaultError) {
      try keychain.database.eachAuditRow(after: position.row) { (row: AuditRow) throws(VaultError) in
        guard row.row <= end.row || isEndLost else { return false }
        try meet(row, keychain, body)
        left -= 1 + row.bytes.count / 4096
        return left > 0
      }
      if readsUnwritten, left > 0 {
        for row in keychain.unwrittenAudit where row.row > position.row && row.row <= end.row {
          try meet(row, keychain, body)
        }
      }
    } catch .corrupt(let reason) {
      add(nil, nil, "the audit log cannot be read on: \(reason)")
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
    if row.row != position.row + 1 {
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
      } else {
        add(nil, position.entries, "the entries up to \(position.entries) are not those that were written")
      }
    }
    if !isBroken, faults.isEmpty { whole = position }
  }

  // MARK: Chains

  private func begin(_ row: AuditRow, _ keychain: Keychain) throws(VaultError) {
    let isFirst = reading == nil && !isBroken
    var before = reading.take()
    guard let chain = try? Keychain.chain(row) else { return pass(row) }
    checkEnd(before: chain, row.row, &before, keychain.vault)
    if !isBroken, chain.previous != position.link {
      add(position.entries, position.entries, "what was written up to entry \(position.entries) is not what is there")
    }
    // The numbers of what was set aside are those up to this one.
    if isAside(row.row - 1), !isBroken { position.entries = max(position.entries, chain.first - 1) }
    resume(at: chain.first)
    position.row = row.row - 1
    position.entries = chain.first - 1
    position.pass(chain)
    isVouchedFor = chain.isVouchedFor(after: isVouchedFor)
    switch chain.origin {
    case .unlocked: isEarly = false
    case .cold: isEarly = true
    case .continued: break
    }
    check(chain, row.row, &before, isFirst: isFirst, keychain)
    let seed: SecureBytes
    do throws(VaultError) {
      seed = try keychain.withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
        do throws(CryptoError) { return try chain.seed(key) } catch { throw .corrupt("the seed does not open") }
      }
    } catch {
      if error == .locked { throw error }
      // Its entries are missed at the beginning of the next one.
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
        add(position.entries, position.entries, "what was written up to entry \(position.entries) is not what is there")
      }
      resume(at: first)
      position.entries = first - 1
      // Where something is missing, that is said already; from here on each record says what was before it.
      position.link = previous
      position.pass(row.bytes, entries: count)
      if let link = noted.removeValue(forKey: position.entries), link != position.link { addNoted(position.entries) }
      entries += count
      if !isVouchedFor {
        unvouched += count
        if row.row > joined.row { unvouchedSince = (unvouchedSince?.first ?? first, position.entries) }
      }
    } catch { pass(row) }
  }

  /// Passes a row that tells nothing.
  private func pass(_ row: AuditRow) {
    isBroken = true
    position.row = row.row
    position.bytes += Int64(row.bytes.count)
  }

  /// Tells which entries were missed before the one of that number, the next that can be read.
  private func resume(at first: Int64) {
    if first > position.entries + 1 {
      add(position.entries + 1, first - 1, "missing, or not what was written", isRange: true)
    } else if isBroken || first != position.entries + 1 {
      add(first, first, "before entry \(first) something was taken out, put in or changed")
    }
    isBroken = false
  }

  func addNoted(_ entry: Int64) {
    add(nil, nil, "what was noted elsewhere of entry \(entry) is not what is there")
  }

  func add(_ first: Int64?, _ last: Int64?, _ text: String, isRange: Bool = false) {
    guard faults.count < Self.mostFaults else { return }
    faults.append(Fault(first: first, last: last, text: text, isRange: isRange))
  }
}

extension Finding {
  /// A fault of the audit log, in words.
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
