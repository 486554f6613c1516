internal import VaultCore
internal import VaultService

/// The agent's own lock, which `ssh-add -x` sets with its own passphrase. It is independent of the vault's lock.
final class AgentLock {
  /// The pause after a wrong passphrase, in nanoseconds. It grows each time, up to ten seconds.
  private static let (pause, longestPause): (Int64, Int64) = (100_000_000, 10_000_000_000)
  /// The most attempts that wait for their turn.
  private static let most = 64

  /// An attempt to unlock.
  private struct Attempt {
    /// The hash of the passphrase.
    let hash: [UInt8]
    /// True while the client is connected and its process runs.
    let isStillAsking: () -> Bool
    let done: (Bool) -> Void
  }

  private let timer: Timer
  /// A hash of the passphrase, under a random key that lives no longer than the lock.
  private var lock: (key: SecretBox, hash: [UInt8])?
  private var failures: Int64 = 0
  /// The attempts that wait, in the order in which they came. After a wrong passphrase no attempt is checked until the
  /// pause is over, whoever makes the attempt.
  private var waiting: [Attempt] = []
  private var isPausing = false

  init(_ timer: Timer) { self.timer = timer }

  var isLocked: Bool { lock != nil }

  /// Locks the agent; false when it is already locked.
  func lock(_ passphrase: RawSpan) -> Bool {
    guard lock == nil else { return false }
    let key = SecretBox(RandomBytes.secret(count: 32))
    lock = (key, KeyedHash.hash(passphrase, key: key.bytes, count: 32))
    return true
  }

  /// Unlocks the agent, and reports if the passphrase was right. A wrong passphrase is reported after a pause. When too
  /// many attempts wait, a further one fails without a check.
  ///
  /// - Parameter isStillAsking: true while the client is connected and its process runs. An attempt that has to wait is
  ///   dropped without a report if this is false when its turn comes.
  func unlock(_ passphrase: RawSpan, while isStillAsking: @escaping () -> Bool, then done: @escaping (Bool) -> Void) {
    guard let lock, waiting.count < Self.most else { return done(false) }
    let hash = KeyedHash.hash(passphrase, key: lock.key.bytes, count: 32)
    waiting.append(Attempt(hash: hash, isStillAsking: isStillAsking, done: done))
    if !isPausing { lookAtNext() }
  }

  /// Takes the attempt that has waited longest, of those whose processes still run; nil if there is none.
  private func takeNext() -> Attempt? {
    while !waiting.isEmpty {
      let attempt = waiting.removeFirst()
      if attempt.isStillAsking() { return attempt }
    }
    return nil
  }

  private func lookAtNext() {
    guard let lock, let attempt = takeNext() else { return }
    // Bytes have no padding.
    if unsafe ConstantTime.isEqual(attempt.hash.span.bytes, lock.hash.span.bytes) {
      self.lock = nil
      failures = 0
      let late = waiting
      waiting = []
      attempt.done(true)
      for attempt in late { attempt.done(false) }
      return
    }
    failures += 1
    isPausing = true
    _ = timer.after(min(Self.longestPause, Self.pause * failures)) { [weak self] in
      attempt.done(false)
      self?.isPausing = false
      self?.lookAtNext()
    }
  }
}
