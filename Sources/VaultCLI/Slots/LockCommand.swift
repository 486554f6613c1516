internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultWire

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Wipe the keys from the daemon's memory.",
    discussion: "If no daemon is running, nothing is open, so this is not an error.")

  @OptionGroup var globals: Globals

  func run() throws {
    let isRunning = try lock(Session(globals, startsDaemon: false))
    if !isRunning { Output.note("no daemon is running, so nothing is unlocked") }
    guard globals.json else { return }
    try Output.json { object in
      object.add("locked", true)
      object.add("daemon", isRunning)
    }
  }

  /// The time that the command waits for the lock. A program behind it, usually a screen locker, must not wait longer.
  private static let patience = Duration.seconds(2)

  /// Locks the vault; returns false if no daemon listens. Only then is nothing open: a daemon that closes the
  /// connection may continue with its keys.
  private func lock(_ session: Session) throws(Failure) -> Bool {
    session.vault.timeout = Self.patience
    return try session.call { vault in
      // This process starts before the daemon is asked. From here on, the lock does not depend on how the command ends.
      var standing = StandingLock(at: vault.location)
      do {
        try vault.lock()
        standing.take()?.callOff()
        return true
      } catch let error as ClientError where StandingLock.mayPass(error) {
        guard let standing = standing.take() else {
          throw Failure(.retry, "the daemon has not confirmed the lock", "see \(Hint.vault("doctor"))")
        }
        standing.begin()
        throw Failure(
          .retry, "the daemon has not confirmed the lock",
          "vault keeps asking it, and it locks as soon as it can; see \(Hint.vault("status"))")
      } catch {
        standing.take()?.callOff()
        guard case ClientError.noDaemon = error else { throw error }
        return false
      }
    }
  }
}
