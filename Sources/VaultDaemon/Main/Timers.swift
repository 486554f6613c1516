internal import CLinux
internal import Glibc
internal import VaultService

/// A timer that fires once at a time of its clock.
///
/// `CLOCK_BOOTTIME` also counts the time the machine sleeps: a deadline that passed in a sleep is due at the resume.
struct DeadlineTimer {
  let descriptor: Int32

  init(_ clock: Int32) throws(SystemError) {
    descriptor = try SystemError.check("timerfd_create", vault_timerfd(clock))
  }

  /// Fires once at `deadline` nanoseconds of the clock, or, with nil, never.
  func arm(_ deadline: Int64?) {
    // Zero would disarm, so a deadline long past becomes the clock's first nanosecond.
    let at = deadline.map { max($0, 1) } ?? 0
    var setting = itimerspec()
    setting.it_value = timespec(tv_sec: Int(at / 1_000_000_000), tv_nsec: Int(at % 1_000_000_000))
    // Fails only for a bad descriptor or time, and both are ours.
    _ = unsafe timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
  }

  /// Takes the expiry so that the descriptor is silent again.
  func drain() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}

/// Tells when the wall clock was set or the machine resumed, without polling: a `CLOCK_REALTIME` timer that is never due
/// and which the kernel cancels on either (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
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

  /// Takes the cancellation and watches on.
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

  /// Blocks the signals for this thread and those it starts, so call it before there are others.
  init() throws(SystemError) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in Self.signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    descriptor = try SystemError.check(
      "signalfd", unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC)))
  }

  /// The next signal that has arrived.
  func next() -> Int32? {
    var info = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard unsafe read(descriptor, &info, size) == size else { return nil }
    return Int32(info.ssi_signo)
  }
}
