internal import CLinux
internal import Glibc

/// Keeps a secret that this program holds out of core files, and out of sight of the user's other programs.
enum Hardening {
  /// The limit on core files that the program was started with. It is lowered when this is looked at first.
  private static let earlier: rlimit? = {
    var limit = rlimit()
    guard unsafe getrlimit(core, &limit) == 0 else { return nil }
    setCoreLimit(rlimit(rlim_cur: 0, rlim_max: limit.rlim_max))
    return limit
  }()

  /// The disposition of SIGXFSZ that the program was started with. It is changed when this is looked at first.
  private static let earlierHandler = signal(SIGXFSZ, SIG_IGN)

  /// Call it before any secret is read. What it asks for, the kernel refuses to no program.
  static func begin() {
    _ = earlier
    // No core file either where the system pipes them to a program, which no limit prevents; no ptrace, no /proc/PID/mem.
    // execve() resets it for the programs that are started.
    _ = vault_set_not_dumpable()
    // A file that must not grow any more shows as EFBIG. StartedProgram resets it for the programs that are started.
    _ = earlierHandler
  }

  /// Starts a program in `body` with the limit on core files that this one was started with.
  static func withEarlierLimit<R>(_ body: () -> R) -> R {
    guard let earlier else { return body() }
    setCoreLimit(earlier)
    defer { setCoreLimit(rlimit(rlim_cur: 0, rlim_max: earlier.rlim_max)) }
    return body()
  }

  /// Starts a program in `body`, or becomes one, with all that this one was started with: ``begin()`` left no other trace.
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
