internal import CLinux
internal import Glibc
internal import VaultClient

/// A lock that the daemon has not confirmed, asked for by a process that stays until it is answered.
///
/// A daemon does nothing for a process that has left. So one that wakes, after it was stopped or could not run, locks
/// only where somebody still asks it to.
enum StandingLock {
  /// Starts the process, which holds no file or terminal of this one's; false where there can be none.
  static func begin(at location: SocketLocation) -> Bool {
    let pid = fork()
    guard pid == 0 else { return pid > 0 }
    // It outlives the terminal and whoever reads what the command says.
    setsid()
    let nothing = unsafe open("/dev/null", O_RDWR)
    for descriptor: Int32 in 0...2 where nothing >= 0 { dup2(nothing, descriptor) }
    _ = unsafe chdir("/")
    ask(at: location)
  }

  /// Asks for the lock until there is an answer, or nobody who could give one.
  private static func ask(at location: SocketLocation) -> Never {
    while true {
      var vault = Vault(at: location)
      (vault.timeout, vault.silence) = (nil, nil)
      do throws(ClientError) {
        try vault.lock()
        _exit(0)
      } catch {
        // So many wait already that it cannot be connected to yet.
        guard error == .timedOut else { _exit(1) }
      }
    }
  }
}
