internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultProcess
internal import VaultWire

/// One run of a watcher's command, which reads the changes on its standard input, one JSON object per line.
///
/// The command has a session of its own, so that a signal to its process group ends all of its processes that did not
/// leave the group. No text of an event is in its arguments or its environment.
struct WatchRun: ~Copyable {
  /// The end of a command: an exit code, or the number of a signal.
  enum End: Equatable {
    case exit(Int32)
    case signal(Int32)

    init(status: Int32) {
      self = status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }

    /// The end in words.
    var text: String {
      switch self {
      case .exit(let code): "exit code \(code)"
      case .signal(let number): "signal \(number)"
      }
    }
  }

  /// The milliseconds that the command gets to end by itself.
  private static let grace = 5000

  /// A descriptor that is readable once the command has ended (pidfd_open(2)).
  let descriptor: Int32
  let pid: pid_t

  /// Starts `sh -c` with a command.
  init(_ command: String, _ events: [Vault.Event]) throws(Failure) {
    let input = try Self.file(of: events)
    defer { close(input) }
    let started: Result<StartedProgram, StartedProgram.Failure> = Hardening.withEarlierLimit {
      Result { () throws(StartedProgram.Failure) in
        try StartedProgram(
          ["/bin/sh", "-c", command], descriptors: [.ours(input), .ours(STDOUT_FILENO), .ours(STDERR_FILENO)],
          hasOwnSession: true, keepsDirectory: true)
      }
    }
    let program: StartedProgram
    switch started {
    case .success(let made): program = made
    case .failure(let failure): throw Failure(.system, "\(failure.call): \(Output.describe(failure.errno))")
    }
    // The process was not waited for yet, so the number is still its own.
    let end = pidfd_open(program.pid, 0)
    guard end >= 0 else {
      let code = errno
      kill(-program.pid, SIGKILL)
      _ = Self.reap(program.pid)
      throw Failure(.system, "cannot wait for the command: \(Output.describe(code))")
    }
    (pid, descriptor) = (program.pid, end)
  }

  deinit { close(descriptor) }

  /// Returns a file in memory with the events, positioned at its beginning. A pipe would have to be fed during the run.
  private static func file(of events: [Vault.Event]) throws(Failure) -> Int32 {
    let made = vault_memory_file()
    let file = made < 0 ? -1 : vault_dup_above(made, 3)
    guard file >= 0 else { throw Failure(.system, "cannot make a file in memory: \(Output.describe(errno))") }
    if made != file { close(made) }
    do throws(Failure) {
      for event in events {
        var line = event.jsonText()
        line.append(UInt8(ascii: "\n"))
        try line.withBytes { bytes throws(Failure) in try Output.write(bytes, to: file) }
      }
    } catch {
      close(file)
      throw error
    }
    lseek(file, 0, SEEK_SET)
    return file
  }

  /// Waits for the end that ``descriptor`` has reported.
  func finish() -> End { Self.reap(pid) }

  /// Ends a command that was not waited for yet, and its process group, by force if that takes too long.
  static func stop(_ pid: pid_t, _ descriptor: Int32) {
    kill(-pid, SIGTERM)
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let end = Moment.now() + grace
    while unsafe poll(&polled, 1, Int32(clamping: max(0, end - Moment.now()))) < 0, errno == EINTR {}
    // This ends the rest of the group. The group's number stays taken until the command is waited for.
    kill(-pid, SIGKILL)
    _ = reap(pid)
  }

  private static func reap(_ pid: pid_t) -> End {
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return End(status: status)
  }
}
