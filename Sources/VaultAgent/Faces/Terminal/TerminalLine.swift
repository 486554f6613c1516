internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// A terminal on which one line is typed. Its modes are restored however the reading ends, unless the process is
/// killed.
final class TerminalLine {
  /// The longest line in bytes.
  private static let limit = 16 << 10

  private let descriptor: Int32

  /// - Parameter forReading: true when this job must have the terminal.
  init(_ path: String, forReading: Bool = true) throws(FaceError) {
    descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unavailable("cannot open \(path): \(SystemText.of(errno))") }
    if forReading, !OwnTerminal.isOurs(descriptor) { throw .unavailable("another job has \(path)") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Writes as much of `text` as the terminal takes; the terminal may pause for up to a second. True when all was
  /// written.
  @discardableResult
  func write(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // The pointer is valid for this one call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&polled, 1, 1000) > 0 else { return false }
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// The number of columns of the terminal.
  var columns: Int { OwnTerminal.size(descriptor).columns }

  /// Writes `prompt` and reads a line, without its line feed. A Control-D at the beginning gives an empty line.
  func read(_ prompt: String, hidden: Bool, until withdrawal: Withdrawal) throws(FaceError) -> SecretBuffer {
    var earlier = termios()
    guard unsafe tcgetattr(descriptor, &earlier) == 0 else { throw .unavailable("no modes: \(SystemText.of(errno))") }
    var modes = earlier
    modes.c_lflag |= tcflag_t(ISIG)
    modes.c_iflag |= tcflag_t(ICRNL)
    // VSUSP, which 0 turns off: a program that stopped here would leave these modes to the shell.
    modes.c_cc.10 = 0
    if hidden {
      modes = Self.hidden(modes)
    } else {
      modes.c_lflag |= tcflag_t(ECHO | ECHOE | ICANON | IEXTEN)
    }
    // The modes change before the prompt appears, because a person who sees the prompt may type.
    set(&modes)
    defer { set(&earlier) }
    guard write(prompt) else { throw .unavailable("the terminal takes no text") }
    let line = try collect(until: withdrawal)
    if hidden { write("\n") }
    return line
  }

  /// The modes in which nothing that is typed is shown, and each byte arrives as soon as it is typed.
  static func hidden(_ modes: termios) -> termios {
    var modes = modes
    modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN)
    modes.c_cc.6 = 1  // VMIN
    modes.c_cc.5 = 0  // VTIME
    return modes
  }

  /// Changes the modes and drops input that was typed but not read, because it does not answer the present question.
  /// TCSAFLUSH would wait for a terminal that takes no output.
  private func set(_ modes: inout termios) {
    unsafe tcsetattr(descriptor, TCSANOW, &modes)
    tcflush(descriptor, TCIFLUSH)
  }

  private func collect(until withdrawal: Withdrawal) throws(FaceError) -> SecretBuffer {
    var line = SecretBuffer()
    while true {
      var polled = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: withdrawal.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&polled, 2, -1)
      if polled[1].revents != 0 { throw .withdrawn }
      if polled[0].revents == 0 { continue }
      var bytes = SecretBuffer(capacity: 256)
      let count = bytes.append(count: 256) { free in
        // The buffer has room for this many bytes during the call.
        unsafe free.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      }
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0 || count == 0 && polled[0].revents & Int16(POLLHUP) == 0 else {
        throw .unavailable("the terminal went away")
      }
      // A Control-D gives no bytes if the kernel edits the lines.
      if count == 0 { return line }
      bytes.truncate(to: count)
      if Self.take(bytes, &line) { return line }
      guard line.count <= Self.limit else { throw .unavailable("the line is too long") }
    }
  }

  /// Adds the typed bytes to the line; true at the end of the line.
  private static func take(_ typed: borrowing SecretBuffer, _ line: inout SecretBuffer) -> Bool {
    typed.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      for index in bytes.indices {
        switch bytes[index] {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return true
        case 4 where line.count == 0: return true
        case 8, 127: dropLast(&line)
        // Control-U.
        case 21: line.truncate(to: 0)
        case 0..<32: break
        default: line.append(bytes[index])
        }
      }
      return false
    }
  }

  /// Drops the last character, with all its bytes of UTF-8.
  private static func dropLast(_ line: inout SecretBuffer) {
    var count = line.count
    while count > 0 {
      count -= 1
      let isFirst = line.withBytes { Span<UInt8>(_bytes: $0)[count] & 0xC0 != 0x80 }
      if isFirst { break }
    }
    line.truncate(to: count)
  }
}
