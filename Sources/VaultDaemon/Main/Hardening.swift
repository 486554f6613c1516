internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultService

/// The rights that the process gives up before it holds a key.
enum Hardening {
  /// No core dump, no ptrace by the same user, no file readable by others; nothing of a script that happened to start it.
  static func apply() throws(SystemError) {
    // What a service manager has set is its administrator's word.
    if unsafe getenv("NOTIFY_SOCKET") == nil { Inheritance.reset() }
    // The log's times: a variable may name any file as the time zone, also one that never answers, and each line would look.
    unsafe setenv("TZ", "UTC0", 1)
    umask(0o077)
    // Every path is absolute; the directory it was started from is not kept busy.
    try SystemError.check("chdir /", unsafe chdir("/"))
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    try SystemError.check("setrlimit", unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none))
    try SystemError.check("prctl", vault_set_not_dumpable())
    // A client that went away shows as EPIPE.
    signal(SIGPIPE, SIG_IGN)
    // A file that must not grow any more shows as EFBIG.
    signal(SIGXFSZ, SIG_IGN)
  }
}
