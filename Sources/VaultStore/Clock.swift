import VaultCore
import VaultModel

/// The newest time of any write, and the number of items, kept under a MAC (keyed BLAKE2b, 32 bytes, the `always`
/// class's integrity key) so that nobody turns the time back to make expired items served again.
struct Clock: Equatable {
  /// Unix seconds.
  var time: Int64
  var items: Int64

  /// The MAC over vault, table, time and number of items, which stand in the places of item and version.
  func mac(_ vault: VaultID, key: borrowing SecureBytes) -> [UInt8] {
    AssociatedData(
      vault: vault, table: .clock, item: time, version: Int(items), accessible: .always, policyRevision: 0
    ).bytes.withSpan { KeyedHash.hash($0, key: key, count: 32) }
  }
}
