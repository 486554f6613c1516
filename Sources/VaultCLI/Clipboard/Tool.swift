internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// Another program, run with its standard streams on pipes or `/dev/null`.
enum Tool {
  /// Returns the first executable of that name in an absolute folder of `$PATH`. Relative entries mean another folder
  /// in each working directory, and the tool gets a secret, so they are skipped.
  static func find(_ name: String) -> String? {
    for folder in (Environment.variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
    where folder.hasPrefix("/") {
      let path = "\(folder)/\(name)"
      if unsafe access(path, X_OK) == 0 { return path }
    }
    return nil
  }

  /// The milliseconds that a program gets if it asks nobody and computes nothing.
  static let patience = 10_000

  /// The outcome of a run.
  enum Outcome { case done, failed, late }

  /// Runs a program that reads `input` and whose output is ignored. A program that does not end in time is killed.
  static func feed(_ command: [String], _ input: RawSpan, patience: Int = patience) -> Outcome {
    guard let process = Running(command, .input, inItsOwnSession: false) else { return .failed }
    // If the program does not read its input, that is its failure and must not end this process.
    let earlier = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, earlier) }
    let end = Moment.now() + patience
    let isWritten = process.write(input, until: end)
    guard let status = process.finish(until: end) else { return .late }
    return status == 0 && isWritten ? .done : .failed
  }

  /// Runs a program that reads `input` and writes to this process's descriptor `output`, which is below 3. The program
  /// has no time limit, since the reader of its output sets the pace.
  ///
  /// - Returns: the exit code; nil if the program did not start, did not read all of its input, or was killed.
  static func feed(_ command: [String], _ input: RawSpan, output: Int32) -> Int32? {
    guard let process = Running(command, .input, inItsOwnSession: false, output: output) else { return nil }
    // If the program does not read its input, that is its failure and must not end this process.
    let earlier = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, earlier) }
    let written: Void? = try? Output.write(input, to: process.descriptor)
    let status = process.finish()
    // A program that ends with an error need not have read its input.
    guard status & 0x7F == 0, written != nil || status != 0 else { return nil }
    return status >> 8 & 0xFF
  }

  /// Returns the output of a program, up to `limit` bytes; nil if the program fails, prints more or does not end in
  /// time.
  static func capture(_ command: [String], limit: Int, patience: Int = patience) -> SecretBuffer? {
    guard let process = Running(command, .output, inItsOwnSession: false) else { return nil }
    let end = Moment.now() + patience
    let output = process.read(limit: limit, until: end)
    guard process.finish(until: end) == 0 else { return nil }
    return output
  }

  /// Starts a program that reads `input` and outlives this process, in its own session.
  static func detach(_ command: [String], _ input: RawSpan) -> Bool {
    guard let process = Running(command, .input, inItsOwnSession: true) else { return false }
    let written: Void? = try? Output.write(input, to: process.descriptor)
    process.leave()
    return written != nil
  }

  private struct Running: ~Copyable {
    enum End { case input, output }

    /// This process's end of the pipe.
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

    /// Writes all of the input; returns false if the program does not read it, or not in time.
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

    /// Reads all output of the program; returns nil if that is more than `limit` bytes or does not end in time.
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

    /// Closes the pipe and waits for the program's end. A program that does not end in time is killed, and the result
    /// is nil.
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

    /// Closes the pipe and waits for the program's end. Returns its wait status.
    consuming func finish() -> Int32 {
      close(descriptor)
      var status: Int32 = 0
      while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
      return status
    }

    /// Closes the pipe and lets the program continue.
    consuming func leave() { close(descriptor) }
  }
}
