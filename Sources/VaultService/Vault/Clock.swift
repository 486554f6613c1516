package import CLinux
internal import Glibc

/// The clocks the daemon reads, as one value so that the pure parts can be driven by another.
///
/// Deadlines live on `CLOCK_BOOTTIME`, which goes on while the machine sleeps; `CLOCK_MONOTONIC` does not, so the
/// difference of the two grows only in a sleep and gives a resume away where no logind tells of it.
package struct Clock: Sendable {
  /// Nanoseconds since boot, sleep included.
  package var boot: @Sendable () -> Int64
  /// Nanoseconds since boot, sleep excluded.
  package var monotonic: @Sendable () -> Int64
  /// Unix time in seconds.
  package var wall: @Sendable () -> Int64

  package static let system = Clock(
    boot: { Clock.nanoseconds(of: CLOCK_BOOTTIME) },
    monotonic: { Clock.nanoseconds(of: CLOCK_MONOTONIC) },
    wall: { Int64(Clock.read(CLOCK_REALTIME).tv_sec) })

  /// Nanoseconds this machine has slept since it started, to about a tenth of a second: two clocks are not read at once,
  /// so a reading between which the thread had to wait is taken again.
  package var slept: Int64 {
    while true {
      let before = monotonic()
      let sinceBoot = boot()
      if monotonic() - before < 100_000_000 { return sinceBoot - before }
    }
  }

  /// ``boot``, or nil when the machine has slept for more than a second since ``slept`` was `before`. The usual answer
  /// takes two readings.
  package func bootUnlessSlept(since before: Int64) -> Int64? {
    // A wait between these two readings makes the difference larger, never smaller; so it is only ever asked again.
    let first = monotonic()
    let now = boot()
    return now - first - before > 1_000_000_000 && slept - before > 1_000_000_000 ? nil : now
  }

  private static func nanoseconds(of clock: clockid_t) -> Int64 { nanoseconds(read(clock)) }

  /// The time in nanoseconds; one too far to count in them, 292 years, is the last that can be.
  package static func nanoseconds(_ time: timespec) -> Int64 {
    let (whole, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, further) = whole.addingReportingOverflow(Int64(time.tv_nsec))
    return overflow || further ? .max : sum
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return time
  }
}
