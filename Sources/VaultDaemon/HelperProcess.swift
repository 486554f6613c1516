internal import CLinux
internal import Glibc

/// A helper program that runs as a child of the daemon, with one end of a socket pair as its standard input.
///
/// It gets nothing else: no other descriptor, the environment it is given, the limit of open files that the daemon
/// began with, an empty signal mask, `/dev/null` for its output, and ``HelperErrors`` for what it complains of. It is
/// reaped when its pidfd says that it has ended, so the daemon never waits for it. All of it happens on the event loop.
final class HelperProcess {
  /// How it ended: the exit code, or the signal.
  enum Ending: Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  /// Our end of the socket pair, which does not block: closed by ``close()``, and with the process at the latest.
  /// Whoever watches it stops watching first.
  private(set) var socket: Int32
  private let pid: pid_t
  private let pidfd: Int32
  private let watcher: Watcher
  private let errors: HelperErrors
  private let ends: HelperEnds
  private let onEnd: (Ending) -> Void
  private var hasEnded = false

  /// Starts `program`, an absolute path, with `environment` as lines `NAME=value`.
  ///
  /// `onEnd` is called once, when it has ended and has been reaped, whoever ended it. What it sent last can still be
  /// read from ``socket`` then.
  init(
    _ program: String, environment: [String], watcher: Watcher, ends: HelperEnds, onEnd: @escaping (Ending) -> Void
  ) throws(SystemError) {
    let (ours, theirs) = try Self.pair()
    defer { Glibc.close(theirs) }
    let pid: pid_t
    do throws(SystemError) {
      let (errors, theirErrors) = try Self.pipe()
      defer { Glibc.close(theirErrors) }
      self.errors = HelperErrors(errors, of: program)
      pid = try Self.spawn(program, environment, input: theirs, errors: theirErrors)
    } catch {
      Glibc.close(ours)
      throw error
    }
    // The child cannot have been reaped, so the number is its own.
    let pidfd = pidfd_open(pid, 0)
    guard pidfd >= 0 else {
      let error = SystemError(call: "pidfd_open")
      Self.endAndReap(pid)
      Glibc.close(ours)
      throw error
    }
    self.socket = ours
    self.pid = pid
    self.pidfd = pidfd
    self.watcher = watcher
    self.ends = ends
    self.onEnd = onEnd
    // The handler keeps the process object until the child is reaped.
    do throws(SystemError) {
      try watcher.watch(pidfd) { self.reap() }
      try watcher.watch(errors.descriptor) { self.handOnErrors() }
    } catch {
      watcher.forget(pidfd)
      Self.endAndReap(pid)
      Glibc.close(pidfd)
      Glibc.close(ours)
      throw error
    }
    ends.isRunning(self)
  }

  /// Waits until it has ended, for a second at most: one that was killed may be stuck in a device.
  func awaitEnd() {
    var polled = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    if !hasEnded { _ = unsafe poll(&polled, 1, 1000) }
  }

  /// Ends it if it still runs. It is reaped a little later, which ``HelperEnds`` waits for.
  func kill() {
    guard !hasEnded else { return }
    ends.isEnding(self)
    _ = Glibc.kill(pid, SIGKILL)
  }

  /// Closes our end of the socket pair; safe to call twice.
  func close() {
    guard socket >= 0 else { return }
    Glibc.close(socket)
    socket = -1
  }

  private func handOnErrors() {
    guard errors.descriptor >= 0, !errors.handOn() else { return }
    watcher.forget(errors.descriptor)
    errors.close()
  }

  private func reap() {
    var status: Int32 = 0
    guard !hasEnded, unsafe waitpid(pid, &status, WNOHANG) == pid else { return }
    hasEnded = true
    watcher.forget(pidfd)
    Glibc.close(pidfd)
    handOnErrors()
    watcher.forget(errors.descriptor)
    errors.close()
    // The layout of a wait status (wait(2)); its macros are not imported.
    let signal = status & 0x7f
    onEnd(signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal))
    close()
    ends.isGone(self)
  }

  /// Only for a child that nobody could watch: it ends at once, so waiting for it costs nothing.
  private static func endAndReap(_ pid: pid_t) {
    _ = Glibc.kill(pid, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  }

  private static func pair() throws(SystemError) -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    try SystemError.check("socketpair", unsafe socketpair(AF_UNIX, type, 0, &ends))
    // Only ours: the flag belongs to the end, and a helper may well block.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  private static func pipe() throws(SystemError) -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    try SystemError.check("pipe2", unsafe pipe2(&ends, O_CLOEXEC))
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  private static func spawn(
    _ program: String, _ environment: [String], input: Int32, errors: Int32
  ) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
    // The daemon blocks the signals it reads from a descriptor and ignores SIGPIPE; the helper begins afresh.
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // Each string is copied for the call and freed after it; the arrays end with a null pointer.
    var arguments = unsafe [strdup(program), nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      for index in unsafe arguments.indices { unsafe free(arguments[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var pid: pid_t = 0
    let failure = unsafe posix_spawn(&pid, program, &actions, &attributes, &arguments, &variables)
    guard failure == 0 else { throw SystemError(call: "start \(program)", code: failure) }
    // posix_spawn(3) cannot set it. The helper has nothing to do until it is asked.
    OpenFiles.restoreLimit(of: pid)
    return pid
  }
}
