import CLinux
import Foundation
import Glibc
import Synchronization

/// The clocks of a machine that a test controls: time passes, or the machine sleeps without telling anybody, when the
/// test says so. `CLOCK_BOOTTIME` can also be held, so that only the test moves it.
///
/// A library that is loaded before the C library answers for `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`. All other clocks
/// and the kernel's timers stay as they are: a program notices a change when it reads a clock, as `vaultd` does at each
/// request.
public final class MachineClock: Sendable {
  private let file: String
  private let library: String
  private let passed = Mutex<Int64>(0)

  /// The environment variables that make a program use this clock.
  var environment: [String: String?] { ["LD_PRELOAD": library, "VAULT_TEST_SLEPT": file] }

  /// Makes the clock of every daemon that is started in `sandbox` from now on.
  @discardableResult
  public init(in sandbox: Sandbox) throws {
    file = sandbox.root + "/slept"
    library = sandbox.root + "/clock.so"
    try Data(count: 24).write(to: URL(fileURLWithPath: file))
    try sandbox.compileLibrary(Self.source, to: library)
    sandbox.state.withLock { $0.clock = self }
  }

  /// Sets the total time for which the machine has slept, in seconds.
  public func sleep(seconds: Int64) throws { try put(seconds, at: 0) }

  /// Lets this many more seconds pass while the machine is awake.
  public func pass(seconds: Int64) throws {
    try passed.withLock { passed throws in
      passed += seconds
      try put(passed, at: 16)
    }
  }

  /// Holds `CLOCK_BOOTTIME` from now on, so that only the test lets a time expire, however slow the machine is.
  public func hold() throws {
    var now = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &now)
    try put(Int64(now.tv_sec), at: 8)
  }

  private func put(_ number: Int64, at offset: off_t) throws {
    let descriptor = unsafe open(file, O_WRONLY)
    defer { close(descriptor) }
    var number = number
    // One call writes all eight bytes, so that the reader never sees a part of them.
    guard unsafe pwrite(descriptor, &number, 8, offset) == 8 else { throw SandboxError("write \(file): \(errno)") }
  }

  private static let source = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <time.h>
    #include <unistd.h>

    /* For how long it has slept, the time that the clock stands at, or 0, and how much has passed; in seconds. */
    static volatile long *slept;

    __attribute__((constructor)) static void begin(void) {
      const char *path = getenv("VAULT_TEST_SLEPT");
      int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
      if (file < 0) return;
      void *page = mmap(0, 24, PROT_READ, MAP_SHARED, file, 0);
      close(file);
      if (page != MAP_FAILED) slept = page;
    }

    int clock_gettime(clockid_t clock, struct timespec *time) {
      int result = syscall(SYS_clock_gettime, clock, time);
      if (clock == CLOCK_BOOTTIME && slept) {
        if (slept[1]) {
          time->tv_sec = slept[1];
          time->tv_nsec = 0;
        }
        time->tv_sec += slept[0];
      }
      if ((clock == CLOCK_BOOTTIME || clock == CLOCK_MONOTONIC) && slept) time->tv_sec += slept[2];
      return result;
    }

    """
}
