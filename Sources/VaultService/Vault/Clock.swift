internal import CLinux
internal import Glibc

/// The clocks that the daemon reads, as one value, so that parts without system calls can run with other clocks.
///
/// Deadlines use `CLOCK_BOOTTIME`, which continues while the machine sleeps. `CLOCK_MONOTONIC` does not, so the
/// difference of the two grows only during a sleep, and reveals a resume if no logind reports it.
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

  /// The nanoseconds that this machine has slept since it started, to about a tenth of a second. The two clocks cannot
  /// be read at the same moment, so the reading is repeated if the thread had to wait between them.
  package var slept: Int64 {
    while true {
      let before = monotonic()
      let sinceBoot = boot()
      if monotonic() - before < 100_000_000 { return sinceBoot - before }
    }
  }

  /// The value of ``boot``; nil if the machine has slept for more than a second since ``slept`` was `before`. Usually
  /// two readings suffice.
  package func bootUnlessSlept(since before: Int64) -> Int64? {
    // A wait between these two readings makes the difference larger, never smaller, so the worst effect is one more
    // reading.
    let first = monotonic()
    let now = boot()
    return now - first - before > 1_000_000_000 && slept - before > 1_000_000_000 ? nil : now
  }

  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    let time = read(clock)
    return nanoseconds(time.tv_sec, time.tv_nsec)
  }

  /// Converts seconds and nanoseconds to nanoseconds. A time beyond the range of `Int64` (292 years) becomes the
  /// largest number.
  package static func nanoseconds(_ seconds: Int, _ rest: Int) -> Int64 {
    let (whole, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, further) = whole.addingReportingOverflow(Int64(rest))
    return overflow || further ? .max : sum
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return time
  }
}
