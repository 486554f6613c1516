internal import CLinux
internal import Glibc

/// A program that was just started and will say on descriptor 3 when it is ready.
struct StartingChild: ~Copyable {
  private let pid: pid_t
  private let ready: Descriptor
  private let output: Descriptor
  private var written: [UInt8] = []
  /// How much of its output is kept, in bytes.
  private static let kept = 4096

  /// Runs `program` in a session of its own, with nothing to read and its output going to this process. Of this process it
  /// inherits no descriptor, and of the environment what ``DaemonEnvironment`` lets through.
  init(_ program: String, _ arguments: [String]) throws(ClientError) {
    let (readyRead, readyWrite) = try StartingChild.pipe()
    let ready = try Descriptor("pipe", readyRead)
    let readyEnd = try Descriptor("pipe", readyWrite)
    let (outputRead, outputWrite) = try StartingChild.pipe()
    let output = try Descriptor("pipe", outputRead)
    let outputEnd = try Descriptor("pipe", outputWrite)
    pid = try StartingChild.spawn([program] + arguments, ready: readyEnd.number, output: outputEnd.number)
    self.ready = ready
    self.output = output
  }

  /// Waits for the word on descriptor 3 and gives the process id. When the program ends instead, throws what it
  /// wrote; when `deadline` passes first, ends it.
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
    // It closed descriptor 3, so it has ended or is about to, and then all its output is there.
    let status = reap(deadline.orAfter(.seconds(5)))
    _ = fcntl(output.number, F_SETFL, O_NONBLOCK)
    while isOutputOpen { isOutputOpen = readOutput() }
    throw .daemonFailed(status: status, message: message)
  }

  /// What it wrote, as one text without control characters at its ends.
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
    if count > 0 { written += chunk[..<min(count, StartingChild.kept - written.count)] }
    return count > 0 || count < 0 && errno == EINTR
  }

  /// The exit code, or 128 + signal. A program that does not end by `deadline` is killed.
  private borrowing func reap(_ deadline: Deadline) -> Int32 {
    var status: Int32 = 0
    while true {
      let result = unsafe waitpid(pid, &status, WNOHANG)
      if result == pid { return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f) }
      if result < 0, errno != EINTR { return 0 }
      if deadline.hasPassed { kill(pid, SIGKILL) }
      // There is no descriptor to wait on for a process before Linux 5.3.
      _ = poll(nil, 0, 2)
    }
  }

  /// Both ends above the numbers a program is started with, so that none is taken for another.
  private static func pipe() throws(ClientError) -> (read: Int32, write: Int32) {
    var low: [Int32] = [-1, -1]
    guard unsafe pipe2(&low, O_CLOEXEC) == 0 else { throw .system("pipe", errno: errno) }
    let high = low.map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
    for descriptor in low { close(descriptor) }
    return (high[0], high[1])
  }

  private static func spawn(_ command: [String], ready: Int32, output: Int32) throws(ClientError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
    unsafe posix_spawn_file_actions_adddup2(&actions, ready, 3)
    // Whatever else is open here, such as a lock that a script holds, would stay open for as long as the daemon runs.
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 4)
    // What this process does with its signals is not the daemon's business.
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    // 0x80 is POSIX_SPAWN_SETSID, which glibc declares for _GNU_SOURCE only: a Ctrl-C here must not reach the daemon.
    unsafe posix_spawnattr_setflags(&attributes, 0x80 | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // Each string is copied for the call and freed after it; the array ends with a null pointer.
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var variables = unsafe DaemonEnvironment.lines(from: own()).map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe variables.indices { unsafe free(variables[index]) } }
    var pid: pid_t = 0
    let code = unsafe posix_spawn(&pid, command[0], &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw .system("start \(command[0])", errno: code) }
    return pid
  }

  /// This process's environment, copied at once; nothing in it changes its environment.
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
