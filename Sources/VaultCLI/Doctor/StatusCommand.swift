internal import ArgumentParser
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Print whether the vault is open, since when and why, and when it locks.",
    discussion: """
      Never starts a daemon and never keeps the vault open longer. The exit code is 65 if something is wrong with the \
      store, which the line `problem` describes.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals, startsDaemon: false)
    let status = try session.call { vault in
      do { return try vault.status() } catch let error as ClientError {
        throw StatusCommand.absent(session, error) ?? error
      }
    }
    if globals.json {
      try Output.json(status)
    } else {
      let isSystem = session.vault.location == .system
      try Output.lines(StatusCommand.lines(status, now: Int64(time(nil)), system: isSystem))
    }
    if status.problem != nil { throw ExitCode(Exit.invalid.rawValue) }
  }

  /// Describes the state of the user's vault while no daemon listens at its socket; nil for another error. If no daemon
  /// serves the vault elsewhere, nobody has the vault's keys.
  static func absent(_ session: Session, _ error: ClientError) -> (any Error)? {
    if let failure = session.elsewhere(error) { return failure }
    guard case .noDaemon(let path) = error, session.isOwn else { return nil }
    if case .hidden(let reason) = StoreHolder.find(system: false) {
      return StoreHolder.unknown(.unavailable, at: .socket(path), reason)
    }
    return absent()
  }

  private static func absent() -> Failure {
    if Daemon.program == nil { return .notInstalled }
    if let problem = Daemon.settingsProblem() {
      return Failure(
        .configuration, "no daemon is running, and none starts: \(Printable.text(Failure.reason(of: problem)))")
    }
    if let remnant = StorePaths(system: false)?.remnant {
      return Failure(.unavailable, "no daemon is running, and \(Printable.text(remnant))", StorePaths.remnantAdvice)
    }
    if let store = StorePaths(system: false), !FileState(store.directory + "/vault.db").exists {
      return Failure(
        .unavailable, "no daemon is running, and there is no vault yet", "make one with \(Hint.vault("init"))")
    }
    return Failure(.unavailable, "locked: no daemon is running", "the next command starts one")
  }

  static func lines(_ status: Wire.StatusReply, now: Int64, system: Bool = false) -> [String] {
    var lines = [row("state", state(status.state) + Clauses.cause(status.cause))]
    lines.append(row("since", moment(status.since, now: now)))
    if let at = status.locksAt {
      lines.append(row("locks", "\(moment(at, now: now)) (\(reason(status.locksBecause)))"))
    }
    if !status.locksOn.isEmpty {
      lines.append(row("locks on", status.locksOn.map { trigger(Printable.text($0)) }.joined(separator: ", ")))
    }
    if let problem = status.problem { lines.append(row("problem", Style.red(Hint.text(problem)))) }
    if let items = status.items { lines.append(row("items", String(items))) }
    if let integrity = status.integrity {
      lines.append(row("integrity", Integrity.text(integrity, isCopy: Integrity.copyWarning(status) != nil)))
    }
    if let rekey = status.rekey {
      let progress = "\(rekey.done) of \(rekey.of) items, deleted ones too"
      lines.append(row("rekey", "\(progress); \(Hint.vault("rekey")) waits for it"))
    }
    if let backup = status.backup { lines.append(row("backup", BackupAge(backup, now: now).text)) }
    if status.unconfirmed != nil { lines.append(row("grants", Style.yellow(unconfirmed))) }
    for method in status.methods {
      // A way in that the vault does not have is not a matter of time.
      let word = method.reason?.hasPrefix("the vault has no ") == true ? "no" : "not now"
      let reason = method.obstacle.map { ", \(Hint.text($0))" } ?? ""
      lines.append(row("unlock by", Printable.text(method.name) + (method.available ? "" : ": \(word)\(reason)")))
    }
    if status.audit == "off" { lines.append(row("audit", Style.yellow("off: what happens is not recorded"))) }
    if let agent = status.sshAgent { lines.append(row("ssh-agent", text(agent))) }
    for agent in status.agents ?? [] { lines.append(row("agent", text(agent, now: now))) }
    for watcher in status.watchers ?? [] { lines.append(row("watcher", Style.yellow(text(watcher, now: now)))) }
    if let requests = status.requests, requests > 0 {
      lines.append(row("requests", "\(requests) \(requests == 1 ? "waits" : "wait"); see \(Hint.vault("requests"))"))
    }
    if let prompts = status.prompts, prompts > 0 {
      let text = prompts == 1 ? "1 program waits" : "\(prompts) prompts of programs wait"
      lines.append(row("prompts", "\(text); see \(Hint.vault("requests"))"))
    }
    for warning in status.warnings { lines.append(row("warning", Style.yellow(text(warning, now: now)))) }
    if status.version != ClientVersion.text {
      let text = "\(ClientVersion.difference(from: status)); \(ClientVersion.restart(status, system: system))"
      lines.append(row("warning", Style.yellow(text)))
    }
    lines.append(row("daemon", "version \(Printable.text(status.version)), process \(status.pid)"))
    return lines
  }

  private static let unconfirmed =
    "none is in effect, because the vault came from a backup; \(Hint.vault("grants confirm")) puts them into effect"

  private static func text(_ warning: Wire.Warning, now: Int64) -> String {
    (warning.since.map { "since \(moment($0, now: now)): " } ?? "") + Hint.text(warning.sentence)
  }

  /// Describes the ssh-agent: whether it is on, its socket, and the keys that it offers.
  static func text(_ agent: Wire.SSHAgent) -> String {
    guard agent.on else { return "off" }
    let place = agent.socket.map { "on, at \(Printable.text($0))" } ?? "on, without a socket: the socket unit has none"
    if agent.locked == true { return place + "; locked by `ssh-add -x`, so it offers no key; `ssh-add -X` unlocks it" }
    let keys = agent.keys.map { Counted.text($0, "key") } ?? "keys that are known after an unlock"
    return place + "; offers \(keys)" + (agent.added > 0 ? " and \(agent.added) of ssh-add" : "")
  }

  /// Describes an agent: its process, the ways in which it asks (its faces), and the time at which it began to attend.
  private static func text(_ agent: Wire.Agent, now: Int64) -> String {
    let user = agent.user.map { Printable.text($0) } ?? "uid \(agent.uid)"
    let unit = agent.unit.map { " (\(Printable.text($0)))" } ?? ""
    let faces = agent.faces.map { Printable.text($0) }.joined(separator: ", ")
    return "\(user), process \(agent.pid)\(unit), asks by \(faces), since \(moment(agent.since, now: now))"
  }

  /// Describes a watcher: its process, the problem that a person must solve, and the time of its start.
  private static func text(_ watcher: Wire.Watcher, now: Int64) -> String {
    let user = watcher.user.map { Printable.text($0) } ?? "uid \(watcher.uid)"
    let unit = watcher.unit.map { " (\(Printable.text($0)))" } ?? ""
    return "\(user), process \(watcher.pid)\(unit), since \(moment(watcher.since, now: now)): "
      + Printable.line(watcher.notice)
  }

  private static func row(_ name: String, _ text: String) -> String {
    name + ":" + String(repeating: " ", count: max(1, 11 - name.count)) + text
  }

  private static func state(_ name: String) -> String {
    switch name {
    case "new":
      if let remnant = StorePaths.usualRemnant {
        "no vault here: \(Printable.text(remnant)); \(StorePaths.remnantAdvice)"
      } else {
        "no vault yet; make one with \(Hint.vault("init"))"
      }
    case "unlocked": Style.green(name)
    case "unreadable": Style.red(name)
    default: Printable.text(name)
    }
  }

  private static func reason(_ name: String?) -> String {
    switch name {
    case "idle": "when nobody uses it"
    case "age": "the maximum time"
    case "asked": "as requested at the unlock"
    default: Printable.text(name ?? "no reason given")
    }
  }

  private static func trigger(_ name: String) -> String {
    switch name {
    case "sleep": "the machine's sleep"
    case "session-lock": "the session's lock"
    default: "the screen's lock (\(name))"
    }
  }

  static func moment(_ time: Int64, now: Int64) -> String {
    let distance = Seconds.from(now, to: time)
    let text = distance > 0 ? "in \(Seconds.format(distance))" : "\(Seconds.format(Seconds.from(time, to: now))) ago"
    return "\(LocalTime.text(time)) (\(text))"
  }
}
