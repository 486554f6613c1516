/// Limits how often a call is repeated when its daemon goes away before it answers.
///
/// A restart takes one repetition, and so does the next restart during the same call. A daemon that goes away each time
/// may do so because of that call, so it must not be called in a tight loop.
struct Repetition {
  /// The most repetitions in a row. Together with the call itself they are fewer than the starts that systemd allows a
  /// unit (five within ten seconds, systemd.unit(5)), so that one bad call cannot stop the daemon for good.
  static let most = 3
  /// The wait before the second repetition; later waits are longer. The first repetition comes at once.
  private static let pause = Duration.milliseconds(50)
  /// The time after which the count starts again. A daemon that ran for this long did not end because of the call.
  private static let calm = Duration.seconds(10)

  private var count = 0
  private var recently = Deadline(after: calm)

  /// Counts one more repetition; returns the time to wait before it, or nil when there were too many.
  mutating func next() -> Duration? {
    if recently.hasPassed { count = 0 }
    recently = Deadline(after: Self.calm)
    guard count < Self.most else { return nil }
    defer { count += 1 }
    return Self.pause * count
  }
}
