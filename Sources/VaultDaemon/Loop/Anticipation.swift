internal import VaultService

/// Decides whether to poll briefly for a client's next request before the loop goes to sleep.
///
/// A client that makes one call after another sends its next request some microseconds after each answer. That is
/// sooner than the loop's thread could fall asleep and wake up, which costs more than the request. So the thread polls
/// a little longer for a client that has kept coming back that fast. A poll without a result (the client has finished,
/// or can run only on this very CPU) halves the rate of later polls. The daemon never polls for clients that ask now
/// and then, and an idle daemon sleeps.
struct Anticipation {
  /// The time to poll, in nanoseconds.
  private static let patience: Int64 = 40_000
  /// The time after an answer within which a request counts as fast, in nanoseconds.
  private static let quick: Int64 = 100_000
  private static let leastStreak = 16
  private static let longestStreak = 1 << 16

  private var streak = 0
  private var needed = leastStreak
  private var answered: Int64 = 0

  /// Counts a request that came through the loop.
  mutating func cameBack(now: Int64) { streak = now - answered < Self.quick ? streak + 1 : 0 }

  /// Records that the answer was sent; returns true to poll now. `now` is in nanoseconds of `CLOCK_MONOTONIC`.
  mutating func looks(now: Int64) -> Bool {
    answered = now
    return streak >= needed
  }

  /// Calls `take` repeatedly from `now` on, until it returns true or the time to poll is over.
  static func poll(from now: Int64, _ clock: Clock, _ take: () -> Bool) -> Bool {
    repeat { if take() { return true } } while clock.monotonic() < now + patience
    return false
  }

  /// Records the result of a poll.
  mutating func looked(found: Bool) {
    if found {
      needed = max(Self.leastStreak, needed / 2)
    } else {
      streak = 0
      needed = min(Self.longestStreak, needed * 2)
    }
  }
}
