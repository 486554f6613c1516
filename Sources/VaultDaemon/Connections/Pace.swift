/// The rate at which a client must take or send the bytes of a backup, and the time that it has in all.
///
/// The time is limited because, while a backup is read, the log beside the store grows with every change, and the vault
/// cannot get a new key.
final class Pace {
  /// The requirements for a client.
  struct Limits: Sendable {
    /// Bytes a second, on average since the beginning.
    var least: Int64
    /// The time after which the rate is required, in nanoseconds.
    var grace: Int64
    /// The time for the whole transfer, in nanoseconds.
    var total: Int64
  }

  private let limits: Limits
  private let now: () -> Int64
  private let began: Int64
  private var moved: Int64 = 0

  /// Begins to count; `now` returns nanoseconds of `CLOCK_MONOTONIC`.
  init(_ limits: Limits, now: @escaping () -> Int64) {
    self.limits = limits
    self.now = now
    began = now()
  }

  /// Counts transferred bytes.
  func move(_ count: Int) { moved += Int64(count) }

  /// Returns the milliseconds that the client has for the next bytes, at most `patience`.
  ///
  /// - Throws: ``RawSocket/Problem/tooSlow`` when no time is left.
  func milliseconds(_ patience: Int32) throws(RawSocket.Problem) -> Int32 {
    let elapsed = now() - began
    // The time for which the transferred bytes are enough.
    let paid = limits.least == 0 ? limits.total : moved / limits.least * 1_000_000_000
    let left = min(max(limits.grace, paid), limits.total) - elapsed
    guard left > 0 else { throw .tooSlow }
    return Int32(min(Int64(patience), left / 1_000_000 + 1))
  }
}
