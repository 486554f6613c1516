internal import VaultCore
internal import VaultService

/// The lock that `ssh-add -x` puts on the agent: with a passphrase of its own, beside the vault's.
final class AgentLock {
  /// The pause before an answer to a wrong passphrase, in nanoseconds: longer each time, up to ten seconds.
  private static let (pause, longestPause): (Int64, Int64) = (100_000_000, 10_000_000_000)

  private let timer: Timer
  /// The passphrase as a hash under a key that is drawn for it: it lives no longer than the lock.
  private var lock: (key: SecretBox, hash: [UInt8])?
  private var failures: Int64 = 0

  init(_ timer: Timer) { self.timer = timer }

  var isLocked: Bool { lock != nil }

  /// Locks; false where it is locked already.
  func lock(_ passphrase: RawSpan) -> Bool {
    guard lock == nil else { return false }
    let key = SecretBox(RandomBytes.secret(count: 32))
    lock = (key, KeyedHash.hash(passphrase, key: key.bytes, count: 32))
    return true
  }

  /// Unlocks, and tells whether the passphrase was right: after a pause where it was not.
  func unlock(_ passphrase: RawSpan, then done: @escaping (Bool) -> Void) {
    guard let lock else { return done(false) }
    let hash = KeyedHash.hash(passphrase, key: lock.key.bytes, count: 32)
    // Bytes have no padding.
    if unsafe ConstantTime.isEqual(hash.span.bytes, lock.hash.span.bytes) {
      self.lock = nil
      failures = 0
      return done(true)
    }
    failures += 1
    _ = timer.after(min(Self.longestPause, Self.pause * failures)) { done(false) }
  }
}
