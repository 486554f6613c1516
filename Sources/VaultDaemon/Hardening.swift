internal import CLinux
internal import Glibc

/// What the process gives up before it holds a key.
enum Hardening {
  /// No core dump, no ptrace by the same user, no file readable by others.
  static func apply() throws(SystemError) {
    umask(0o077)
    // Every path is absolute; the directory it was started from is not kept busy.
    try SystemError.check("chdir /", unsafe chdir("/"))
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    try SystemError.check("setrlimit", unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none))
    try SystemError.check("prctl", vault_set_not_dumpable())
    // A client that went away shows as EPIPE.
    signal(SIGPIPE, SIG_IGN)
  }
}
