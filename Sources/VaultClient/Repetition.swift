/// Decides how often a call is made again whose daemon went away before it answered.
///
/// A restart takes one, and so does the next restart that meets the same call. A daemon that goes away each time may do so
/// because of that call, and is not to be called in a tight loop.
struct Repetition {
  /// The most in a row. With the call itself they are fewer than the starts that systemd allows a unit (five within ten
  /// seconds, systemd.unit(5)): one bad call must not put an end to the daemon.
  static let most = 3
  /// The wait before the second one, which becomes longer; the first one comes at once.
  private static let pause = Duration.milliseconds(50)
  /// A daemon that was there for so long has done without the call what it does now.
  private static let calm = Duration.seconds(10)

  private var count = 0
  private var recently = Deadline(after: calm)

  /// Counts one more; the time to wait before it, or nil when there were too many.
  mutating func next() -> Duration? {
    if recently.hasPassed { count = 0 }
    recently = Deadline(after: Self.calm)
    guard count < Self.most else { return nil }
    defer { count += 1 }
    return Self.pause * count
  }
}
