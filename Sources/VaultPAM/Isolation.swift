internal import CLinux
internal import Glibc
internal import VaultProcess

/// The steps that take rights and inherited state away from this process before a PAM module is loaded into it.
enum Isolation {
  /// Takes the connection over from standard input and closes all other descriptors except standard error. Nil when
  /// standard input is not a connected Unix stream socket.
  ///
  /// The connection moves to a descriptor that no program started by a module inherits. `/dev/null` takes its place, so
  /// that a module's `printf` or `scanf` cannot interfere with the frames.
  static func takeConnection() -> Int32? {
    var socket = stat()
    guard unsafe fstat(STDIN_FILENO, &socket) == 0, socket.st_mode & S_IFMT == S_IFSOCK else { return nil }
    let connection = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard connection >= 0, null >= 0 else { return nil }
    for standard in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      var status = stat()
      let isSocket = unsafe fstat(standard, &status) == 0 && status.st_ino == socket.st_ino
      // Standard error leads to the journal, unless inetd made it a copy of the connection as well.
      if standard != STDERR_FILENO || isSocket, dup2(null, standard) != standard { return nil }
    }
    if connection > 3, close_range(3, UInt32(connection) - 1, 0) != 0 { return nil }
    return close_range(UInt32(connection) + 1, .max, 0) == 0 ? connection : nil
  }

  /// Turns off core dumps and tracing by the same user, and clears inherited state that could influence a module.
  static func apply() {
    umask(0o077)
    _ = unsafe chdir("/")
    try? Confinement.begin()
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe pthread_sigmask(SIG_SETMASK, &signals, nil)
    // Modules wait for the programs that they start.
    signal(SIGCHLD, SIG_DFL)
    cleanEnvironment()
  }

  /// Keeps only the variables that PAM modules and the programs they start need. The address of another system bus is
  /// kept only in a process without privileges, where it cannot help anybody to gain rights.
  private static func cleanEnvironment() {
    let bus: String? =
      geteuid() == 0 || geteuid() != getuid()
      ? nil : unsafe getenv("DBUS_SYSTEM_BUS_ADDRESS").map { unsafe String(cString: $0) }
    clearenv()
    unsafe setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1)
    unsafe setenv("LANG", "C.UTF-8", 1)
    if let bus { unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", bus, 1) }
  }
}
