import VaultCore
import VaultModel

/// The chain of the audit log that this process writes, and what of it is not on the disk yet.
///
/// Each record is sealed once, whether or not it can be written then: the key goes on, and what could not be written is
/// written with the next one.
struct AuditWriting: ~Copyable {
  /// The number of rows, and of bytes, from which on another chain is begun: a reader has to go through the keys of one from
  /// its beginning, and it is cut as a whole.
  static let longest = (rows: 1024, bytes: 512 << 10)

  var key: AuditKey
  /// The row of the beginning of the chain, its time, and the age of the log then.
  let chain: Int64
  let (time, age): (Int64, Int64)
  let beginning: AuditPosition
  /// The end of the log, of what is not written as well.
  private(set) var end: AuditPosition
  /// The end of what is written.
  private(set) var written: AuditPosition
  /// What is not written yet, and its size in bytes.
  private(set) var unwritten: [AuditRow] = []
  private(set) var unwrittenBytes = 0
  /// True when the next record is to begin another chain.
  var isOver = false
  /// The record behind the last one, whose place the next one takes.
  private(set) var tally: AuditTally?
  /// The row of one that is on the disk, until something else takes its place.
  private(set) var standing: Int64?

  /// - Parameters:
  ///   - end: the end of the log before it.
  ///   - written: the end of what is written of that.
  ///   - unwritten: the rest.
  ///   - standing: see ``standing``.
  init(
    _ chain: AuditChain, _ key: consuming AuditKey, after end: AuditPosition, written: AuditPosition,
    unwritten: [AuditRow], standing: Int64?
  ) {
    self.standing = standing
    self.key = key
    self.unwritten = unwritten
    self.written = written
    beginning = end
    self.end = end
    self.chain = end.row + 1
    (time, age) = (chain.time, chain.age)
    self.unwritten.append(AuditRow(row: self.chain, chain: self.chain, bytes: chain.encoded))
    unwrittenBytes = self.unwritten.reduce(0) { $0 + $1.bytes.count }
    self.end.pass(chain)
  }

  /// A copy that goes on by itself, for what may come to nothing.
  init(copying other: borrowing AuditWriting) {
    key = AuditKey(copying: other.key)
    (chain, time, age, beginning) = (other.chain, other.time, other.age, other.beginning)
    (end, written, isOver, standing) = (other.end, other.written, other.isOver, other.standing)
    (unwritten, unwrittenBytes) = (other.unwritten, other.unwrittenBytes)
    switch other.tally {
    case .some(let tally): self.tally = AuditTally(copying: tally)
    case .none: break
    }
  }

  /// True when the next record is to begin another chain, also because a day has passed: the age of the log is known from
  /// the beginnings of chains.
  func isLong(at now: Int64) -> Bool {
    isOver || end.row - chain >= Self.longest.rows || end.bytes - beginning.bytes >= Self.longest.bytes
      || now < Seconds.from(AuditChain.longestStep, to: time) || now >= Seconds.after(AuditChain.longestStep, time)
  }

  /// Seals what is in a block as the next record.
  mutating func seal(_ block: inout AuditBlock, _ vault: VaultID) {
    let place = AuditChain.place(end.row + 1, chain: chain, vault)
    let sealed = block.withPlaintext(after: end) { plaintext in
      key.withNextKey { AEAD.seal(plaintext, key: $0, associatedData: place) }
    }
    end.pass(sealed, entries: Int64(block.count))
    unwritten.append(AuditRow(row: end.row, chain: chain, bytes: sealed))
    unwrittenBytes += sealed.count
    block.empty()
    tally = nil
  }

  /// Seals what is in a block as the tally: a record like any other, but that the keys do not go on from it.
  mutating func seal(tally block: inout AuditBlock, _ vault: VaultID) {
    tally = AuditTally(&block, after: end, chain: chain, key: AuditKey(copying: key), vault)
  }

  /// The end without the tally.
  mutating func lastEnd(_ vault: VaultID) -> AuditEnd { AuditEnd(end, chain: chain, vault, key: &key) }

  /// The end, as it is stored.
  mutating func storedEnd(_ vault: VaultID) -> AuditEnd {
    if tally != nil { return tally!.storedEnd(chain: chain, vault) }
    return lastEnd(vault)
  }

  /// True when there is a tally that is not on the disk.
  var hasUnwrittenTally: Bool {
    switch tally {
    case .some(let tally): !tally.isWritten
    case .none: false
    }
  }

  /// The row of the tally, where that is not on the disk.
  var unwrittenTally: AuditRow? {
    switch tally {
    case .some(let tally): tally.isWritten ? nil : tally.row
    case .none: nil
    }
  }

  /// Takes note that all is on the disk.
  mutating func haveWritten() {
    if !unwritten.isEmpty { standing = nil }
    (unwritten, unwrittenBytes) = ([], 0)
    written = end
    if tally != nil {
      tally!.isWritten = true
      standing = end.row + 1
    }
  }
}
