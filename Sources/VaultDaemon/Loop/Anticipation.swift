internal import VaultService

/// Decides whether to poll for a client's next request for some microseconds before the loop goes to sleep.
///
/// A client that asks one thing after another sends its next request microseconds after each answer: sooner than the
/// loop's thread could fall asleep and be woken, which costs more than the request. So the thread looks a little longer
/// for a client that has kept coming back that fast. A look in vain (the client has enough, or can run on this very CPU
/// alone) makes the next one rarer by half; nobody who asks now and then is ever waited for, and an idle daemon sleeps.
struct Anticipation {
  /// The time to poll, in nanoseconds.
  private static let patience: Int64 = 20_000
  /// The time after an answer within which a request counts.
  private static let quick: Int64 = 50_000
  private static let leastStreak = 16
  private static let longestStreak = 1 << 16

  private var streak = 0
  private var needed = leastStreak
  private var answered: Int64 = 0

  /// A request came by way of the loop; `alone` when nobody else has asked since this client's last one.
  mutating func cameBack(now: Int64, alone: Bool) {
    streak = alone && now - answered < Self.quick ? streak + 1 : 0
  }

  /// The answer went out; the result says whether to look now. `now` is `CLOCK_MONOTONIC`, nanoseconds.
  mutating func looks(now: Int64) -> Bool {
    answered = now
    return streak >= needed
  }

  /// Has `take` look again and again, from `now` on, until it finds something or it has been long enough.
  static func poll(from now: Int64, _ clock: Clock, _ take: () -> Bool) -> Bool {
    repeat { if take() { return true } } while clock.monotonic() < now + patience
    return false
  }

  /// Takes note of what a poll found.
  mutating func looked(found: Bool) {
    if found {
      needed = max(Self.leastStreak, needed / 2)
    } else {
      streak = 0
      needed = min(Self.longestStreak, needed * 2)
    }
  }
}
