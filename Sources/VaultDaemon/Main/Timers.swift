internal import CLinux
internal import Glibc
internal import VaultService

/// A timer that fires once at a time of its clock.
///
/// `CLOCK_BOOTTIME` also counts the time that the machine sleeps, so a deadline that passed during a sleep is due at
/// the resume.
struct DeadlineTimer {
  let descriptor: Int32
  private let clock: Int32

  init(_ clock: Int32) throws(SystemError) {
    self.clock = clock
    descriptor = try SystemError.check("timerfd_create", vault_timerfd(clock))
  }

  /// The present time of the clock, in nanoseconds.
  var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Fires once at `deadline` nanoseconds of the clock; with nil, never.
  func arm(_ deadline: Int64?) {
    // Zero would disarm the timer, so a deadline long past becomes the clock's first nanosecond.
    let at = deadline.map { max($0, 1) } ?? 0
    var setting = itimerspec()
    setting.it_value = timespec(tv_sec: Int(at / 1_000_000_000), tv_nsec: Int(at % 1_000_000_000))
    // This fails only for a bad descriptor or time, and both are valid here.
    _ = unsafe timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
  }

  /// Reads the expiry, so that the descriptor is silent again.
  func drain() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}

/// Reports that the wall clock was set or that the machine resumed, without polling. It uses a `CLOCK_REALTIME` timer
/// that is never due, and that the kernel cancels on either event (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
struct ClockWatch {
  let descriptor: Int32

  init() throws(SystemError) {
    descriptor = try SystemError.check("timerfd_create", vault_timerfd(CLOCK_REALTIME))
    arm()
  }

  func arm() {
    var setting = itimerspec()
    setting.it_value = timespec(tv_sec: .max / 1_000_000_000, tv_nsec: 0)
    let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
    _ = unsafe timerfd_settime(descriptor, flags, &setting, nil)
  }

  /// Reads the cancellation and watches again.
  func drain() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    arm()
  }
}

/// The signals the daemon acts on, as a descriptor.
struct SignalWatch {
  static let signals = [SIGTERM, SIGINT, SIGUSR1, SIGHUP]
  let descriptor: Int32

  /// Blocks the signals for this thread and for threads that it starts later, so call this before there are others.
  init() throws(SystemError) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in Self.signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    descriptor = try SystemError.check(
      "signalfd", unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC)))
  }

  /// Returns the next signal that has arrived; nil when there is none.
  func next() -> Int32? {
    var info = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard unsafe read(descriptor, &info, size) == size else { return nil }
    return Int32(info.ssi_signo)
  }
}
