internal import CLinux
internal import Glibc

/// The place where the handler puts the number of the signal it was called for.
///
/// A plain number that is set before a handler stands, and that the handler alone reads.
nonisolated(unsafe) private var signalPipeEnd: Int32 = -1

/// Turns the signals that would end or stop the program into bytes that can be polled, while a terminal must first be
/// put back in order.
///
/// One of them is heard at a time: one within another takes its place until its end. Then the earlier dispositions stand again,
/// and signals that nobody read come anew.
struct SignalPipe: ~Copyable {
  /// The signals that end a program by default, but for what its own mistakes send it and what cannot be caught.
  static let ending =
    [
      SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGPIPE, SIGPOLL, SIGXCPU,
      SIGPWR, SIGSTKFLT,
    ] + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())
  /// The signals that stop it by default.
  static let stopping = [SIGTSTP, SIGTTIN, SIGTTOU]
  /// The signals that a terminal or another process sends to end, stop or go on with a program. The last matters
  /// because a shell may have set the terminal's modes anew meanwhile.
  static let all = ending + stopping + [SIGCONT]

  /// Readable when a signal came.
  let descriptor: Int32
  private let end: Int32
  private let earlierEnd: Int32
  private var earlier: [(number: Int32, handler: __sighandler_t?)] = []

  /// The ones that are another program's, so that they do not come anew.
  private let foreign: [Int32]

  /// - Parameters:
  ///   - signals: which ones.
  ///   - foreign: those of them that are meant for another program on the same terminal.
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
      // What the program was started to ignore, as nohup does, it goes on ignoring.
      if SignalPipe.isIgnoring(handler) { signal(number, handler) }
    }
  }

  /// The next signal, or nil when none came.
  borrowing func next() -> Int32? {
    var number: UInt8 = 0
    return unsafe read(descriptor, &number, 1) == 1 ? Int32(number) : nil
  }

  /// Lets a signal do what it does by default. Returns when it stopped the program and the program goes on.
  borrowing func deliver(_ number: Int32) {
    Hush.lift()
    signal(number, SIG_DFL)
    raise(number)
    SignalPipe.watch(number)
    Hush.lower()
    // Going on after a stop is no news.
    if Self.stopping.contains(number), let next = next(), next != SIGCONT { deliver(next) }
  }

  /// Stops the program at once by `number`, which is one of those that are watched, unless it ignores that.
  static func stop(_ number: Int32) {
    let handler = signal(number, SIG_DFL)
    if !isIgnoring(handler) { raise(number) }
    signal(number, handler)
    // Otherwise a call for a terminal that another job has would begin again for ever.
    if !isIgnoring(handler) { vault_interrupting_signal(number, handler) }
  }

  /// Has the handler called for a signal; what was there before.
  @discardableResult
  private static func watch(_ number: Int32) -> __sighandler_t? {
    let before = signal(number, handler)
    // Otherwise a call for a terminal that another job has would begin again for ever.
    if stopping.contains(number) { vault_interrupting_signal(number, handler) }
    return before
  }

  deinit {
    for (number, handler) in earlier { signal(number, handler) }
    unsafe signalPipeEnd = earlierEnd
    // One that came behind the last look would be lost otherwise.
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
