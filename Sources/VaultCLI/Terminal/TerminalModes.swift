internal import CLinux
internal import Glibc

/// The modes of a terminal while a person types on it. At the end of this value, the earlier modes return, and text
/// that was typed ahead and not read is dropped, so that no rest of a secret reaches the shell.
struct TerminalModes: ~Copyable {
  enum Style {
    /// Typed text does not show, and each byte arrives as it is typed. The kernel's own line buffer holds 4095 bytes
    /// and would silently drop the rest of a longer secret.
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
    // Text that was typed while nothing showed, before the question, is the answer to it.
    let keepsTyped = style == .hidden && Hush.isActive
    Self.apply(Self.changed(earlier, for: style), to: terminal, keepsTyped ? TCSADRAIN : TCSAFLUSH)
  }

  deinit { Self.apply(Hush.modes ?? earlier, to: terminal, TCSAFLUSH) }

  /// Returns the modes for a question, made from the present ones.
  static func changed(_ modes: termios, for style: Style) -> termios {
    var modes = modes
    // Control-C and control-Z stay signals, and return stays a newline, whatever an earlier program has set.
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

  /// Stops the program's process group if the terminal belongs to another job, as the kernel would if SIGTTOU were not
  /// caught. The program waits until the shell lets its job continue. That happens after a stop in the middle of a
  /// question: before one, ``OwnJob`` waits.
  private static func stopInBackground(_ terminal: Int32) {
    guard OwnJob.isInBackground(terminal) else { return }
    SignalPipe.stopGroup(SIGTTOU)
  }
}
