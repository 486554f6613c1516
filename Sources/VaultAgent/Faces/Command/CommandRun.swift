internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// One run of the user's program: writes its input, keeps its output, and waits for its end.
///
/// The program has its own session. When the run is given up, the program is killed with its process group; in every
/// case it is reaped.
final class CommandRun {
  /// The most bytes that the program may write.
  static let limit = 64 << 10

  private let pid: pid_t
  private let pidfd: Int32
  private var input: Int32
  private var output: Int32
  private var isReaped = false
  private var question: SecretBuffer
  private var written = SecretBuffer()

  init(_ program: String, _ question: consuming SecretBuffer) throws(FaceError) {
    self.question = question
    let started: StartedProgram
    do throws(StartedProgram.Failure) {
      let toIt = try StartedProgram.pipe(for: 3)
      defer { close(toIt.read) }
      let fromIt: (read: Int32, write: Int32)
      do throws(StartedProgram.Failure) { fromIt = try StartedProgram.pipe(for: 3) } catch {
        close(toIt.write)
        throw error
      }
      defer { close(fromIt.write) }
      (input, output) = (toIt.write, fromIt.read)
      for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
      do throws(StartedProgram.Failure) {
        started = try StartedProgram(
          [program], descriptors: [.ours(toIt.read), .ours(fromIt.write), .ours(2)], hasOwnSession: true)
      } catch {
        close(toIt.write)
        close(fromIt.read)
        throw error
      }
    } catch {
      throw .unavailable("\(error.call): \(SystemText.of(error.errno))")
    }
    pid = started.pid
    // The process is not reaped yet, so the pid is still its own.
    pidfd = pidfd_open(pid, 0)
    if pidfd < 0 {
      let code = errno
      giveUp()
      throw .unavailable("pidfd_open: \(SystemText.of(code))")
    }
  }

  deinit {
    giveUp()
    for descriptor in [input, output, pidfd] where descriptor >= 0 { close(descriptor) }
  }

  /// The first line of the output, without its line feed; nil when the program wrote nothing. The line is moved out, so
  /// read this once.
  var line: SecretBuffer? {
    let end = written.withBytes { bytes in
      (0..<bytes.byteCount).first {
        // The offset is within the bytes.
        unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == UInt8(ascii: "\n")
      }
    }
    if end == nil && written.count == 0 { return nil }
    var line = SecretBuffer()
    swap(&line, &written)
    line.truncate(to: end ?? line.count)
    return line
  }

  /// Waits for the end of the program; returns its exit code, or 128 plus the number of a signal.
  ///
  /// - Parameter milliseconds: the time after which the program is killed; nil for no limit.
  func wait(until withdrawal: Withdrawal?, milliseconds: Int32? = nil) throws(FaceError) -> Int32 {
    let deadline = milliseconds.map { Clock.now() + UInt64($0) * 1000 }
    while true {
      let left = deadline.map { Int32(clamping: ($0 - min($0, Clock.now()) + 999) / 1000) }
      var polled = [
        pollfd(fd: withdrawal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0),
      ]
      let count = unsafe poll(&polled, 4, left ?? -1)
      if count < 0 { continue }
      if count == 0 || polled[0].revents != 0 {
        giveUp()
        throw count == 0 ? .unavailable("the command does not end") : .withdrawn
      }
      if polled[1].revents != 0 { feed() }
      if polled[2].revents != 0 { try take() }
      guard polled[3].revents != 0 else { continue }
      // Everything that the program wrote before its end is in the pipe now. The pipe may stay open, because a process
      // that the program left behind may hold its other end.
      while output >= 0, try take() {}
      return reap()
    }
  }

  /// Writes as much as the pipe takes. A program that does not read its input can still answer: ``Confinement`` ignores
  /// SIGPIPE, so a write fails with EPIPE.
  private func feed() {
    let count = question.withBytes { bytes in
      // The pointer is valid for this one call.
      unsafe bytes.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
    }
    if count > 0 { question.removeFirst(count) }
    if question.count == 0 || count < 0 && errno != EAGAIN && errno != EINTR {
      close(input)
      input = -1
    }
  }

  /// Reads once; false when there is nothing more for now.
  @discardableResult private func take() throws(FaceError) -> Bool {
    let before = written.count
    let count = written.append(count: 4096) { bytes in
      // The free part of the buffer, valid for this one call.
      unsafe bytes.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
    }
    let code = errno
    written.truncate(to: before + max(0, count))
    if written.count > Self.limit {
      giveUp()
      throw .unavailable("the command wrote more than 64 KiB")
    }
    if count > 0 || count < 0 && code == EINTR { return true }
    if count == 0 || code != EAGAIN {
      close(output)
      output = -1
    }
    return false
  }

  /// Kills the program and the processes in its session's first process group, and reaps the program.
  private func giveUp() {
    if isReaped { return }
    kill(-pid, SIGKILL)
    _ = reap()
  }

  private func reap() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    isReaped = true
    return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
  }
}
