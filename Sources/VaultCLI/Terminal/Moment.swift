internal import CLinux
internal import Glibc
internal import VaultModel

/// The time in milliseconds on CLOCK_MONOTONIC.
enum Moment {
  static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  /// Waits until `end`, whatever signals are caught meanwhile.
  static func wait(until end: Int) {
    while true {
      let rest = end - now()
      guard rest > 0 else { return }
      _ = poll(nil, 0, Int32(clamping: rest))
    }
  }

  /// Waits until the clock has passed `second`, in Unix seconds, unless that is further ahead than the next second.
  static func pass(second: Int64) {
    while 0...1 ~= Seconds.from(Int64(time(nil)), to: second) { usleep(10_000) }
  }
}
