package import VaultCore

/// The presence keys of `memory` slots. They are derived at each proof with a secret, and kept across most locks.
///
/// Root can read them in memory, and with the store they open the vault. That is the price of such a slot, and its
/// owner was told so.
package final class RetainedKeys: SecretHolder {
  private var keys: [UInt32: Handover] = [:]
  /// The time of the latest proof with a secret, in `CLOCK_BOOTTIME` nanoseconds; nil if there are no keys.
  package private(set) var since: Int64?
  /// The event since which there are no keys, in words for a person.
  package private(set) var lostSince = "since the daemon started"

  package func has(_ slot: UInt32) -> Bool { keys[slot] != nil }

  /// Keeps the key of `slot` after a proof at the time `now`.
  package func keep(_ key: consuming SecureBytes, of slot: UInt32, now: Int64) {
    keys[slot] = Handover(key)
    since = now
  }

  /// Replaces the keys, because the vault has a new key. That is no new proof, so ``since`` stays. A slot without a new
  /// key loses its key.
  package func replace(with others: [UInt32: Handover]) {
    keys = keys.reduce(into: [:]) { $0[$1.key] = others[$1.key] }
    if keys.isEmpty { since = nil }
  }

  package func drop(_ slot: UInt32) {
    keys[slot] = nil
    if keys.isEmpty { since = nil }
  }

  /// A copy of the key of `slot`; nil if there is none.
  package func key(of slot: UInt32) -> SecureBytes? {
    let copy = keys[slot]?.withSecret { key in key.withBytes { SecureBytes(copying: $0) } }
    // The optional has two layers: no entry, or an entry without a key, which does not occur.
    switch consume copy {
    case .some(let copy): return copy
    case .none: return nil
    }
  }

  /// Wipes all keys.
  package func forget(because cause: String) {
    if !keys.isEmpty { lostSince = "after a lock (\(cause))" }
    keys = [:]
    since = nil
  }

  // The end of the maximum age wipes these keys, too, and a rekey replaces them, both by calls of their own.
  public override func letGo(for lock: Lock) {
    if lock.reach.contains(.presenceKeys) { forget(because: lock.cause.text) }
  }

  public override func outlives(_ lock: Lock) -> Bool { lock.reach.contains(.presenceKeys) && !keys.isEmpty }
}
