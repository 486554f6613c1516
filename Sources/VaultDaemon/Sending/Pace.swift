/// The rate at which a client has to take or send the bytes of a backup, and the time that it has for all.
///
/// While a backup is read, the log beside the store grows with every change, and the vault gets no new key.
final class Pace {
  /// The demands on a client.
  struct Limits: Sendable {
    /// Bytes a second, on average since the beginning.
    var least: Int64
    /// After how many nanoseconds that is asked for.
    var grace: Int64
    /// The time that there is for everything, in nanoseconds.
    var total: Int64
  }

  private let limits: Limits
  private let now: () -> Int64
  private let began: Int64
  private var moved: Int64 = 0

  /// Begins to count; `now` gives `CLOCK_MONOTONIC` nanoseconds.
  init(_ limits: Limits, now: @escaping () -> Int64) {
    self.limits = limits
    self.now = now
    began = now()
  }

  /// Counts bytes that went over.
  func move(_ count: Int) { moved += Int64(count) }

  /// The milliseconds that the client has for the next bytes, `patience` at most.
  ///
  /// - Throws: ``RawSocket/Problem/tooSlow`` when it has none.
  func milliseconds(_ patience: Int32) throws(RawSocket.Problem) -> Int32 {
    let elapsed = now() - began
    // What went over so far is enough until then.
    let paid = limits.least == 0 ? limits.total : moved / limits.least * 1_000_000_000
    let left = min(max(limits.grace, paid), limits.total) - elapsed
    guard left > 0 else { throw .tooSlow }
    return Int32(min(Int64(patience), left / 1_000_000 + 1))
  }
}
