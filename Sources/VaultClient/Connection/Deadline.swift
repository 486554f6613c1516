internal import CLinux
internal import Glibc

/// A point on CLOCK_MONOTONIC by which something must have happened, or never.
struct Deadline: Sendable {
  private let nanoseconds: Int64?

  /// Makes a deadline at `duration` from now; nil means never.
  init(after duration: Duration?) {
    nanoseconds = duration.map { Deadline.now + min(max(0, $0.nanoseconds), .max / 2) }
  }

  /// The timeout for `poll`: milliseconds from now, rounded up; -1 means never.
  var pollTimeout: Int32 {
    guard let nanoseconds else { return -1 }
    let left = max(0, nanoseconds - Deadline.now)
    return Int32(clamping: (left + 999_999) / 1_000_000)
  }

  /// True when the deadline is over.
  var hasPassed: Bool { pollTimeout == 0 }

  /// Returns the earlier of this deadline and `duration` from now.
  func orAfter(_ duration: Duration) -> Deadline {
    let other = Deadline(after: duration)
    guard let nanoseconds, let others = other.nanoseconds else { return other }
    return nanoseconds < others ? self : other
  }

  private static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension Duration {
  /// The duration in nanoseconds, at most about 292 years.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow
      ? (seconds < 0 ? .min : .max) : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
  }

  /// The duration in milliseconds, rounded up, at least 0.
  var milliseconds: Int { Int(max(0, nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))) }
}
