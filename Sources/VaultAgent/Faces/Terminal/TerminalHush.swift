internal import CLinux
internal import Glibc
internal import Synchronization

/// Keeps a terminal from showing what is typed, from the first question until the agent ends. This covers the time in
/// which the daemon works on an answer, and the time after a withdrawn question, when the person may still be typing.
///
/// Questions change the modes that this class sets, and restore them. All methods may be called on any thread.
final class TerminalHush: Sendable {
  private struct State {
    /// The earlier modes; nil while they are in effect.
    var earlier: termios?
    /// True from the first question on, also while the program is stopped.
    var isWanted = false
  }

  private let path: String
  private let state = Mutex(State())

  init(_ path: String) { self.path = path }

  deinit { end() }

  /// Begins the hush, unless it has begun or another job has the terminal.
  func begin() {
    state.withLock { state in
      state.isWanted = true
      lower(&state)
    }
  }

  /// Restores the earlier modes for good. Input that was typed but not read is dropped.
  func end() {
    state.withLock { state in
      state.isWanted = false
      lift(&state)
    }
  }

  /// Restores the earlier modes before the program stops.
  func pause() { state.withLock { lift(&$0) } }

  /// Begins the hush again after a stop.
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
      // TCSANOW is used because TCSAFLUSH would wait for a terminal that takes no output.
      unsafe tcsetattr(descriptor, TCSANOW, &earlier)
      tcflush(descriptor, TCIFLUSH)
    }
  }

  /// Lends the terminal's descriptor, if this job has the terminal.
  private func onTerminal(_ body: (Int32) -> Void) {
    let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if OwnTerminal.isOurs(descriptor) { body(descriptor) }
  }
}
