internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// A program that runs as a child, and whose standard output and standard error are passed on without certain values.
///
/// It stays in this process's group, so what is typed on a terminal reaches it by itself; what another process sends this one is
/// passed on. This one ends when the program has ended and nobody holds its output any more, and as the program did.
struct MaskedProgram: ~Copyable {
  /// The signals that are passed on.
  private static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT]
  private static let chunk = 65536

  private let pid: pid_t
  /// The forwarded signals (signalfd(2)); it also tells of the program's end.
  private let signals: Int32
  private var output: MaskedStream
  private var errors: MaskedStream

  /// Starts it, found as execvp(3) does.
  init(_ command: [String], _ environment: borrowing EnvironmentBlock, _ values: MaskedValues) throws(Failure) {
    let output = try MaskedStream(to: STDOUT_FILENO, values)
    let errors = try MaskedStream(to: STDERR_FILENO, values)
    var (set, earlier) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&set)
    for number in Self.forwarded + [SIGCHLD] { unsafe sigaddset(&set, number) }
    unsafe sigprocmask(SIG_BLOCK, &set, &earlier)
    let signals = unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard signals >= 0 else { throw Failure(.system, "cannot wait for signals: \(Output.describe(errno))") }
    // Whoever ignores it cannot be told how a child ended.
    signal(SIGCHLD, SIG_DFL)
    let ends = [output.theirs, errors.theirs]
    var pid: pid_t = 0
    let code = environment.use {
      Hardening.withEarlierState { unsafe Self.start(command, ends, mask: &earlier, &pid) }
    }
    guard code == 0 else { throw RunRequest.failure(command[0], code) }
    // Whoever reads no more of the output ends the program's writing, and not this one.
    signal(SIGPIPE, SIG_IGN)
    for end in ends { close(end) }
    (self.pid, self.signals) = (pid, signals)
    self.output = output
    self.errors = errors
  }

  private static func start(
    _ command: [String], _ ends: [Int32], mask: UnsafePointer<sigset_t>, _ pid: inout pid_t
  ) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDOUT_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
    unsafe posix_spawnattr_setsigmask(&attributes, mask)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    // Each string is copied for the call and freed after it; the array ends with a null pointer.
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    return unsafe posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, environ)
  }

  /// Passes its output on, and ends this process as the program ended.
  consuming func run() throws {
    var status: Int32?
    while status == nil || output.isOpen || errors.isOpen {
      var polled = [signals, output.descriptor, errors.descriptor].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      if unsafe poll(&polled, 3, -1) < 0, errno != EINTR {
        throw Failure(.io, "cannot wait for the program: \(Output.describe(errno))")
      }
      if polled[1].revents != 0 { try output.pass(atMost: Self.chunk) }
      if polled[2].revents != 0 { try errors.pass(atMost: Self.chunk) }
      if polled[0].revents != 0 { passSignals() }
      if status == nil { status = ended() }
    }
    let end = WatchRun.End(status: status ?? 0)
    switch end {
    case .exit(let code): throw ExitCode(code)
    case .signal(let number): Self.end(by: number)
    }
  }

  private borrowing func ended() -> Int32? {
    var status: Int32 = 0
    return unsafe waitpid(pid, &status, WNOHANG) == pid ? status : nil
  }

  private borrowing func passSignals() {
    var signal = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    while unsafe read(signals, &signal, size) == size {
      let number = Int32(signal.ssi_signo)
      // What the kernel sends, such as for control-C, it sends to all of the process group.
      if number != SIGCHLD, signal.ssi_code <= 0, ended() == nil { kill(pid, number) }
    }
  }

  /// Ends by the signal that has ended the program, so that a shell says of this one what it would of that.
  private static func end(by number: Int32) -> Never {
    var set = sigset_t()
    signal(number, SIG_DFL)
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, number)
    kill(getpid(), number)
    unsafe sigprocmask(SIG_UNBLOCK, &set, nil)
    // One that does not end a program here.
    exit(128 + number)
  }
}
