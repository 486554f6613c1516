internal import CLinux
internal import Glibc

/// What the handler of a signal needs. It is set before the handler stands, and lies where a read and a write may meet.
private struct HushState {
  /// A descriptor of the terminal; -1 where nothing is hushed.
  var terminal: Int32 = -1
  var earlier = termios()
  var hushed = termios()
}

nonisolated(unsafe) private let hush: UnsafeMutablePointer<HushState> = {
  let state = UnsafeMutablePointer<HushState>.allocate(capacity: 1)
  unsafe state.initialize(to: HushState())
  return unsafe state
}()

/// Keeps a terminal from showing what is typed, from the first question for a secret until nothing more is to be asked: also
/// while the daemon or PAM takes its time over an answer, when somebody may be typing the next one already.
///
/// A signal that ends or stops the program puts the modes back first, and they come again when it goes on. A second one within
/// the life of another changes nothing.
struct Hush: ~Copyable {
  /// True for the one that changed the modes.
  private let isOuter: Bool
  private var earlier: [(number: Int32, handler: __sighandler_t?)] = []

  init(of terminal: Int32) throws(Failure) {
    isOuter = !Hush.isActive
    guard isOuter else { return }
    // Questions open the terminal anew each.
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

  /// Begins where a person can be asked; nil elsewhere.
  static func onTerminal() -> Hush? {
    guard Keyboard.isAttended, let keyboard = try? Keyboard(otherwise: "") else { return nil }
    return try? Hush(of: keyboard.terminal)
  }

  static var isActive: Bool { unsafe hush.pointee.terminal >= 0 }

  /// The modes that stand between two questions; nil when that is not so.
  static var modes: termios? { isActive ? unsafe hush.pointee.hushed : nil }

  /// Puts the modes back that stood before. What was typed and not read is thrown away.
  static func lift() { unsafe set(&hush.pointee.earlier) }

  /// Throws away what was typed and not read: it is no answer to what somebody else asks.
  static func forget() {
    if isActive { unsafe tcflush(hush.pointee.terminal, TCIFLUSH) }
  }

  /// Hides again what is typed.
  static func lower() { unsafe set(&hush.pointee.hushed) }

  /// Calls only what a handler may. A terminal that another job has is left alone.
  private static func set(_ modes: UnsafePointer<termios>) {
    let terminal = unsafe hush.pointee.terminal
    guard terminal >= 0, tcgetpgrp(terminal) == getpgrp() else { return }
    _ = unsafe tcsetattr(terminal, TCSAFLUSH, modes)
  }

  /// Stands between two questions, and calls only what a handler may.
  private static let handler: __sighandler_t = { number in
    let code = errno
    if number == SIGCONT {
      watch(SIGTSTP)
      watch(SIGTTIN)
      watch(SIGTTOU)
      lower()
    } else {
      lift()
      // It comes once this handler has returned.
      signal(number, SIG_DFL)
      raise(number)
    }
    errno = code
  }

  private static func watch(_ number: Int32) { signal(number, handler) }
}
