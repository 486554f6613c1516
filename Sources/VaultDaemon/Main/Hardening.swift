internal import Glibc
internal import VaultProcess
internal import VaultService

/// The steps that take rights away from the process before it holds a key.
enum Hardening {
  /// Turns off core dumps and tracing by the same user, and keeps others from reading new files. Resets state inherited
  /// from a script that happened to start the daemon.
  static func apply() throws(SystemError) {
    // State set by a service manager is its administrator's decision, and stays.
    if unsafe getenv("NOTIFY_SOCKET") == nil { Inheritance.reset() }
    // The time zone of the log. A variable may name any file as the time zone, even a file whose read never ends, and
    // each line of the log would read that file.
    unsafe setenv("TZ", "UTC0", 1)
    umask(0o077)
    // Every path is absolute; the daemon does not keep its starting directory busy.
    try SystemError.check("chdir /", unsafe chdir("/"))
    do throws(StartedProgram.Failure) { try Confinement.begin() } catch {
      throw SystemError(call: error.call, code: error.errno)
    }
  }
}
