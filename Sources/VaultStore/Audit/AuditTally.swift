import VaultCore
import VaultModel

/// The last record of the log for as long as no other one is written: it has what is counted and may change, so that
/// the next record, or another tally, takes its place. To whoever opens the store after a kill it is a record like any
/// other.
///
/// Its key is the next one of the chain, which stays in memory meanwhile, with what the record has.
struct AuditTally: ~Copyable {
  let row: AuditRow
  /// The end of the log behind it.
  private let end: AuditPosition
  /// The state of the chain behind it.
  private var key: AuditKey
  var isWritten = false

  /// Seals what is in a block, and empties that.
  init(
    _ block: inout AuditBlock, after position: AuditPosition, chain: Int64, key: consuming AuditKey, _ vault: VaultID
  ) {
    var key = key
    let place = AuditChain.place(position.row + 1, chain: chain, vault)
    let sealed = block.withPlaintext(after: position) { plaintext in
      key.withNextKey { AEAD.seal(plaintext, key: $0, associatedData: place) }
    }
    var end = position
    end.pass(sealed, entries: Int64(block.count))
    row = AuditRow(row: end.row, chain: chain, bytes: sealed)
    self.end = end
    self.key = key
    block.empty()
  }

  init(copying other: borrowing AuditTally) {
    (row, end, isWritten) = (other.row, other.end, other.isWritten)
    key = AuditKey(copying: other.key)
  }

  /// The end, as it is stored with it.
  mutating func storedEnd(chain: Int64, _ vault: VaultID) -> AuditEnd { AuditEnd(end, chain: chain, vault, key: &key) }
}
