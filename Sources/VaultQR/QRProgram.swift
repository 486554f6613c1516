internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// The program `vault-qr`: draws the text on standard input as a QR code, for a camera to read from the terminal.
///
/// `vault` starts this program because libqrencode cannot be part of a static program. The text is a secret, so the
/// program does not take it as an argument, and its exit wipes the copies that the library leaves.
public enum QRProgram {
  private static let name = "vault-qr"
  /// The most bytes to read: more than a code holds, so that a text that is too long is noticed.
  private static let limit = 4096

  /// The result of the program, as its exit code (sysexits.h).
  private enum End: Int32, Error {
    case done = 0
    case usage = 64
    /// There is no text to draw, or too much.
    case invalid = 65
    /// The terminal is narrower than the code.
    case narrow = 69
    case failed = 74
  }

  /// Runs the program and returns its exit code.
  public static func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        name, "usage: \(name) <text\n\nDraws a QR code for vault(1), which starts it. See \(name)(8).\n")
    }
    guard arguments.isEmpty, isatty(STDIN_FILENO) == 0 else {
      StandardStream.errors.complain(name, "it takes no arguments and a text on standard input; see \(name)(8)")
      return End.usage.rawValue
    }
    harden()
    do throws(End) { try draw() } catch { return error.rawValue }
    return End.done.rawValue
  }

  private static func harden() {
    try? Confinement.begin()
    // This program ends together with `vault`. Otherwise it would wait, and keep the secret, for as long as the
    // terminal takes no output.
    _ = vault_end_with_parent()
  }

  private static func draw() throws(End) {
    let text = try read()
    guard let code = text.withBytes({ QRCode($0) }) else { throw .invalid }
    var size = winsize()
    // `size` is valid for the call. An output that is not a terminal has no width, so it is never too narrow.
    let isTerminal = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
    if isTerminal, size.ws_col > 0, HalfBlocks.columns(of: code) > Int(size.ws_col) { throw .narrow }
    try write(HalfBlocks.draw(code))
  }

  private static func read() throws(End) -> SecretBuffer {
    var text = SecretBuffer(capacity: 2 * limit)
    while text.count <= limit {
      let held = text.count
      let count = text.append(count: limit) { free in
        // The buffer has room for this many bytes during the call.
        unsafe free.withUnsafeMutableBytes { unsafe Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
      }
      let code = errno
      text.truncate(to: held + max(0, count))
      if count == 0 { return text }
      if count < 0, code != EINTR { throw .failed }
    }
    throw .invalid
  }

  private static func write(_ text: consuming SecretBuffer) throws(End) {
    try text.withBytes { bytes throws(End) in
      var rest = bytes
      while rest.byteCount > 0 {
        // The pointer is valid for this one call.
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count >= 0 {
          rest = rest.extracting(droppingFirst: count)
        } else if errno == EAGAIN {
          var polled = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&polled, 1, -1)
        } else if errno != EINTR {
          throw .failed
        }
      }
    }
  }
}
