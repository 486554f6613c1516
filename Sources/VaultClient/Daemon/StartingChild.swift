internal import CLinux
internal import Glibc
internal import VaultProcess

/// A program that was just started and will report on descriptor 3 that it is ready.
struct StartingChild: ~Copyable {
  let pid: pid_t
  private let ready: Descriptor
  private let output: Descriptor
  private var written: [UInt8] = []
  /// The number of bytes of the output that are kept. They are the last ones, because the reason stands at the end.
  private static let kept = 4096

  /// Runs `program` in its own session, with no input and with its output going to this process. It inherits from this
  /// process only what ``StartedProgram`` leaves, and from the environment only what ``DaemonEnvironment`` lets
  /// through.
  init(_ program: String, _ arguments: [String]) throws(ClientError) {
    let (readyRead, readyWrite) = try StartingChild.pipe()
    let ready = try Descriptor("pipe", readyRead)
    let readyEnd = try Descriptor("pipe", readyWrite)
    let (outputRead, outputWrite) = try StartingChild.pipe()
    let output = try Descriptor("pipe", outputRead)
    let outputEnd = try Descriptor("pipe", outputWrite)
    pid = try StartingChild.start(
      [program] + arguments,
      [.null, .ours(outputEnd.number), .ours(outputEnd.number), .ours(readyEnd.number)])
    self.ready = ready
    self.output = output
  }

  /// Waits for the report on descriptor 3 and returns the process id. If the program ends instead, throws its output.
  /// If `deadline` passes first, ends the program.
  mutating func waitUntilReady(_ deadline: Deadline) throws(ClientError) -> pid_t {
    var isOutputOpen = true
    while true {
      var polled = [
        pollfd(fd: ready.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isOutputOpen ? output.number : -1, events: Int16(POLLIN), revents: 0),
      ]
      let count = unsafe poll(&polled, 2, deadline.pollTimeout)
      if count == 0 {
        kill(pid, SIGTERM)
        _ = reap(Deadline(after: .seconds(2)))
        throw .timedOut
      }
      if polled[1].revents != 0 { isOutputOpen = readOutput() }
      if polled[0].revents != 0 {
        var byte: UInt8 = 0
        if unsafe read(ready.number, &byte, 1) > 0 { return pid }
        break
      }
    }
    // The program closed descriptor 3, so it has ended or is about to end, and then all its output is there.
    let status = reap(deadline.orAfter(.seconds(5)))
    _ = fcntl(output.number, F_SETFL, O_NONBLOCK)
    while isOutputOpen { isOutputOpen = readOutput() }
    throw .daemonFailed(status: status, message: message)
  }

  /// The output of the program, without whitespace at its ends.
  private var message: String {
    let text = String(decoding: written, as: UTF8.self)
    let isSpace: (Character) -> Bool = { $0.isWhitespace }
    let start = text.firstIndex { !isSpace($0) } ?? text.endIndex
    let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? start
    return String(text[start..<end])
  }

  private mutating func readOutput() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1024)
    let count = unsafe read(output.number, &chunk, chunk.count)
    if count > 0 {
      written += chunk[..<count]
      written.removeFirst(max(0, written.count - StartingChild.kept))
    }
    return count > 0 || count < 0 && errno == EINTR
  }

  /// Waits for the program's end; returns its exit code, or 128 + signal. A program that does not end by `deadline` is
  /// killed.
  private borrowing func reap(_ deadline: Deadline) -> Int32 {
    var status: Int32 = 0
    while true {
      let result = unsafe waitpid(pid, &status, WNOHANG)
      if result == pid { return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f) }
      if result < 0, errno != EINTR { return 0 }
      if deadline.hasPassed { kill(pid, SIGKILL) }
      // Before Linux 5.3 a process has no descriptor to wait on, so this loop polls.
      _ = poll(nil, 0, 2)
    }
  }

  private static func pipe() throws(ClientError) -> (read: Int32, write: Int32) {
    do throws(StartedProgram.Failure) { return try StartedProgram.pipe(for: 4) } catch {
      throw .system(error.call, errno: error.errno)
    }
  }

  private static func start(
    _ command: [String], _ descriptors: [StartedProgram.Descriptor]
  ) throws(ClientError) -> pid_t {
    do throws(StartedProgram.Failure) {
      return try StartedProgram(
        command, environment: DaemonEnvironment.lines(from: own()), descriptors: descriptors, hasOwnSession: true
      ).pid
    } catch {
      throw .system(error.call, errno: error.errno)
    }
  }

  /// A copy of this process's environment, which nothing in the process changes.
  private static func own() -> [String] {
    var lines: [String] = []
    var next = unsafe environ
    while let line = unsafe next.pointee {
      lines.append(unsafe String(cString: line))
      unsafe next += 1
    }
    return lines
  }
}
