internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// A program that runs as a child, and whose standard output and standard error are passed on without certain values.
///
/// The program stays in this process's group, so signals that are typed on a terminal reach it directly. Every other
/// signal that this process gets is passed on. This process stops if the program is stopped on its terminal. It ends as
/// the program did, once the program has ended and nobody holds its output any more.
struct MaskedProgram: ~Copyable {
  /// The signals that a terminal sends to its whole process group.
  private static let typed = [SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGCONT]
  /// The signals that end no program by default.
  private static let harmless = SignalPipe.stopping + [SIGCHLD, SIGCONT, SIGURG, SIGWINCH]
  private static let chunk = 65536

  private let pid: pid_t
  /// A descriptor of the program (pidfd_open(2)). The program's number may be another's once the program has been
  /// waited for.
  private let program: Int32
  /// A descriptor of all signals (signalfd(2)).
  private let signals: Int32
  private var output: MaskedStream
  private var errors: MaskedStream
  /// The program's wait status from waitpid(2); nil until it is known.
  private var status: Int32?

  /// Starts the program, which is found as by execvp(3).
  init(_ command: [String], _ environment: borrowing EnvironmentBlock, _ values: MaskedValues) throws(Failure) {
    let output = try MaskedStream(to: STDOUT_FILENO, values)
    let errors = try MaskedStream(to: STDERR_FILENO, values)
    // Signals that this process's own faults cause end it even while they are blocked.
    var (set, earlier) = (sigset_t(), sigset_t())
    unsafe sigfillset(&set)
    unsafe sigprocmask(SIG_BLOCK, &set, &earlier)
    let signals = unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard signals >= 0 else { throw Failure(.system, "cannot wait for signals: \(Output.describe(errno))") }
    // A process that ignores SIGCHLD cannot learn how a child ended.
    signal(SIGCHLD, SIG_DFL)
    let ends = [output.theirs, errors.theirs]
    var pid: pid_t = 0
    let code = environment.use {
      Hardening.withEarlierState { unsafe Self.start(command, ends, mask: &earlier, &pid) }
    }
    guard code == 0 else { throw RunRequest.failure(command[0], code) }
    // The program was not waited for yet, so the number is still its own.
    let program = pidfd_open(pid, 0)
    guard program >= 0 else {
      let code = errno
      kill(pid, SIGKILL)
      throw Failure(.system, "cannot wait for the program: \(Output.describe(code))")
    }
    for end in ends { close(end) }
    (self.pid, self.program, self.signals) = (pid, program, signals)
    self.output = output
    self.errors = errors
  }

  /// Starts the program as the person would: unlike with ``StartedProgram``, it inherits this process's other
  /// descriptors, its earlier limits and signals and its process group, and is found in its PATH.
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

  /// Passes on the program's output, then ends this process as the program ended.
  ///
  /// - Throws: ``Failure`` if output could not be written, once the program has ended by itself.
  consuming func run() throws {
    var failure: Failure?
    while status == nil || output.isOpen || errors.isOpen {
      var polled = [pollfd(fd: signals, events: Int16(POLLIN), revents: 0), output.polled, errors.polled]
      if unsafe poll(&polled, 3, -1) < 0 {
        guard errno == EINTR else { throw Failure(.io, "cannot wait for the program: \(Output.describe(errno))") }
        continue
      }
      if polled[0].revents != 0 {
        passSignals()
        look()
      }
      do throws(Failure) {
        if polled[1].revents != 0 { try output.pass(atMost: Self.chunk) }
        if polled[2].revents != 0 { try errors.pass(atMost: Self.chunk) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    switch WatchRun.End(status: status ?? 0) {
    case .exit(let code): throw ExitCode(code)
    case .signal(let number): Self.end(by: number)
    }
  }

  /// Notes the program's end, and stops this process if the program was stopped. Only this function waits for the
  /// program.
  private mutating func look() {
    var next: Int32 = 0
    while status == nil, unsafe waitpid(pid, &next, WNOHANG | WUNTRACED) == pid {
      let (isStopped, number) = (next & 0xFF == 0x7F, next >> 8 & 0xFF)
      if !isStopped {
        status = next
      } else if SignalPipe.stopping.contains(number) {
        Self.stop(by: number)
      }
    }
  }

  private borrowing func passSignals() {
    var signal = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    while unsafe read(signals, &signal, size) == size {
      let number = Int32(signal.ssi_signo)
      // A signal from this process's own write, such as SIGPIPE, is known from the error of the write.
      let isOwn = signal.ssi_code == 0 && signal.ssi_pid == UInt32(getpid())
      if number == SIGCHLD || isOwn { continue }
      if status != nil {
        // The program has ended, and only somebody who holds the output or does not read it keeps this process waiting.
        if !Self.harmless.contains(number), !Self.isIgnored(number) { Self.end(by: number) }
      } else if signal.ssi_code <= 0 || !Self.typed.contains(number) {
        _ = pidfd_send_signal(program, number, nil, 0)
      }
    }
  }

  /// Stops this process as the program was stopped, because the shell sees only this process. Returns when both
  /// continue.
  private static func stop(by number: Int32) {
    var (set, blocked) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, number)
    kill(getpid(), number)
    unsafe sigprocmask(SIG_UNBLOCK, &set, &blocked)
    unsafe sigprocmask(SIG_SETMASK, &blocked, nil)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    let handler = signal(number, SIG_DFL)
    signal(number, handler)
    return SignalPipe.isIgnoring(handler)
  }

  /// Ends this process by a signal that has ended the program, so that a shell reports the same.
  private static func end(by number: Int32) -> Never {
    var set = sigset_t()
    signal(number, SIG_DFL)
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, number)
    kill(getpid(), number)
    unsafe sigprocmask(SIG_UNBLOCK, &set, nil)
    // The signal does not end a program here.
    exit(128 + number)
  }
}
