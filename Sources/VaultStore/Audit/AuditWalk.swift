import VaultCore
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

  /// The faults until now, the first ones of them.
  public private(set) var faults: [Fault] = []
  /// The number of entries that nothing vouches for: those of chains that were begun before the first unlock and without
  /// the boot key.
  public private(set) var unvouched: Int64 = 0
  /// The number of entries that were met.
  public private(set) var entries: Int64 = 0
  /// The place that it has come to, as far as is known.
  private(set) var position: AuditPosition
  /// The last place up to which nothing was wrong.
  private(set) var whole: AuditPosition
  /// Where it has begun.
  private let start: AuditPosition
  /// What is vouched for of the log.
  private let joined: AuditPosition
  /// Where the log ends.
  private let end: AuditPosition
  private let storedEnd: AuditEnd?
  /// The places that somebody else has noted, by the number of the last entry before each.
  private var noted: [Int64: Digest]
  private let plaintext = Scratch()
  private var reading: Reading?
  /// True when rows were passed of whose entries nothing is known.
  private var isBroken = false
  private var isVouchedFor = true

  /// The chain that is read.
  private struct Reading: ~Copyable {
    let chain: Int64
    /// The row that the next key is for.
    var next: Int64
    var key: AuditKey

    /// Opens a record of it; the keys of rows that are missing are passed over.
    mutating func open(_ row: AuditRow, _ vault: VaultID, into plaintext: Scratch) throws(CryptoError) {
      guard row.chain == chain, row.row >= next else { throw .authenticationFailed }
      while next < row.row {
        key.withNextKey { _ in }
        next += 1
      }
      next += 1
      let place = AuditChain.place(row.row, chain: chain, vault)
      try key.withNextKey { (key: borrowing SecureBytes) throws(CryptoError) in
        try row.bytes.withSpan { (sealed: RawSpan) throws(CryptoError) in
          try plaintext.open(sealed, key: key, associatedData: place)
        }
      }
    }
  }

  /// Begins a walk, from the oldest entry on or, with `isTail`, behind what is vouched for.
  ///
  /// - Parameter noted: places that were noted elsewhere, to be compared: for the number of an entry what stood for all
  ///   up to it.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)`` when the anchor is not the one that was stored last.
  init(_ keychain: Keychain, isTail: Bool, noted: [Int64: Digest] = [:]) throws(VaultError) {
    let anchor = try keychain.anchor()
    joined = anchor?.joined ?? .start
    position = anchor?.cut ?? .start
    // The keys of a chain come one after the other, so that one is walked over from its beginning.
    if isTail, let last = try keychain.database.auditRow(joined.row), last.chain > position.row + 1,
      let row = try keychain.database.auditRow(last.chain), row.isBeginning
    {
      position = AuditPosition(before: try Keychain.chain(row), in: row.row)
    }
    (whole, start) = (position, position)
    self.noted = noted
    storedEnd = try keychain.storedEnd()
    end = keychain.writtenAuditEnd ?? storedEnd?.position ?? .start
  }

  /// Begins a walk at the last chain that is early enough, of those that are there, or else at the oldest entry.
  convenience init(_ keychain: Keychain, isEarly: (AuditChain) -> Bool) throws(VaultError) {
    try self.init(keychain, isTail: false)
    var row = try keychain.database.lastAuditRow(upTo: end.row)
    while row > position.row, let found = try keychain.database.auditRow(row), found.chain <= row,
      let beginning = try keychain.database.auditRow(found.chain), let chain = try? Keychain.chain(beginning)
    {
      if isEarly(chain) {
        if found.chain - 1 > position.row { position = AuditPosition(before: chain, in: found.chain) }
        return
      }
      row = found.chain - 1
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
    if let cut = try keychain.anchor()?.cut, cut.row > position.row {
      position = cut
      reading = nil
    }
    var left = rows
    do throws(VaultError) {
      try keychain.database.eachAuditRow(after: position.row) { (row: AuditRow) throws(VaultError) in
        guard row.row <= end.row else { return false }
        try meet(row, keychain, body)
        left -= 1 + row.bytes.count / 4096
        return left > 0
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
    if row.isBeginning { try begin(row, keychain) } else { try open(row, keychain, body) }
    if position.row == joined.row, !isBroken, position.link != joined.link {
      add(nil, position.entries, "the entries up to \(position.entries) are not those that were written")
    }
    if !isBroken, faults.isEmpty { whole = position }
  }

  // MARK: Chains

  private func begin(_ row: AuditRow, _ keychain: Keychain) throws(VaultError) {
    var before = reading.take()
    guard let chain = try? Keychain.chain(row) else { return pass(row) }
    if !isBroken, chain.previous != position.link {
      add(position.entries, position.entries, "what was written up to entry \(position.entries) is not what is there")
    }
    resume(at: chain.first)
    position.row = row.row - 1
    position.entries = chain.first - 1
    position.pass(chain)
    isVouchedFor = true
    if row.row > joined.row { try check(chain, row.row, &before, keychain) }
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

  /// Checks who has begun a chain that nothing vouches for yet.
  private func check(
    _ chain: AuditChain, _ row: Int64, _ before: inout Reading?, _ keychain: Keychain
  ) throws(VaultError) {
    let isRight: Bool
    switch chain.origin {
    case .unlocked: isRight = Self.isRight(chain, row, keychain.vault, keychain.keys.whenUnlocked.audit)
    case .cold:
      isVouchedFor = chain.mac != .none
      isRight = !isVouchedFor || Self.isRight(chain, row, keychain.vault, keychain.keys.always.audit)
    case .continued:
      // Without all of the chain before it nobody can tell.
      guard before != nil else {
        isVouchedFor = false
        return
      }
      isRight = chain.mac == chain.mac(row, keychain.vault, after: &before!.key)
    }
    if !isRight { add(chain.first, nil, "the entries from \(chain.first) on were begun by somebody else") }
  }

  private static func isRight(
    _ chain: AuditChain, _ row: Int64, _ vault: VaultID, _ key: borrowing SecureBytes?
  ) -> Bool {
    switch key {
    case .some(let key): chain.mac == chain.mac(row, vault, key: key)
    case .none: false
    }
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
      if !isVouchedFor { unvouched += count }
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

  private func addNoted(_ entry: Int64) {
    add(nil, nil, "what was noted elsewhere of entry \(entry) is not what is there")
  }

  private func add(_ first: Int64?, _ last: Int64?, _ text: String, isRange: Bool = false) {
    guard faults.count < Self.mostFaults else { return }
    faults.append(Fault(first: first, last: last, text: text, isRange: isRange))
  }

  // MARK: The end

  private func conclude(_ keychain: Keychain) {
    if isBroken || position.row < end.row || position.entries < end.entries {
      let last = max(end.entries, position.entries + 1)
      add(position.entries + 1, last, "missing, or not what was written", isRange: true)
    } else if position.link != end.link {
      add(nil, nil, "the end of the audit log is not what was written last")
    } else if keychain.writtenAuditEnd == nil, let storedEnd, storedEnd.position != joined {
      // Of a process that has ended: its key says that nothing is cut off.
      if let own = reading?.chain, own == storedEnd.chain, reading!.next == position.row + 1 {
        if storedEnd.mac != storedEnd.mac(keychain.vault, key: &reading!.key) {
          add(nil, nil, "the end of the audit log was written by somebody else")
        }
      }
    }
    // Each was noted at the end of a record, of which some may have been taken out since.
    for entry in noted.keys.sorted() where entry > start.entries { addNoted(entry) }
    let last = (try? keychain.database.lastAuditRow()) ?? 0
    let written = keychain.writtenAuditEnd?.row ?? end.row
    if last > written { add(end.entries + 1, nil, "after entry \(end.entries) somebody else has written") }
    reading = nil
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
