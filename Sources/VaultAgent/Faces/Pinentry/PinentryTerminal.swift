internal import CLinux
internal import Glibc

/// The terminal that a pinentry may use, with its earlier modes.
struct PinentryTerminal {
  private let path: String
  private let modes: termios
  /// The rows and columns of the terminal.
  let size: (rows: Int, columns: Int)

  /// - Returns: nil when there is no such terminal.
  init?(_ path: String) {
    let found = Self.open(path) { descriptor -> (modes: termios, size: (rows: Int, columns: Int))? in
      var modes = termios()
      guard unsafe tcgetattr(descriptor, &modes) == 0 else { return nil }
      return (modes, OwnTerminal.size(descriptor))
    }
    guard let found else { return nil }
    self.path = path
    (modes, size) = found
  }

  /// Drops input that was typed but not read.
  func forgetInput() { _ = Self.open(path) { tcflush($0, TCIFLUSH) } }

  /// Restores the terminal after a pinentry that was killed.
  func restore() {
    _ = Self.open(path) { descriptor -> Void? in
      var (now, modes) = (termios(), modes)
      guard unsafe tcgetattr(descriptor, &now) == 0,
        now.c_lflag != modes.c_lflag || now.c_iflag != modes.c_iflag || now.c_oflag != modes.c_oflag
      else { return nil }
      // TCSANOW is used because TCSAFLUSH would wait for a terminal that takes no output.
      tcflush(descriptor, TCIFLUSH)
      unsafe tcsetattr(descriptor, TCSANOW, &modes)
      // The sequence restores the usual screen, keys and characters, and the cursor.
      let sequence: StaticString = "\u{1B}[?1049l\u{1B}[?1l\u{1B}>\u{1B}(B\u{1B}[0m\u{1B}[?25h\r\n"
      _ = unsafe write(descriptor, sequence.utf8Start, sequence.utf8CodeUnitCount)
      return nil
    }
  }

  private static func open<T>(_ path: String, _ body: (Int32) -> T?) -> T? {
    let descriptor = unsafe Glibc.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return body(descriptor)
  }
}
