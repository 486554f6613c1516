internal import CLinux
internal import Glibc

/// Keeps the memory of a process that handles secrets out of core files and away from the user's other programs.
///
/// Only the client takes these steps itself, because it restores the earlier limit and signals for the programs that it
/// starts.
public enum Confinement {
  /// Turns off core files, and tracing by the same user. From now on, a write to a reader that went away fails with
  /// EPIPE, and a write beyond the allowed size of a file fails with EFBIG.
  ///
  /// The kernel grants these calls to every program. Each is made, even if another failed.
  ///
  /// - Throws: the call that failed. A program that holds a key should not begin then.
  public static func begin() throws(StartedProgram.Failure) {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    let limited = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
    let code = errno
    guard vault_set_not_dumpable() == 0 else { throw StartedProgram.Failure(call: "prctl", errno: errno) }
    guard limited else { throw StartedProgram.Failure(call: "setrlimit", errno: code) }
  }
}
