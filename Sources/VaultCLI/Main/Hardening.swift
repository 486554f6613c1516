internal import CLinux
internal import Glibc

/// Keeps the secrets of this program out of core files and away from the user's other programs.
enum Hardening {
  /// The limit on core files at the program's start. The first access to this property lowers the limit.
  private static let earlier: rlimit? = {
    var limit = rlimit()
    guard unsafe getrlimit(core, &limit) == 0 else { return nil }
    setCoreLimit(rlimit(rlim_cur: 0, rlim_max: limit.rlim_max))
    return limit
  }()

  /// The disposition of SIGXFSZ at the program's start. The first access to this property changes it.
  private static let earlierHandler = signal(SIGXFSZ, SIG_IGN)

  /// Hardens the process. Call this before any secret is read. The kernel grants these calls to every program.
  static func begin() {
    _ = earlier
    // A non-dumpable process gives no core file even to a program that the system pipes cores to, which no limit
    // prevents; and it allows no ptrace and no /proc/PID/mem. execve() resets the flag for programs that are started.
    _ = vault_set_not_dumpable()
    // With SIGXFSZ ignored, a file at its size limit gives EFBIG. StartedProgram resets this for programs that are
    // started.
    _ = earlierHandler
  }

  /// Runs `body`, which starts a program, with the limit on core files that this program was started with.
  static func withEarlierLimit<R>(_ body: () -> R) -> R {
    guard let earlier else { return body() }
    setCoreLimit(earlier)
    defer { setCoreLimit(rlimit(rlim_cur: 0, rlim_max: earlier.rlim_max)) }
    return body()
  }

  /// Runs `body`, which starts a program or becomes one, with the state that this program was started with. ``begin()``
  /// changed nothing else.
  static func withEarlierState<R>(_ body: () -> R) -> R {
    signal(SIGXFSZ, earlierHandler)
    defer { signal(SIGXFSZ, SIG_IGN) }
    return withEarlierLimit(body)
  }

  private static let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)

  private static func setCoreLimit(_ limit: rlimit) {
    var limit = limit
    _ = unsafe setrlimit(core, &limit)
  }
}
