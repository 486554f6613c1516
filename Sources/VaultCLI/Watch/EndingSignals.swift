internal import CLinux
internal import Glibc
internal import Synchronization
internal import VaultClient

/// Ends the program and its command on a signal, on a thread of its own: at once, whatever the program waits for or
/// computes, but not within a step that must be whole.
final class EndingSignals: Sendable {
  /// A running command.
  private struct Command {
    let pid: pid_t
    let descriptor: Int32
  }

  /// The milliseconds that a signal gets to end the program, before the program exits by itself.
  private static let grace: UInt32 = 1000

  /// The running command; the lock is held within a step that must be whole, and from the signal on.
  private let command = Mutex<Command?>(nil)

  /// Runs a step that a signal must not cut in two. The steps must not be nested.
  func whole<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    var result: R?
    try command.withLock { _ throws(E) in result = try body() }
    // The body has returned, so there is a result.
    return result.take()!
  }

  /// Starts a command, which a signal ends as well.
  func start(_ text: String, _ events: [Vault.Event] = []) throws(Failure) -> WatchRun {
    var run: WatchRun?
    try command.withLock { command throws(Failure) in
      let started = try WatchRun(text, events)
      command = Command(pid: started.pid, descriptor: started.descriptor)
      run = consume started
    }
    return run.take()!
  }

  /// Waits for the end of a command, which its descriptor has reported.
  func finish(_ run: consuming WatchRun) -> WatchRun.End {
    command.withLock { command in
      command = nil
      return run.finish()
    }
  }

  /// Ends the command that runs, if one does.
  func stop() {
    command.withLock { command in
      if let command { WatchRun.stop(command.pid, command.descriptor) }
      command = nil
    }
  }

  /// Begins to wait for a signal.
  ///
  /// - Parameter signals: the descriptor of a ``SignalPipe``.
  func begin(_ signals: Int32) throws(Failure) {
    // The thread needs a descriptor that stays its own when the pipe is closed.
    let descriptor = fcntl(signals, F_DUPFD_CLOEXEC, 3)
    guard descriptor >= 0 else { throw Failure(.system, "cannot wait for signals: \(Output.describe(errno))") }
    do throws(ClientError) {
      try NewThread.run { [self] in
        var number: UInt8 = 0
        while true {
          var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          _ = unsafe poll(&polled, 1, -1)
          let count = unsafe read(descriptor, &number, 1)
          if count == 1 { end(by: Int32(number)) }
          if count == 0 { break }
        }
        close(descriptor)
      }
    } catch {
      close(descriptor)
      throw Failure(error)
    }
  }

  /// Lets the signal have its default effect. The first process of a container has to end by itself, because the kernel
  /// spares it.
  private func end(by number: Int32) {
    command.withLock { command in
      if let command { WatchRun.stop(command.pid, command.descriptor) }
      signal(number, SIG_DFL)
      kill(getpid(), number)
      usleep(Self.grace * 1000)
      _exit(128 + number)
    }
  }
}
