internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// A running pinentry, spoken to by one thread.
///
/// Its end kills the process, waits for it, and puts the terminal back in order that it was on.
final class PinentryProcess {
  /// The outcome of a command.
  enum Outcome: ~Copyable {
    case ok(SecretBuffer)
    case failed(UInt32)
  }

  /// The most bytes of an answer.
  private static let longestAnswer = 16 << 10
  /// The most lines of an answer.
  private static let mostLines = 1000
  /// The milliseconds that it may take for what no person is waited for.
  private static let patience: Int32 = 10_000

  private let pid: Int32
  private let input: Int32
  private let output: Int32
  private let withdrawal: Withdrawal
  private let terminal: String?
  private var modes = termios()
  private var hasModes = false
  private var reader = AssuanReader()

  /// Starts the program at `path`.
  ///
  /// - Parameter terminal: the terminal that it may use.
  init(_ path: String, terminal: String?, until withdrawal: Withdrawal) throws(FaceError) {
    self.withdrawal = withdrawal
    self.terminal = terminal
    do throws(StartedProgram.Failure) {
      let toIt = try StartedProgram.pipe(for: 3)
      let fromIt: (read: Int32, write: Int32)
      do throws(StartedProgram.Failure) { fromIt = try StartedProgram.pipe(for: 3) } catch {
        close(toIt.read)
        close(toIt.write)
        throw error
      }
      defer {
        close(toIt.read)
        close(fromIt.write)
      }
      do throws(StartedProgram.Failure) {
        pid = try StartedProgram(
          [path], descriptors: [.ours(toIt.read), .ours(fromIt.write), .null], hasOwnSession: true
        ).pid
      } catch {
        close(toIt.write)
        close(fromIt.read)
        throw error
      }
      (input, output) = (toIt.write, fromIt.read)
    } catch {
      throw .unavailable("\(path) does not start: \(error.call), error \(error.errno)")
    }
    for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    keepModes()
  }

  deinit {
    close(input)
    close(output)
    kill(pid, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
    restoreModes()
  }

  /// Waits for the greeting.
  func greet() throws(FaceError) {
    guard case .ok = try answer(within: Self.patience) else { throw .unavailable("pinentry does not begin with OK") }
  }

  /// Sends a line that no person is waited for; what it does not know is left out.
  func set(_ line: String) throws(FaceError) {
    try send(line)
    _ = try answer(within: Self.patience)
  }

  /// Sends a line that a person answers.
  func ask(_ line: String) throws(FaceError) -> Outcome {
    try send(line)
    return try answer(within: -1)
  }

  private func send(_ line: String) throws(FaceError) {
    var rest = Array(line.utf8)[...]
    while !rest.isEmpty {
      // Lent for one call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(input, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        try wait(input, POLLOUT, Self.patience)
      } else if errno != EINTR {
        throw .unavailable("pinentry went away")
      }
    }
  }

  private func answer(within milliseconds: Int32) throws(FaceError) -> Outcome {
    var data = SecretBuffer()
    for _ in 0..<Self.mostLines {
      switch try line(within: milliseconds) {
      case .ok: return .ok(data)
      case .failed(let code): return .failed(code)
      case .data(let more):
        more.withBytes { data.append($0) }
        guard data.count <= Self.longestAnswer else { throw .unavailable("pinentry's answer is too long") }
      case .other: break
      }
    }
    throw .unavailable("pinentry's answer has no end")
  }

  private func line(within milliseconds: Int32) throws(FaceError) -> AssuanReply {
    while true {
      do throws(AssuanError) {
        if let reply = try reader.next() { return reply }
      } catch {
        switch error {
        case .malformed(let reason): throw .unavailable("pinentry is not understood: \(reason)")
        }
      }
      try wait(output, POLLIN, milliseconds)
      var bytes = SecretBuffer(capacity: AssuanReader.longestLine)
      let count = bytes.append(count: AssuanReader.longestLine) { free in
        // There are so many bytes for the call.
        unsafe free.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
      }
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0 else { throw .unavailable("pinentry went away") }
      bytes.truncate(to: count)
      bytes.withBytes { reader.append($0) }
    }
  }

  private func wait(_ descriptor: Int32, _ event: Int32, _ milliseconds: Int32) throws(FaceError) {
    var polled = [
      pollfd(fd: descriptor, events: Int16(event), revents: 0),
      pollfd(fd: withdrawal.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let ready = unsafe poll(&polled, 2, milliseconds)
    if polled[1].revents != 0 { throw .withdrawn }
    if ready == 0 { throw .unavailable("pinentry does not answer") }
  }

  private func keepModes() {
    onTerminal { descriptor in hasModes = unsafe tcgetattr(descriptor, &modes) == 0 }
  }

  /// Undoes what a pinentry that was killed on a terminal has left there.
  private func restoreModes() {
    guard hasModes else { return }
    onTerminal { descriptor in
      var now = termios()
      guard unsafe tcgetattr(descriptor, &now) == 0,
        now.c_lflag != modes.c_lflag || now.c_iflag != modes.c_iflag || now.c_oflag != modes.c_oflag
      else { return }
      unsafe tcsetattr(descriptor, TCSAFLUSH, &modes)
      // The usual screen, plain characters, and the cursor.
      let sequence: StaticString = "\u{1B}[?1049l\u{1B}[0m\u{1B}[?25h\r\n"
      _ = unsafe write(descriptor, sequence.utf8Start, sequence.utf8CodeUnitCount)
    }
  }

  private func onTerminal(_ body: (Int32) -> Void) {
    guard let terminal else { return }
    let descriptor = unsafe open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    body(descriptor)
    close(descriptor)
  }
}
