internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultProcess
internal import VaultWire

/// A terminal on which one line is typed. Its modes are restored however the reading ends, unless the process is
/// killed.
final class TerminalLine {
  /// The longest line in bytes.
  private static let limit = 16 << 10

  private let descriptor: Int32
  /// The line that a person may still be typing, after a question was withdrawn.
  private(set) var unfinished: UnfinishedLine?

  /// - Parameters:
  ///   - forReading: true when this job must have the terminal.
  ///   - unfinished: the line that a person may still be typing for an earlier question.
  init(_ path: String, forReading: Bool = true, after unfinished: UnfinishedLine? = nil) throws(FaceError) {
    self.unfinished = unfinished
    descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unavailable("cannot open \(path): \(SystemText.of(errno))") }
    if forReading, !OwnTerminal.isOurs(descriptor) { throw .unavailable("another job uses \(path)") }
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
  ///
  /// - Parameter isTyped: false if the question is answered in another way, and only an empty line is awaited.
  func read(
    _ prompt: String, hidden: Bool, isTyped: Bool = true, until withdrawal: Withdrawal
  ) throws(FaceError) -> SecretBuffer {
    let before = unfinished.take()
    var earlier = try presentModes()
    var modes = Self.asking(earlier)
    if hidden {
      modes = Self.hidden(modes)
    } else {
      modes.c_lflag |= tcflag_t(ECHO | ECHOE | ICANON | IEXTEN)
    }
    // The modes change before the prompt appears, because a person who sees the prompt may type.
    set(&modes)
    var line = TypedLine(edits: hidden)
    do throws(FaceError) {
      guard write(prompt) else { throw .unavailable("the terminal accepts no text") }
      try collect(&line, until: withdrawal)
    } catch {
      if error == .withdrawn {
        let isBegun = line.bytes.count > 0
        var unfinished = UnfinishedLine(isBegun: isBegun, after: before)
        if isTyped { unfinished = UnfinishedLine(isBegun: isBegun, since: Clock.now()) }
        // The kernel gives up a line that it was editing.
        modes = Self.hidden(modes)
        unsafe tcsetattr(descriptor, TCSANOW, &modes)
        take(into: &unfinished)
        self.unfinished = unfinished
        unsafe tcsetattr(descriptor, TCSANOW, &earlier)
      } else {
        set(&earlier)
      }
      throw error
    }
    set(&earlier)
    if hidden { write("\n") }
    return line.finish()
  }

  /// Waits for the end of a line that the person began for a withdrawn question. The line is dropped and never shown.
  ///
  /// - Parameters:
  ///   - isVisible: true if the next question shows what is typed.
  ///   - advice: the line that tells the person of the wait.
  func endUnfinished(isVisible: Bool, advice: String, until withdrawal: Withdrawal) throws(FaceError) {
    guard var unfinished = unfinished.take() else { return }
    defer { self.unfinished = unfinished.isEnded ? nil : unfinished }
    var earlier = try presentModes()
    var modes = Self.hidden(Self.asking(earlier))
    unsafe tcsetattr(descriptor, TCSANOW, &modes)
    defer { unsafe tcsetattr(descriptor, TCSANOW, &earlier) }
    var isTold = false
    take(into: &unfinished)
    while let pause = unfinished.pause(isVisible: isVisible, at: Clock.now()) {
      if unfinished.isBegun, !isTold {
        write("vault: \(advice)\n")
        isTold = true
      }
      guard try wait(until: withdrawal, atMost: pause) else { continue }
      guard take(into: &unfinished) else { throw .unavailable("the terminal went away") }
    }
  }

  private func presentModes() throws(FaceError) -> termios {
    var modes = termios()
    guard unsafe tcgetattr(descriptor, &modes) == 0 else {
      throw .unavailable("cannot read the terminal's modes: \(SystemText.of(errno))")
    }
    return modes
  }

  /// The modes that any question needs.
  private static func asking(_ modes: termios) -> termios {
    var modes = modes
    modes.c_lflag |= tcflag_t(ISIG)
    modes.c_iflag |= tcflag_t(ICRNL)
    // VSUSP, which 0 turns off: a program that stopped here would leave these modes to the shell.
    modes.c_cc.10 = 0
    return modes
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

  /// Waits until something is typed; false if the time is over first.
  ///
  /// - Parameter milliseconds: the time; -1 for no limit.
  private func wait(until withdrawal: Withdrawal, atMost milliseconds: Int32 = -1) throws(FaceError) -> Bool {
    var polled = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: withdrawal.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&polled, 2, milliseconds)
    if polled[1].revents != 0 { throw .withdrawn }
    return polled[0].revents != 0
  }

  private func collect(_ line: inout TypedLine, until withdrawal: Withdrawal) throws(FaceError) {
    while true {
      guard try wait(until: withdrawal) else { continue }
      var bytes = SecretBuffer(capacity: 256)
      let count = bytes.append(count: 256) { free in
        // The buffer has room for this many bytes during the call.
        unsafe free.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      }
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0 || count == 0 && !isHungUp else { throw .unavailable("the terminal went away") }
      // A Control-D gives no bytes if the kernel edits the lines.
      if count == 0 { return }
      bytes.truncate(to: count)
      if Self.take(bytes, &line) { return }
      guard line.bytes.count <= Self.limit else { throw .unavailable("the line is too long") }
    }
  }

  private var isHungUp: Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) > 0 && polled.revents & Int16(POLLHUP) != 0
  }

  /// Adds the typed bytes to the line; true at the end of the line.
  private static func take(_ typed: borrowing SecretBuffer, _ line: inout TypedLine) -> Bool {
    typed.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      for index in bytes.indices {
        switch line.take(bytes[index]) {
        case .more: break
        case .done, .end: return true
        }
      }
      return false
    }
  }

  /// Reads what was typed and drops it; false if the terminal has gone away.
  @discardableResult
  private func take(into unfinished: inout UnfinishedLine) -> Bool {
    // One byte is read at a time, so that no more than one byte of a secret stays in memory.
    var byte: UInt8 = 0
    defer { byte = 0 }
    while true {
      let count = unsafe Glibc.read(descriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return true }
      guard count == 1 else { return count == 0 && !isHungUp }
      unfinished.take(byte, at: Clock.now())
    }
  }
}
