import VaultCore
import VaultModel

/// The newest time of any write, and the number of items, kept under a MAC (keyed BLAKE2b, 32 bytes, the `always`
/// class's integrity key) so that nobody turns the time back to make expired items served again.
///
/// The MAC also tells whether the store has hashes over its records, so that taking them away does not look like a store
/// of an earlier program, which had none.
struct Clock: Equatable {
  /// Unix seconds.
  var time: Int64
  var items: Int64

  /// The MAC over vault, table, time, number of items, and whether there are hashes over the records, which stand in
  /// the places of item, version and policy revision.
  func mac(_ vault: VaultID, hasHashes: Bool, key: borrowing SecureBytes) -> [UInt8] {
    place(vault, hasHashes: hasHashes).bytes.withSpan { KeyedHash.hash($0, key: key, count: 32) }
  }

  /// What stands for the record in the hash over the class's records.
  func mark(_ vault: VaultID, key: borrowing SecureBytes) -> RecordMark {
    mac(vault, hasHashes: true, key: key).withSpan { RecordMark(place(vault, hasHashes: true), $0, key: key) }
  }

  private func place(_ vault: VaultID, hasHashes: Bool) -> AssociatedData {
    AssociatedData(
      vault: vault, table: .clock, number: time, version: Int(items), accessible: .always,
      policyRevision: hasHashes ? 1 : 0)
  }
}
