internal import CLinux
internal import Glibc
internal import Synchronization

/// Keeps a terminal from showing what is typed, from the first question until the agent ends: also while the daemon takes its
/// time over an answer, and behind a question that was taken back, when somebody may be typing on.
///
/// Questions change the modes that it has set, and come back to them. All of it may be called on any thread.
final class TerminalHush: Sendable {
  private struct State {
    /// The modes that stood before; nil while they stand.
    var earlier: termios?
    /// True from the first question on, also while the program is stopped.
    var isWanted = false
  }

  private let path: String
  private let state = Mutex(State())

  init(_ path: String) { self.path = path }

  deinit { end() }

  /// Begins, unless it has begun, or another job has the terminal.
  func begin() {
    state.withLock { state in
      state.isWanted = true
      lower(&state)
    }
  }

  /// Puts the earlier modes back for good. What was typed and not read is thrown away.
  func end() {
    state.withLock { state in
      state.isWanted = false
      lift(&state)
    }
  }

  /// Puts the earlier modes back before the program stops.
  func pause() { state.withLock { lift(&$0) } }

  /// Goes on after a stop.
  func resume() {
    state.withLock { state in
      if state.isWanted { lower(&state) }
    }
  }

  private func lower(_ state: inout State) {
    guard state.earlier == nil else { return }
    onTerminal { descriptor in
      var modes = termios()
      guard unsafe tcgetattr(descriptor, &modes) == 0 else { return }
      state.earlier = modes
      modes = TerminalLine.hidden(modes)
      unsafe tcsetattr(descriptor, TCSANOW, &modes)
    }
  }

  private func lift(_ state: inout State) {
    guard var earlier = state.earlier.take() else { return }
    onTerminal { descriptor in
      // Not TCSAFLUSH, which waits for a terminal that takes nothing.
      unsafe tcsetattr(descriptor, TCSANOW, &earlier)
      tcflush(descriptor, TCIFLUSH)
    }
  }

  /// Lends the terminal, where this job has it.
  private func onTerminal(_ body: (Int32) -> Void) {
    let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if OwnTerminal.isOurs(descriptor) { body(descriptor) }
  }
}
