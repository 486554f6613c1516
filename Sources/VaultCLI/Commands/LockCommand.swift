internal import ArgumentParser
internal import VaultClient
internal import VaultWire

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Wipe the keys from the daemon's memory.",
    discussion: "Without a daemon nothing is open, so that is no error.")

  @OptionGroup var globals: Globals

  func run() throws {
    let isRunning = try lock(Session(globals, startsDaemon: false))
    if !isRunning { Output.note("no daemon is running, so nothing is unlocked") }
    guard globals.json else { return }
    try Output.json { writer in
      writer.beginObject()
      writer.key("locked")
      writer.bool(true)
      writer.key("daemon")
      writer.bool(isRunning)
      writer.endObject()
    }
  }

  /// False where nobody listens. Only then is nothing open: a daemon that hangs up may go on, with its keys.
  private func lock(_ session: Session) throws(Failure) -> Bool {
    try session.call { vault in
      do {
        try vault.lock()
        return true
      } catch ClientError.noDaemon {
        return false
      }
    }
  }
}
