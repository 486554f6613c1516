internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultService

/// A helper program that runs as a child of the daemon, with one end of a socket pair as its standard input.
///
/// It gets what ``StartedProgram`` leaves: no other descriptor, the environment it is given, and no blocked signal;
/// besides the limit of open files that the daemon began with, `/dev/null` for its output, and ``HelperErrors`` for what
/// it complains of. It is reaped when its pidfd says that it has ended, so the daemon never waits for it. All of it
/// happens on the event loop.
final class HelperProcess {
  /// The way in which it ended: the exit code, or the signal.
  enum Ending: Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  /// Our end of the socket pair, which does not block: closed by ``close()``, and with the process at the latest.
  /// Whoever watches it stops watching first.
  private(set) var socket: Int32
  private let pid: pid_t
  private let pidfd: Int32
  private let watcher: DescriptorWatcher
  private let errors: HelperErrors
  private let ends: HelperEnds
  private let onEnd: (Ending) -> Void
  private var hasEnded = false

  /// Starts `program`, an absolute path, with `environment` as lines `NAME=value`.
  ///
  /// `onEnd` is called once, when it has ended and has been reaped, whoever ended it. What it sent last can still be
  /// read from ``socket`` then.
  init(
    _ program: String, environment: [String], watcher: DescriptorWatcher, ends: HelperEnds,
    onEnd: @escaping (Ending) -> Void
  ) throws(SystemError) {
    let (ours, theirs) = try Self.pair()
    defer { Glibc.close(theirs) }
    let pid: pid_t
    do throws(StartedProgram.Failure) {
      let started = try Self.start(program, environment, input: theirs)
      pid = started.pid
      errors = HelperErrors(started.errors, of: program)
    } catch {
      Glibc.close(ours)
      throw SystemError(call: error.call, code: error.errno)
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

  /// Waits until it has ended, for that long at most.
  func awaitEnd(milliseconds: Int64) {
    var polled = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    if !hasEnded { _ = unsafe poll(&polled, 1, Int32(clamping: max(0, milliseconds))) }
  }

  /// Ends it if it still runs. It is reaped a little later, which ``HelperEnds`` waits for. At the daemon's end it is left
  /// to ``HelperEnds/endAll(_:)``.
  func kill() {
    guard !hasEnded, !ends.isAtEnd else { return }
    ends.isEnding(self)
    _ = Glibc.kill(pid, SIGKILL)
  }

  /// Lets it know that nothing more is asked, and that nobody hears what it says.
  func hangUp() {
    if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
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

  /// Starts it and answers its number, and our end of the pipe that its standard error is.
  private static func start(
    _ program: String, _ environment: [String], input: Int32
  ) throws(StartedProgram.Failure) -> (pid: pid_t, errors: Int32) {
    let errors = try StartedProgram.pipe(for: 3)
    defer { Glibc.close(errors.write) }
    _ = fcntl(errors.read, F_SETFL, O_NONBLOCK)
    do throws(StartedProgram.Failure) {
      let started = try StartedProgram(
        [program], environment: environment, descriptors: [.ours(input), .null, .ours(errors.write)],
        hasOwnSession: false)
      // posix_spawn(3) cannot set it. The helper has nothing to do until it is asked.
      OpenFiles.restoreLimit(of: started.pid)
      return (started.pid, errors.read)
    } catch {
      Glibc.close(errors.read)
      throw error
    }
  }
}
