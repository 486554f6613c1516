package import VaultCore

/// The presence keys of `memory` slots: taken up at each proof with a secret, kept over most locks.
///
/// Root can read them here; with the store they open the vault. That is what such a slot costs, and its owner was told.
package final class RetainedKeys: SecretHolder {
  private var keys: [UInt32: Handover] = [:]
  /// The time at which the latest proof with a secret was made, `CLOCK_BOOTTIME` nanoseconds; nil when there are no
  /// keys.
  package private(set) var since: Int64?
  /// The cause that took them, for the person who wonders.
  package private(set) var lostSince = "since the daemon started"

  package func has(_ slot: UInt32) -> Bool { keys[slot] != nil }

  /// Keeps the key of `slot`, after a proof that was made `now`.
  package func keep(_ key: consuming SecureBytes, of slot: UInt32, now: Int64) {
    keys[slot] = Handover(key)
    since = now
  }

  /// Takes other keys for the slots that have one: the vault has a new key, which proves nothing new. Slots without another
  /// key are gone.
  package func replace(with others: [UInt32: Handover]) {
    keys = keys.reduce(into: [:]) { $0[$1.key] = others[$1.key] }
    if keys.isEmpty { since = nil }
  }

  package func drop(_ slot: UInt32) {
    keys[slot] = nil
    if keys.isEmpty { since = nil }
  }

  /// A copy of the key of `slot`.
  package func key(of slot: UInt32) -> SecureBytes? {
    let copy = keys[slot]?.withSecret { key in key.withBytes { SecureBytes(copying: $0) } }
    // Two layers of optional: no entry, and an empty one, which there is none of.
    switch consume copy {
    case .some(let copy): return copy
    case .none: return nil
    }
  }

  /// Wipes all of them.
  package func forget(because cause: String) {
    if !keys.isEmpty { lostSince = "after a lock (\(cause))" }
    keys = [:]
    since = nil
  }

  // Also a rekey and the daemon's end forget them by themselves.
  public override func letGo(for lock: Lock) {
    if lock.reach.contains(.presenceKeys) { forget(because: lock.cause.text) }
  }

  public override func outlives(_ lock: Lock) -> Bool { lock.reach.contains(.presenceKeys) && !keys.isEmpty }
}
