internal import CLinux
internal import Glibc

/// The modes of a terminal while something is typed on it; at its end the earlier ones stand again, and what was typed
/// ahead and not read is thrown away, so that no rest of a secret reaches the shell.
struct TerminalModes: ~Copyable {
  enum Style {
    /// Nothing shows, and each byte comes as it is typed: the kernel's own line buffer holds 4095 bytes and drops the
    /// rest of a longer secret without a word.
    case hidden
    /// The kernel's usual line, with its editing.
    case shown
  }

  private let terminal: Int32
  private var earlier = termios()

  init(_ style: Style, of terminal: Int32) throws(Failure) {
    self.terminal = terminal
    guard unsafe tcgetattr(terminal, &earlier) == 0 else {
      throw Failure(.io, "cannot read the terminal's modes: \(Output.describe(errno))")
    }
    // What was typed where nothing showed, while the question was still to come, is its answer.
    let keepsTyped = style == .hidden && Hush.isActive
    Self.apply(Self.changed(earlier, for: style), to: terminal, keepsTyped ? TCSADRAIN : TCSAFLUSH)
  }

  deinit { Self.apply(Hush.modes ?? earlier, to: terminal, TCSAFLUSH) }

  /// The modes for a question, where `modes` stand.
  static func changed(_ modes: termios, for style: Style) -> termios {
    var modes = modes
    // Control-C and control-Z stay signals, and return stays a newline, whatever an earlier program left.
    modes.c_lflag |= tcflag_t(ISIG)
    modes.c_iflag |= tcflag_t(ICRNL)
    switch style {
    case .hidden:
      modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN)
      modes.c_cc.6 = 1  // VMIN
      modes.c_cc.5 = 0  // VTIME
    case .shown:
      modes.c_lflag |= tcflag_t(ECHO | ECHOE | ICANON | IEXTEN)
    }
    return modes
  }

  static func apply(_ modes: termios, to terminal: Int32, _ when: Int32) {
    var modes = modes
    repeat { stopInBackground(terminal) } while unsafe tcsetattr(terminal, when, &modes) != 0 && errno == EINTR
  }

  /// Stops where the terminal is another job's, as the kernel would if SIGTTOU were not caught, until the shell has the
  /// program go on.
  private static func stopInBackground(_ terminal: Int32) {
    let foreground = tcgetpgrp(terminal)
    guard foreground >= 0, foreground != getpgrp() else { return }
    SignalPipe.stop(SIGTTOU)
  }
}
