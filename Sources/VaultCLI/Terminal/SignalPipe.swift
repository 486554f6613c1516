internal import CLinux
internal import Glibc

/// The descriptor to which the handler writes the number of the signal.
///
/// It is a plain number. Each pipe sets it before it installs the handler, and restores the earlier number at its end.
nonisolated(unsafe) private var signalPipeEnd: Int32 = -1

/// Turns the signals that would end or stop the program into bytes that can be polled, while a terminal must be
/// restored first.
///
/// Only one pipe is active at a time: a pipe within the life of another one takes its place until its own end. Then the
/// earlier dispositions return, and signals that nobody read are raised again.
struct SignalPipe: ~Copyable {
  /// The signals that end a program by default, except the ones that its own faults cause and the ones that cannot be
  /// caught: after a fault, a handler that returns would meet the same fault again. abort(3) ends the program even if
  /// its signal is caught.
  static let ending =
    [
      SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGPIPE, SIGPOLL,
      SIGXCPU, SIGPWR, SIGSTKFLT,
    ] + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())
  /// The signals that stop a program by default.
  static let stopping = [SIGTSTP, SIGTTIN, SIGTTOU]
  /// The signals that a terminal or another process sends to end, stop or continue a program. SIGCONT matters because a
  /// shell may have changed the terminal's modes meanwhile.
  static let all = ending + stopping + [SIGCONT]

  /// A descriptor that is readable once a signal has arrived.
  let descriptor: Int32
  private let end: Int32
  private let earlierEnd: Int32
  private var earlier: [(number: Int32, handler: __sighandler_t?)] = []

  /// The signals that are meant for another program, and so are not raised again.
  private let foreign: [Int32]

  /// - Parameters:
  ///   - signals: the signals to catch.
  ///   - foreign: those of the signals that are meant for another program on the same terminal.
  init(_ signals: [Int32] = SignalPipe.all, foreign: [Int32] = []) throws(Failure) {
    self.foreign = foreign
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw Failure(.io, "cannot make a pipe: \(Output.describe(errno))") }
    (descriptor, end) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    earlierEnd = unsafe signalPipeEnd
    unsafe signalPipeEnd = end
    for number in signals {
      let handler = SignalPipe.watch(number)
      earlier.append((number, handler))
      // A signal that the program was started to ignore, as by nohup, stays ignored.
      if SignalPipe.isIgnoring(handler) { signal(number, handler) }
    }
  }

  /// Returns the next signal; nil if none has arrived.
  borrowing func next() -> Int32? {
    var number: UInt8 = 0
    return unsafe read(descriptor, &number, 1) == 1 ? Int32(number) : nil
  }

  /// Lets a signal have its default effect. Returns if it stopped the program and the program continues.
  borrowing func deliver(_ number: Int32) {
    Hush.lift()
    if Self.ending.contains(number) { TypedValue.tellLoss() }
    signal(number, SIG_DFL)
    raise(number)
    SignalPipe.watch(number)
    Hush.lower()
    // The SIGCONT after a stop is no news.
    if Self.stopping.contains(number), let next = next(), next != SIGCONT { deliver(next) }
  }

  /// Stops the program's whole process group at once by `number`, which is one of the caught signals, unless the
  /// program ignores it. A shell continues a job only if all of the job's processes have stopped.
  static func stopGroup(_ number: Int32) {
    let handler = signal(number, SIG_DFL)
    if !isIgnoring(handler) { kill(0, number) }
    signal(number, handler)
    // Without interruption, a call for a terminal that belongs to another job would restart forever.
    if !isIgnoring(handler) { vault_interrupting_signal(number, handler) }
  }

  /// Installs the handler for a signal; returns the earlier disposition.
  @discardableResult
  private static func watch(_ number: Int32) -> __sighandler_t? {
    let before = signal(number, handler)
    // Without interruption, a call for a terminal that belongs to another job would restart forever.
    if stopping.contains(number) { vault_interrupting_signal(number, handler) }
    return before
  }

  deinit {
    for (number, handler) in earlier { signal(number, handler) }
    unsafe signalPipeEnd = earlierEnd
    // A signal that arrived after the last check would be lost otherwise.
    while let number = next() { if !foreign.contains(number) { raise(number) } }
    close(descriptor)
    close(end)
  }

  /// Calls write(2) and nothing else, as a handler must.
  private static let handler: __sighandler_t = { number in
    let code = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(signalPipeEnd, &byte, 1)
    errno = code
  }

  static func isIgnoring(_ handler: __sighandler_t?) -> Bool {
    // SIG_IGN is the address 1, which no function has.
    unsafe unsafeBitCast(handler, to: Int.self) == 1
  }
}
