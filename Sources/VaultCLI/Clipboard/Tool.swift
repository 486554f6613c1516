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

  /// Runs a program that reads `input` and prints nothing of interest; true when it ends with 0.
  static func feed(_ command: [String], _ input: RawSpan) -> Bool {
    feed(command, input, output: nil) == 0
  }

  /// The exit code of a program that reads `input` and writes to the descriptor `output`, below 3, of this one; nil where it
  /// did not start, did not read all of it, or was killed.
  static func feed(_ command: [String], _ input: RawSpan, output: Int32?) -> Int32? {
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

  /// The output of a program, up to `limit` bytes; nil when it fails or prints more.
  static func capture(_ command: [String], limit: Int) -> SecretBuffer? {
    guard let process = Running(command, .output, inItsOwnSession: false) else { return nil }
    let output = try? FileInput.readAll(process.descriptor, limit: limit, name: command[0])
    guard process.finish() == 0 else { return nil }
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
