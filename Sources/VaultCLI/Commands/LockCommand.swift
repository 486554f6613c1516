internal import ArgumentParser
internal import VaultAPI
internal import VaultClient

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Wipe the keys from the daemon's memory.",
    discussion: "Without a daemon nothing is open, so that is no error.")

  @OptionGroup var globals: Globals

  func run() throws {
    var isRunning = true
    do throws(Failure) {
      let session = try Session(globals, startsDaemon: false)
      try session.call { vault in try vault.lock() }
    } catch {
      guard error.exit == .unavailable else { throw error }
      isRunning = false
      Output.note("no daemon is running, so nothing is unlocked")
    }
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
}
