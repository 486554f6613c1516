internal import CLinux
internal import Glibc

/// The data for the signal handler. It is set before the handler is installed, in memory where a read and a write may
/// overlap.
private struct HushState {
  /// A descriptor of the terminal; -1 if nothing is hushed.
  var terminal: Int32 = -1
  var earlier = termios()
  var hushed = termios()
}

nonisolated(unsafe) private let hush: UnsafeMutablePointer<HushState> = {
  let state = UnsafeMutablePointer<HushState>.allocate(capacity: 1)
  unsafe state.initialize(to: HushState())
  return unsafe state
}()

/// Keeps a terminal from showing typed text, from the first question for a secret until nothing more will be asked.
/// That includes the time in which the daemon or PAM works on an answer, while a person may already type the next one.
///
/// A signal that ends or stops the program first restores the modes, which return when the program continues. A second
/// hush within the life of another one changes nothing.
struct Hush: ~Copyable {
  /// True for the hush that changed the modes.
  private let isOuter: Bool
  private var earlier: [(number: Int32, handler: __sighandler_t?)] = []

  init(of terminal: Int32) throws(Failure) {
    isOuter = !Hush.isActive
    guard isOuter else { return }
    try OwnJob.awaitTurn(on: terminal, otherwise: "bring this job to the foreground")
    // Each question opens the terminal anew, so this value keeps its own descriptor.
    let descriptor = fcntl(terminal, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw Failure(.io, "cannot hold the terminal: \(Output.describe(errno))") }
    var modes = termios()
    guard unsafe tcgetattr(descriptor, &modes) == 0 else {
      let code = errno
      close(descriptor)
      throw Failure(.io, "cannot read the terminal's modes: \(Output.describe(code))")
    }
    let hushed = TerminalModes.changed(modes, for: .hidden)
    unsafe hush.pointee = HushState(terminal: descriptor, earlier: modes, hushed: hushed)
    for number in SignalPipe.all {
      let before = signal(number, Hush.handler)
      earlier.append((number, before))
      if SignalPipe.isIgnoring(before) { signal(number, before) }
    }
    TerminalModes.apply(hushed, to: descriptor, TCSAFLUSH)
  }

  deinit {
    guard isOuter else { return }
    let state = unsafe hush.pointee
    TerminalModes.apply(state.earlier, to: state.terminal, TCSAFLUSH)
    unsafe hush.pointee.terminal = -1
    for (number, handler) in earlier { signal(number, handler) }
    close(state.terminal)
  }

  /// Begins if a person can be asked; nil otherwise.
  static func onTerminal() -> Hush? {
    guard Keyboard.isAttended, let keyboard = try? Keyboard(otherwise: "") else { return nil }
    return try? Hush(of: keyboard.terminal)
  }

  static var isActive: Bool { unsafe hush.pointee.terminal >= 0 }

  /// The modes between two questions; nil if nothing is hushed.
  static var modes: termios? { isActive ? unsafe hush.pointee.hushed : nil }

  /// Restores the earlier modes. Text that was typed and not read is dropped.
  static func lift() { unsafe set(&hush.pointee.earlier) }

  /// Drops text that was typed and not read: it is no answer to another program's question.
  static func forget() {
    if isActive { unsafe tcflush(hush.pointee.terminal, TCIFLUSH) }
  }

  /// Hides typed text again.
  static func lower() { unsafe set(&hush.pointee.hushed) }

  /// Makes only calls that a signal handler may make. A terminal that belongs to another job is left alone.
  private static func set(_ modes: UnsafePointer<termios>) {
    let terminal = unsafe hush.pointee.terminal
    guard terminal >= 0, tcgetpgrp(terminal) == getpgrp() else { return }
    _ = unsafe tcsetattr(terminal, TCSAFLUSH, modes)
  }

  /// The signal handler between two questions. It makes only calls that a handler may make.
  private static let handler: __sighandler_t = { number in
    let code = errno
    if number == SIGCONT {
      watch(SIGTSTP)
      watch(SIGTTIN)
      watch(SIGTTOU)
      lower()
    } else {
      lift()
      if number != SIGTSTP, number != SIGTTIN, number != SIGTTOU { TypedValue.tellLoss() }
      // The signal arrives once this handler has returned.
      signal(number, SIG_DFL)
      raise(number)
    }
    errno = code
  }

  private static func watch(_ number: Int32) { signal(number, handler) }
}
