internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// A running pinentry, used by one thread at a time.
///
/// `deinit` kills the process with everything that it has started, waits for it, and restores its terminal.
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

  /// The signal to give up.
  var withdrawal: Withdrawal
  private let pid: Int32
  private let pidfd: Int32
  private let input: Int32
  private let output: Int32
  private let terminal: PinentryTerminal?
  private let patience: Int32
  private var reader = AssuanReader()

  /// Starts the program at `path`.
  ///
  /// - Parameters:
  ///   - terminal: the terminal that pinentry may use.
  ///   - patience: milliseconds allowed for an answer that needs no person.
  init(
    _ path: String, terminal: String?, patience: Int32, until withdrawal: Withdrawal
  ) throws(FaceError) {
    self.withdrawal = withdrawal
    self.patience = patience
    self.terminal = terminal.flatMap { PinentryTerminal($0) }
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
        // Without a terminal, pinentry would take the one that GPG_TTY names, which is another session's.
        let environment = terminal == nil ? Environment.lines(without: "GPG_TTY") : nil
        pid = try StartedProgram(
          [path], environment: environment, descriptors: [.ours(toIt.read), .ours(fromIt.write), .null],
          hasOwnSession: true
        ).pid
      } catch {
        close(toIt.write)
        close(fromIt.read)
        throw error
      }
      (input, output) = (toIt.write, fromIt.read)
    } catch {
      throw .unavailable("\(path) does not start: \(SystemText.of(error.errno))")
    }
    // The process is not reaped yet, so the pid is still its own.
    pidfd = pidfd_open(pid, 0)
    for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  deinit {
    for descriptor in [input, output, pidfd] where descriptor >= 0 { close(descriptor) }
    // Pinentry leads its own process group, which holds the processes that it has started.
    kill(-pid, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
    terminal?.restore()
  }

  /// The rows and columns of pinentry's terminal, if it has one.
  var size: (rows: Int, columns: Int)? { terminal?.size }

  /// Waits for the greeting.
  func greet() throws(FaceError) {
    guard case .ok = try answer(within: patience) else { throw .unavailable("pinentry does not begin with OK") }
  }

  /// Sends a line that needs no person to answer. Commands that pinentry does not know have no effect.
  func set(_ line: String) throws(FaceError) {
    try send(line)
    _ = try answer(within: patience)
  }

  /// Sends a line that a person answers.
  func ask(_ line: String) throws(FaceError) -> Outcome {
    // Text that was typed before the question does not answer it.
    terminal?.forgetInput()
    try send(line)
    return try answer(within: nil)
  }

  private func send(_ line: String) throws(FaceError) {
    // A line that pinentry has sent without being asked would be taken for the answer to this line.
    if reader.hasMore { throw .unavailable("pinentry sent an answer without a question") }
    let deadline = Self.deadline(patience)
    var rest = Array(line.utf8)[...]
    while !rest.isEmpty {
      // The pointer is valid for this one call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(input, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        try wait(input, POLLOUT, until: deadline)
      } else if errno != EINTR {
        throw .unavailable("pinentry has ended")
      }
    }
  }

  private func answer(within milliseconds: Int32?) throws(FaceError) -> Outcome {
    let deadline = milliseconds.map { Self.deadline($0) }
    var data = SecretBuffer()
    for _ in 0..<Self.mostLines {
      switch try line(until: deadline) {
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

  private func line(until deadline: UInt64?) throws(FaceError) -> AssuanReply {
    while true {
      do throws(AssuanError) {
        if let reply = try reader.next() { return reply }
      } catch {
        switch error {
        case .malformed(let reason): throw .unavailable("pinentry is not understood: \(reason)")
        }
      }
      try wait(output, POLLIN, until: deadline)
      var bytes = SecretBuffer(capacity: AssuanReader.longestLine)
      let count = bytes.append(count: AssuanReader.longestLine) { free in
        // The buffer has room for this many bytes during the call.
        unsafe free.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
      }
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0 else { throw .unavailable("pinentry has ended") }
      bytes.truncate(to: count)
      bytes.withBytes { reader.append($0) }
    }
  }

  private static func deadline(_ milliseconds: Int32) -> UInt64 { Clock.now() + UInt64(max(0, milliseconds)) * 1000 }

  private func wait(_ descriptor: Int32, _ event: Int32, until deadline: UInt64?) throws(FaceError) {
    var polled = [
      pollfd(fd: descriptor, events: Int16(event), revents: 0),
      pollfd(fd: withdrawal.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0),
    ]
    let left = deadline.map { Int32(clamping: ($0 - min($0, Clock.now()) + 999) / 1000) }
    let ready = unsafe poll(&polled, 3, left ?? -1)
    if polled[1].revents != 0 { throw .withdrawn }
    if ready == 0 { throw .unavailable("pinentry does not answer") }
    // A process that pinentry has started may hold the pipe for longer. Everything that pinentry wrote before its end
    // is in the pipe by now.
    if polled[2].revents != 0, unsafe poll(&polled, 1, 0) == 0 { throw .unavailable("pinentry has ended") }
  }
}
