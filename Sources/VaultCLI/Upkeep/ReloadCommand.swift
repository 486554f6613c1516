internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ReloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Have the daemon read its settings again, and print what has changed.",
    discussion: """
      Does what SIGHUP does, and reports the result: if the daemon refuses a file, the command names the file with the \
      line and the reason, the old settings stay, and the exit code is 78. Never starts a daemon, because a \
      daemon reads the settings anyway when it starts.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals, startsDaemon: false)
    let before = globals.json ? nil : Self.trash(session)
    let change = try session.call { vault in
      do { return try vault.reload() } catch ClientError.noDaemon(let path) where session.isOwn {
        throw session.elsewhere(.noDaemon(path)) ?? ReloadCommand.absent()
      } catch ClientError.fault(.misconfigured(let reason)) {
        throw Failure(settings: reason)
      }
    }
    if globals.json { return try Output.json(change) }
    var lines = ReloadCommand.lines(change)
    if change.changed.contains("trash"), let before, let after = Self.trash(session), after < before {
      let (items, are) = (Counted.text(before - after, "item"), before - after == 1 ? "is" : "are")
      // The trash is cleared only while the vault is unlocked.
      let isUnlocked = (try? session.call { vault in try vault.status().state }) == "unlocked"
      lines.append(
        "\(items) in the trash \(are) too old now, and deleted for good\(isUnlocked ? "" : " at the next unlock")")
    }
    try Output.lines(lines)
  }

  /// The number of items in the trash that have some time left there; nil if the vault does not tell now.
  private static func trash(_ session: Session) -> Int? {
    let items = try? session.call { vault in try vault.find(inTrash: true) }
    return items?.count(where: { $0.left.map { $0 > 0 } ?? true })
  }

  /// The failure if no daemon runs. It reports a settings file that would keep the next daemon from starting.
  private static func absent() -> Failure {
    if let problem = Daemon.settingsProblem() {
      return Failure(
        .configuration, "no daemon is running, and none starts: \(Printable.text(Failure.reason(of: problem)))")
    }
    return Failure(.unavailable, "no daemon is running", "a daemon reads the settings when it starts")
  }

  static func lines(_ change: Wire.ReloadReply) -> [String] {
    let file = Printable.text(change.file)
    var lines = [change.missing ? "there is no \(file); every setting has its default" : "\(file) was read"]
    if !change.changed.isEmpty { lines.append("in force now: \(names(change.changed))") }
    if !change.later.isEmpty { lines.append("from the daemon's next start on: \(names(change.later))") }
    if change.changed.isEmpty && change.later.isEmpty { lines.append("no setting has changed") }
    return lines
  }

  private static func names(_ names: [String]) -> String {
    names.map { Printable.text($0) }.joined(separator: ", ")
  }
}
