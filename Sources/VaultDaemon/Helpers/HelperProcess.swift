internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultService

/// A helper program that runs as a child of the daemon, with one end of a socket pair as its standard input.
///
/// It starts as ``StartedProgram`` describes: with no other descriptor, the given environment, and no blocked signal.
/// In addition it has the limit of open files that the daemon started with, `/dev/null` as its output, and
/// ``HelperErrors`` as its standard error. When its pidfd reports its end it is reaped, so the daemon never waits for
/// it. Everything here happens on the event loop.
final class HelperProcess {
  /// The way in which the process ended: its exit code, or the signal.
  enum Ending: Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  /// The daemon's end of the socket pair, which does not block. ``close()`` closes it; otherwise the end of the process
  /// does. Its watcher must stop watching before that.
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
  /// `onEnd` is called once when the process has ended and has been reaped, however it ended. The last bytes that it
  /// sent can still be read from ``socket`` then.
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
    // The child cannot have been reaped yet, so the pid is still its own.
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
    // The handler keeps this object alive until the child is reaped.
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

  /// Waits until the process has ended, at most for this time.
  func awaitEnd(milliseconds: Int64) {
    var polled = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    if !hasEnded { _ = unsafe poll(&polled, 1, Int32(clamping: max(0, milliseconds))) }
  }

  /// Kills the process if it still runs. It is reaped a little later, and ``HelperEnds`` waits for that. While the
  /// daemon ends, this does nothing, because ``HelperEnds/endAll(_:)`` ends the process.
  func kill() {
    guard !hasEnded, !ends.isAtEnd else { return }
    ends.isEnding(self)
    _ = Glibc.kill(pid, SIGKILL)
  }

  /// Shuts the connection down, so that the helper sees that nothing more is asked and that nobody reads its answers.
  func hangUp() {
    if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
  }

  /// Closes the daemon's end of the socket pair; safe to call twice.
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

  /// Kills and reaps a child that could not be watched. The child ends at once, so waiting for it costs nothing.
  private static func endAndReap(_ pid: pid_t) {
    _ = Glibc.kill(pid, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  }

  private static func pair() throws(SystemError) -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    try SystemError.check("socketpair", unsafe socketpair(AF_UNIX, type, 0, &ends))
    // Only the daemon's end does not block. The flag belongs to one end, and a helper may block.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  /// Starts the program; returns its pid, and the daemon's end of the pipe for its standard error.
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
      // posix_spawn(3) cannot set the limit. Setting it now is in time, because the helper does nothing before it is
      // asked.
      OpenFiles.restoreLimit(of: started.pid)
      return (started.pid, errors.read)
    } catch {
      Glibc.close(errors.read)
      throw error
    }
  }
}
