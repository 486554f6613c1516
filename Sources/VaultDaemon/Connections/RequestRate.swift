/// A token bucket for one uid: the requests of one second may come all at once, and further requests are slowed to the
/// rate.
///
/// All connections of the uid share the bucket.
final class RequestRate {
  private var perSecond: Int64
  private var tokens: Int64
  private var refilled: Int64

  /// Makes a full bucket. `now` is in nanoseconds of `CLOCK_MONOTONIC`, here and below.
  init(perSecond: Int, now: Int64) {
    self.perSecond = Int64(perSecond)
    tokens = Int64(perSecond)
    refilled = now
  }

  /// Changes the rate from now on.
  func change(perSecond: Int) {
    self.perSecond = Int64(perSecond)
    tokens = min(tokens, self.perSecond)
  }

  /// Takes a token for one request; false when the caller must wait. The clock is read only when the bucket is empty.
  func take(now: @autoclosure () -> Int64) -> Bool {
    if tokens == 0 { refill(now: now()) }
    guard tokens > 0 else { return false }
    tokens -= 1
    return true
  }

  /// Returns true when earlier requests do not count any more, so that the requests of one second may again come all at
  /// once.
  func isFull(now: Int64) -> Bool { tokens == perSecond || now - refilled >= 1_000_000_000 }

  /// Returns the nanoseconds until there is a token again.
  func delay(now: Int64) -> Int64 { max(0, 1_000_000_000 / perSecond - (now - refilled)) }

  private func refill(now: Int64) {
    // More than one second fills the bucket; the cap keeps the product within Int64.
    let earned = min(now - refilled, 1_000_000_000) * perSecond / 1_000_000_000
    guard earned > 0 else { return }
    tokens = min(perSecond, earned)
    refilled = now
  }
}
