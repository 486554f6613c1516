internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultWire

/// A process that asks for a lock in place of the command, if the command ends without an answer.
///
/// A daemon does nothing for a process that has exited. So a daemon that was stopped or could not run locks on waking
/// only if some process still asks. This process is started before the command asks, because a command that is
/// interrupted, killed, or given up by its parent can leave no message.
struct StandingLock: ~Copyable {
  private let process: pid_t
  /// The write end of a pipe. Once it is closed, at the command's end at the latest, the process begins to ask.
  private let end: Int32

  /// Starts the process, which holds none of this process's files and no terminal; nil if no process can be started.
  ///
  /// - Parameter elsewhere: locks the vault if no daemon listens at the socket; called in the process.
  init?(at location: SocketLocation, elsewhere: () -> Void) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
    let child = fork()
    guard child != 0 else { Self.stand(on: ends[0], at: location, elsewhere) }
    close(ends[0])
    guard child > 0 else {
      close(ends[1])
      return nil
    }
    (process, end) = (child, ends[1])
  }

  /// Ends the process: the daemon has answered, or there is none.
  consuming func callOff() {
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    close(end)
  }

  /// Lets the process ask.
  consuming func begin() { close(end) }

  // MARK: The process

  private static func stand(on pipe: Int32, at location: SocketLocation, _ elsewhere: () -> Void) -> Never {
    // The process outlives the terminal and the reader of the command's output.
    setsid()
    dup2(pipe, 0)
    let nothing = unsafe open("/dev/null", O_RDWR)
    for descriptor: Int32 in 1...2 where nothing >= 0 { dup2(nothing, descriptor) }
    close_range(3, .max, 0)
    if location.path.hasPrefix("/") { _ = unsafe chdir("/") }
    var byte: UInt8 = 0
    while unsafe read(0, &byte, 1) < 0, errno == EINTR {}
    ask(at: location, elsewhere)
  }

  /// Asks for the lock until the daemon answers or no daemon is left.
  private static func ask(at location: SocketLocation, _ elsewhere: () -> Void) -> Never {
    var pause: UInt32 = 50_000
    while true {
      var vault = Vault(at: location)
      (vault.timeout, vault.silence) = (nil, nil)
      do throws(ClientError) {
        try vault.lock()
        _exit(0)
      } catch {
        if LockCommand.mayBeElsewhere(error) { elsewhere() }
        guard mayPass(error) else { _exit(1) }
      }
      usleep(pause)
      pause = min(pause * 2, 1_000_000)
    }
  }

  /// Returns true for an error that only reports too many clients at the moment, and does not answer the lock.
  static func mayPass(_ error: ClientError) -> Bool {
    switch error {
    // So many clients are waiting that not even a connection is possible yet.
    case .timedOut, .fault(.tooManyConnections), .fault(.tooManyRequests): true
    case .fault, .noRuntimeDirectory, .relativeRuntimeDirectory, .emptySocketPath, .foreignFolder, .impossibleSocket,
      .notUTF8, .unsafeSocket, .noDaemon, .daemonFailed, .disconnected, .protocolViolation, .tooLarge, .answerTooLarge,
      .notText, .system:
      false
    }
  }
}
