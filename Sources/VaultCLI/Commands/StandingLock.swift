internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultWire

/// A process that asks for a lock in the command's place, should that end without an answer.
///
/// A daemon does nothing for a process that has left. So one that wakes, after it was stopped or could not run, locks
/// only where somebody still asks it to. That somebody is there before the command asks: a command that is interrupted,
/// killed, or given up by what started it leaves no word of its own.
struct StandingLock: ~Copyable {
  private let process: pid_t
  /// The pipe's end whose closing, at the command's end at the latest, has the process begin to ask.
  private let end: Int32

  /// Starts the process, which holds no file or terminal of this one's; nil where there can be none.
  init?(at location: SocketLocation) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
    let child = fork()
    guard child != 0 else { Self.stand(on: ends[0], at: location) }
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

  private static func stand(on pipe: Int32, at location: SocketLocation) -> Never {
    // It outlives the terminal and whoever reads what the command says.
    setsid()
    dup2(pipe, 0)
    let nothing = unsafe open("/dev/null", O_RDWR)
    for descriptor: Int32 in 1...2 where nothing >= 0 { dup2(nothing, descriptor) }
    close_range(3, .max, 0)
    if location.path.hasPrefix("/") { _ = unsafe chdir("/") }
    var byte: UInt8 = 0
    while unsafe read(0, &byte, 1) < 0, errno == EINTR {}
    ask(at: location)
  }

  /// Asks for the lock until there is an answer, or nobody who could give one.
  private static func ask(at location: SocketLocation) -> Never {
    var pause: UInt32 = 50_000
    while true {
      var vault = Vault(at: location)
      (vault.timeout, vault.silence) = (nil, nil)
      do throws(ClientError) {
        try vault.lock()
        _exit(0)
      } catch {
        guard mayPass(error) else { _exit(1) }
      }
      usleep(pause)
      pause = min(pause * 2, 1_000_000)
    }
  }

  /// True for an error that says that there are too many clients now, and nothing of the lock.
  static func mayPass(_ error: ClientError) -> Bool {
    switch error {
    // So many wait already that it cannot be connected to yet.
    case .timedOut, .fault(.tooManyConnections), .fault(.tooManyRequests): true
    case .fault, .noRuntimeDirectory, .relativeRuntimeDirectory, .impossibleSocket, .notUTF8, .unsafeSocket, .noDaemon,
      .daemonFailed, .disconnected,
      .protocolViolation, .tooLarge, .answerTooLarge, .notText, .system:
      false
    }
  }
}
