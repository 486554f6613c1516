internal import Glibc

/// The clock for the program's waits.
enum Clock {
  /// The time of `CLOCK_MONOTONIC`, in microseconds.
  static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}
