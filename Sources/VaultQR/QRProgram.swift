internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// The program `vault-qr`: draws what comes on standard input as a QR code, for a camera to read from the terminal.
///
/// `vault` starts it, because libqrencode cannot be a part of a static program. What it draws is a secret, which it neither
/// takes as an argument nor keeps: its end wipes what the library leaves.
public enum QRProgram {
  private static let name = "vault-qr"
  /// More than a code holds, so that too much is noticed.
  private static let limit = 4096

  /// The end of the program, as its exit code (sysexits.h).
  private enum End: Int32, Error {
    case done = 0
    case usage = 64
    /// There is nothing to draw, or too much.
    case invalid = 65
    /// The terminal is narrower than the code.
    case narrow = 69
    case failed = 74
  }

  /// Runs the program; the answer is its exit code.
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
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    _ = vault_set_not_dumpable()
    // It waits as long as the terminal takes nothing, and would keep the secret as long.
    _ = vault_end_with_parent()
    // Both show as errors of the write.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  private static func draw() throws(End) {
    let text = try read()
    guard let code = text.withBytes({ QRCode($0) }) else { throw .invalid }
    var size = winsize()
    // It is lent for the call. What is no terminal has no width to be too narrow.
    let isTerminal = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
    if isTerminal, size.ws_col > 0, HalfBlocks.columns(of: code) > Int(size.ws_col) { throw .narrow }
    try write(HalfBlocks.draw(code))
  }

  private static func read() throws(End) -> SecretBuffer {
    var text = SecretBuffer(capacity: 2 * limit)
    while text.count <= limit {
      let held = text.count
      let count = text.append(count: limit) { free in
        // There are so many bytes for the call.
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
        // Lent for one call.
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
