internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultService

/// The steps that take rights away from the process before it holds a key.
enum Hardening {
  /// Turns off core dumps, tracing by the same user, and files readable by others. Resets state inherited from a script
  /// that happened to start the daemon.
  static func apply() throws(SystemError) {
    // State set by a service manager is its administrator's decision, and stays.
    if unsafe getenv("NOTIFY_SOCKET") == nil { Inheritance.reset() }
    // The time zone of the log. A variable may name any file as the time zone, even one that never answers, and each
    // line would read it.
    unsafe setenv("TZ", "UTC0", 1)
    umask(0o077)
    // Every path is absolute; the daemon does not keep its starting directory busy.
    try SystemError.check("chdir /", unsafe chdir("/"))
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    try SystemError.check("setrlimit", unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none))
    try SystemError.check("prctl", vault_set_not_dumpable())
    // A write to a client that went away fails with EPIPE.
    signal(SIGPIPE, SIG_IGN)
    // A write to a file that must not grow any more fails with EFBIG.
    signal(SIGXFSZ, SIG_IGN)
  }
}
