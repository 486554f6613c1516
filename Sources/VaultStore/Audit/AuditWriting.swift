import VaultCore
import VaultModel

/// The chain of the audit log that this process writes, and the part of the log that is not on the disk yet.
///
/// Each record is sealed once, whether or not it can be written at that time: the key has advanced. A record that could
/// not be written is written together with the next one.
struct AuditWriting: ~Copyable {
  /// The number of rows, and of bytes, after which another chain is begun. A reader must go through the keys of a chain
  /// from its beginning, and a chain is cut as a whole.
  static let longest = (rows: 1024, bytes: 512 << 10)
  /// The number of bytes after which another chain is begun before the first unlock. If more was written before an
  /// unlock than has room, these chains are removed as a whole, so they are short against the smallest room
  /// (``Keychain/dropExcessAudit(beyond:atLeast:now:tell:)``).
  static let longestEarly: Int64 = 16 << 10
  /// The most rows of a chain. When a chain is long enough, the counts of its entries' repetitions are still added to
  /// it, and each count may take a row of its own.
  static let mostRows = longest.rows + 1 + Keychain.mostAuditRepeats

  var key: AuditKey
  /// The row of the chain's beginning. `time` and `age` are the time of that beginning, and the age of the log at that
  /// time.
  let chain: Int64
  let (time, age): (Int64, Int64)
  /// The age of the log according to the unlocked vault's chains, this one included; nil when this chain, or the one
  /// that it continues, was begun before the first unlock.
  let known: AuditAge?
  /// True when this chain, or the one that it continues, was begun before the first unlock.
  let isEarly: Bool
  let beginning: AuditPosition
  /// The end of the log, including what is not written yet.
  private(set) var end: AuditPosition
  /// The link of the last record, in this chain or before it.
  private(set) var lastLink: Digest
  /// The end of the part that is written.
  private(set) var written: AuditPosition
  /// The rows that are not written yet, and their size in bytes.
  private(set) var unwritten: [AuditRow] = []
  private(set) var unwrittenBytes = 0
  /// True when the next record must begin another chain.
  var isOver = false
  /// The tally: a record after the last one, which the next record replaces.
  private(set) var tally: AuditTally?
  /// A tally on the disk, until another row replaces it: its row, and the end of the log before it. Once another record
  /// is sealed, the key that authenticates that end is gone.
  struct Standing {
    let row: Int64
    let before: AuditEnd
  }

  private(set) var standing: Standing?

  /// Begins a chain at the end of the log.
  ///
  /// - Parameters:
  ///   - end: the end of the log before this chain.
  ///   - written: the end of the written part of the log before this chain.
  ///   - unwritten: the rows of that log that are not written yet.
  ///   - standing: a tally on the disk.
  ///   - isAfterEarly: true when the chain before was begun before the first unlock, or this process has begun none.
  ///   - known: the age of the log according to the unlocked vault's chains before this one.
  ///   - lastLink: the link of the last record before this chain.
  init(
    _ chain: AuditChain, _ key: consuming AuditKey, after end: AuditPosition, written: AuditPosition,
    unwritten: [AuditRow], standing: Standing?, isAfterEarly: Bool, known: AuditAge?,
    lastLink: Digest
  ) {
    var known = known
    if known?.add(chain) == nil, chain.origin == .unlocked { known = AuditAge(chain) }
    self.known = known
    isEarly = chain.isEarly(after: isAfterEarly)
    self.standing = standing
    self.key = key
    self.unwritten = unwritten
    self.written = written
    beginning = end
    self.lastLink = lastLink
    self.end = end
    self.chain = end.row + 1
    (time, age) = (chain.time, chain.age)
    self.unwritten.append(AuditRow(row: self.chain, chain: self.chain, bytes: chain.encoded))
    unwrittenBytes = self.unwritten.reduce(0) { $0 + $1.bytes.count }
    self.end.pass(chain)
  }

  /// Makes an independent copy, to which the caller returns if an attempt fails.
  init(copying other: borrowing AuditWriting) {
    key = AuditKey(copying: other.key)
    (chain, time, age, beginning, known) = (other.chain, other.time, other.age, other.beginning, other.known)
    isEarly = other.isEarly
    (end, written, isOver, standing) = (other.end, other.written, other.isOver, other.standing)
    lastLink = other.lastLink
    (unwritten, unwrittenBytes) = (other.unwritten, other.unwrittenBytes)
    switch other.tally {
    case .some(let tally): self.tally = AuditTally(copying: tally)
    case .none: break
    }
  }

  /// True when the next record must begin another chain. A chain also ends after a day, because the age of the log is
  /// known from the beginnings of chains.
  func isLong(at now: Int64) -> Bool {
    let most = isEarly ? Self.longestEarly : Int64(Self.longest.bytes)
    return isOver || end.row - chain >= Self.longest.rows || end.bytes - beginning.bytes >= most
      || now < Seconds.from(AuditChain.longestStep, to: time) || now >= Seconds.after(AuditChain.longestStep, time)
  }

  /// Seals the content of a block as the next record, and empties the block.
  mutating func seal(_ block: inout AuditBlock, _ vault: VaultID) {
    let place = AuditChain.place(end.row + 1, chain: chain, vault)
    let sealed = block.withPlaintext(after: end) { plaintext in
      key.withNextKey { AEAD.seal(plaintext, key: $0, associatedData: place) }
    }
    end.pass(sealed, entries: Int64(block.count))
    lastLink = end.link
    unwritten.append(AuditRow(row: end.row, chain: chain, bytes: sealed))
    unwrittenBytes += sealed.count
    block.empty()
    tally = nil
  }

  /// Seals the content of a block as the tally, a record like any other, except that the chain's key does not advance.
  mutating func seal(tally block: inout AuditBlock, _ vault: VaultID) {
    tally = AuditTally(&block, after: end, chain: chain, key: AuditKey(copying: key), vault)
  }

  /// The end of the log without the tally.
  mutating func lastEnd(_ vault: VaultID) -> AuditEnd { AuditEnd(end, chain: chain, vault, key: &key) }

  /// The end of the log as it is stored.
  mutating func storedEnd(_ vault: VaultID) -> AuditEnd {
    if tally != nil { return tally!.storedEnd(chain: chain, vault) }
    return lastEnd(vault)
  }

  /// True when there is a tally that is not on the disk yet.
  var hasUnwrittenTally: Bool {
    switch tally {
    case .some(let tally): !tally.isWritten
    case .none: false
    }
  }

  /// The row of a tally that is not on the disk yet; nil when there is none.
  var unwrittenTally: AuditRow? {
    switch tally {
    case .some(let tally): tally.isWritten ? nil : tally.row
    case .none: nil
    }
  }

  /// Notes that everything is on the disk.
  mutating func haveWritten(_ vault: VaultID) {
    if !unwritten.isEmpty { standing = nil }
    (unwritten, unwrittenBytes) = ([], 0)
    written = end
    if tally != nil {
      tally!.isWritten = true
      standing = Standing(row: end.row + 1, before: lastEnd(vault))
    }
  }
}
