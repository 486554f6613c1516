import CLinux

/// A point in time on CLOCK_MONOTONIC, in milliseconds.
struct Deadline {
  private let at: Int64

  init(in milliseconds: Int64) { at = Self.now + milliseconds }

  /// Milliseconds until the deadline, for poll(2); 0 when it has passed.
  var left: Int32 { Int32(max(0, at - Self.now)) }

  private static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Waits until `descriptor` is ready; false when the time is up.
  func wait(for events: Int32, on descriptor: Int32) -> Bool {
    while true {
      var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      let count = unsafe poll(&polled, 1, left)
      if count >= 0 { return count > 0 }
      if vault_errno() != EINTR { return false }
    }
  }
}
