import VaultCore
import VaultModel

/// The last record of the log as long as no other is written. It holds counts that may still change, so the next record
/// or another tally replaces it. If the process is killed, the next process to open the store treats it as a record
/// like any other.
///
/// Its key is the chain's next key, which stays in memory meanwhile, together with the content of the record.
struct AuditTally: ~Copyable {
  let row: AuditRow
  /// The end of the log with this record.
  private let end: AuditPosition
  /// The state of the chain's key after this record.
  private var key: AuditKey
  var isWritten = false

  /// Seals the content of a block as a tally, and empties the block.
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

  /// The end of the log as it is stored with this record.
  mutating func storedEnd(chain: Int64, _ vault: VaultID) -> AuditEnd { AuditEnd(end, chain: chain, vault, key: &key) }
}
