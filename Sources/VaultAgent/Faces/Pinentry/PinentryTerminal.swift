internal import CLinux
internal import Glibc

/// The terminal that a pinentry may use, as it was before.
struct PinentryTerminal {
  private let path: String
  private let modes: termios
  /// Its rows and columns.
  let size: (rows: Int, columns: Int)

  /// - Returns: nil where there is no such terminal.
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

  /// Drops what was typed and not read.
  func forgetInput() { _ = Self.open(path) { tcflush($0, TCIFLUSH) } }

  /// Undoes what a pinentry that was killed has left there.
  func restore() {
    _ = Self.open(path) { descriptor -> Void? in
      var (now, modes) = (termios(), modes)
      guard unsafe tcgetattr(descriptor, &now) == 0,
        now.c_lflag != modes.c_lflag || now.c_iflag != modes.c_iflag || now.c_oflag != modes.c_oflag
      else { return nil }
      // Not TCSAFLUSH, which waits for a terminal that takes nothing.
      tcflush(descriptor, TCIFLUSH)
      unsafe tcsetattr(descriptor, TCSANOW, &modes)
      // The usual screen, keys and characters, and the cursor.
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
