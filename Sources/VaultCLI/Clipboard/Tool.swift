internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// Another program, run with its standard streams on pipes or `/dev/null`.
enum Tool {
  /// The first executable of that name on `$PATH`, in whose absolute entries alone: the others mean another folder wherever
  /// the command is typed, and the tool gets a secret.
  static func find(_ name: String) -> String? {
    for folder in (Environment.variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
    where folder.hasPrefix("/") {
      let path = "\(folder)/\(name)"
      if unsafe access(path, X_OK) == 0 { return path }
    }
    return nil
  }

  /// The milliseconds that a program has which asks nobody and computes nothing.
  static let patience = 10_000

  /// The outcome of a program.
  enum Outcome { case done, failed, late }

  /// Runs a program that reads `input` and prints nothing of interest. One that has not ended in time is killed.
  static func feed(_ command: [String], _ input: RawSpan, patience: Int = patience) -> Outcome {
    guard let process = Running(command, .input, inItsOwnSession: false) else { return .failed }
    // A program that does not read is a failure of its own, not our end.
    let earlier = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, earlier) }
    let end = Moment.now() + patience
    let isWritten = process.write(input, until: end)
    guard let status = process.finish(until: end) else { return .late }
    return status == 0 && isWritten ? .done : .failed
  }

  /// The exit code of a program that reads `input` and writes to the descriptor `output`, below 3, of this one; nil where it
  /// did not start, did not read all of it, or was killed. It has all the time that whoever reads its output takes.
  static func feed(_ command: [String], _ input: RawSpan, output: Int32) -> Int32? {
    guard let process = Running(command, .input, inItsOwnSession: false, output: output) else { return nil }
    // A program that does not read is a failure of its own, not our end.
    let earlier = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, earlier) }
    let written: Void? = try? Output.write(input, to: process.descriptor)
    let status = process.finish()
    // A program that ends with an error need not have read.
    guard status & 0x7F == 0, written != nil || status != 0 else { return nil }
    return status >> 8 & 0xFF
  }

  /// The output of a program, up to `limit` bytes; nil when it fails, prints more or has not ended in time.
  static func capture(_ command: [String], limit: Int, patience: Int = patience) -> SecretBuffer? {
    guard let process = Running(command, .output, inItsOwnSession: false) else { return nil }
    let end = Moment.now() + patience
    let output = process.read(limit: limit, until: end)
    guard process.finish(until: end) == 0 else { return nil }
    return output
  }

  /// Starts a program that outlives this one, reads `input` and is nobody's child.
  static func detach(_ command: [String], _ input: RawSpan) -> Bool {
    guard let process = Running(command, .input, inItsOwnSession: true) else { return false }
    let written: Void? = try? Output.write(input, to: process.descriptor)
    process.leave()
    return written != nil
  }

  private struct Running: ~Copyable {
    enum End { case input, output }

    /// Our end of the pipe.
    let descriptor: Int32
    private let pid: pid_t

    init?(_ command: [String], _ end: End, inItsOwnSession: Bool, output: Int32? = nil) {
      guard let ends = try? StartedProgram.pipe(for: 3) else { return nil }
      let (ours, theirs) = end == .input ? (ends.write, ends.read) : (ends.read, ends.write)
      defer { close(theirs) }
      let started = Hardening.withEarlierLimit {
        try? StartedProgram(
          command,
          descriptors: end == .input
            ? [.ours(theirs), output.map { .ours($0) } ?? .null, .null] : [.null, .ours(theirs), .null],
          hasOwnSession: inItsOwnSession)
      }
      guard let started else {
        close(ours)
        return nil
      }
      descriptor = ours
      pid = started.pid
    }

    /// Writes all of it; false where the program does not read it, or not in time.
    borrowing func write(_ input: RawSpan, until end: Int) -> Bool {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      var rest = input
      while rest.byteCount > 0 {
        guard isReady(POLLOUT, until: end), let count = try? Output.writePart(of: rest, to: descriptor) else {
          return false
        }
        rest = rest.extracting(droppingFirst: count)
      }
      return true
    }

    /// Reads all that the program prints; nil where that is more, or has no end in time.
    borrowing func read(limit: Int, until end: Int) -> SecretBuffer? {
      var output = SecretBuffer(capacity: limit + 1)
      while isReady(POLLIN, until: end) {
        let count = FileInput.read(descriptor, into: &output, atMost: limit + 1 - output.count)
        if count == 0 { return output }
        guard count > 0 ? output.count <= limit : errno == EINTR else { return nil }
      }
      return nil
    }

    private borrowing func isReady(_ events: Int32, until end: Int) -> Bool {
      Self.isReady(descriptor, events, until: end)
    }

    private static func isReady(_ descriptor: Int32, _ events: Int32, until end: Int) -> Bool {
      while true {
        var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        let ready = unsafe poll(&polled, 1, Int32(clamping: max(0, end - Moment.now())))
        if ready >= 0 || errno != EINTR { return ready > 0 }
      }
    }

    /// Closes the pipe and waits for the program's end; one that has not come to it in time is killed, and the answer nil.
    consuming func finish(until end: Int) -> Int32? {
      let watch = pidfd_open(pid, 0)
      defer { if watch >= 0 { close(watch) } }
      close(descriptor)
      let hasEnded = watch < 0 || Self.isReady(watch, POLLIN, until: end)
      if !hasEnded { kill(pid, SIGKILL) }
      var status: Int32 = 0
      while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
      return hasEnded ? status : nil
    }

    /// Closes the pipe and waits for the program's end.
    consuming func finish() -> Int32 {
      close(descriptor)
      var status: Int32 = 0
      while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
      return status
    }

    /// Closes the pipe and lets the program go on.
    consuming func leave() { close(descriptor) }
  }
}
