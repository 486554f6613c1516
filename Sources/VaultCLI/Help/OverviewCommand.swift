internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// `vault` without a command: shows the state of the vault and the everyday commands.
struct OverviewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "vault", abstract: "", shouldDisplay: false)

  @OptionGroup var globals: Globals

  /// Returns true for a command line that consists only of options that every command has.
  static func isMeant(_ words: [String]) -> Bool {
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--json", "--system": continue
      // This command reports that the value is missing.
      case "--socket": rest = rest.dropFirst()
      default: guard Arguments.hasJoinedValue(word) else { return false }
      }
    }
    return true
  }

  func run() throws {
    if globals.json {
      var status = StatusCommand()
      status.globals = globals
      return try status.run()
    }
    try Output.lines(state())
    try Output.line("")
    let width = (HelpGroup.everyday.map { $0._commandName.count }.max() ?? 0) + 4
    for command in HelpGroup.everyday {
      let name = "  \(command._commandName)"
      let rows = Self.rows(command.configuration.abstract, columns: (Output.columns ?? 80) - width)
      for (number, row) in rows.enumerated() {
        let start = number == 0 ? name : ""
        try Output.line(start + String(repeating: " ", count: width - start.count) + row)
      }
    }
    try Output.line("")
    try Output.line("`vault help COMMAND` explains a command, and `vault --help` lists all commands.")
  }

  /// Returns the state and the next step. A failure is shown as well, because a person who types only `vault` wants to
  /// know the state.
  private func state() -> [String] {
    do throws(Failure) {
      let session = try Session(globals, startsDaemon: false)
      let status = try session.call { vault in
        do { return try vault.status() } catch let error as ClientError {
          throw StatusCommand.absent(session, error) ?? error
        }
      }
      return Self.lines(status, isSystem: session.vault.location == .system)
    } catch {
      return [Clauses.ended(error.message.prefix(1).uppercased() + error.message.dropFirst())]
    }
  }

  /// Splits a text into rows of at most `columns` columns, between words.
  private static func rows(_ text: String, columns: Int) -> [String] {
    var rows: [String] = []
    for word in text.split(separator: " ") {
      if let last = rows.last, last.count + 1 + word.count <= columns {
        rows[rows.count - 1] = "\(last) \(word)"
      } else {
        rows.append(String(word))
      }
    }
    return rows
  }

  static func lines(_ status: Wire.StatusReply, isSystem: Bool) -> [String] {
    let vault = isSystem ? "vault --system" : "vault"
    let name = isSystem ? "The machine's vault" : "The vault"
    // A caller that may not open the vault is not told of any method.
    let mayOpen = !status.methods.isEmpty
    let owner = isSystem ? "an administrator" : "its owner"
    let opening = mayOpen ? "open it with `\(vault) unlock`" : "\(owner) opens it"
    let state =
      switch status.state {
      case "new": "There is no vault yet; make one with `\(vault) init`"
      case "unlocked":
        "\(name) is \(Style.green("unlocked"))\(until(status))" + (mayOpen ? "; `\(vault) lock` locks it" : "")
      case "cold": "\(name) is locked (not unlocked since the daemon started); \(opening)"
      case "locked":
        "\(name) \(status.cause.hasPrefix("by ") ? "was" : "is") locked\(Clauses.cause(status.cause)); \(opening)"
      default: "\(name) is \(Printable.text(status.state)); see `\(vault) status`"
      }
    var lines = [Clauses.ended(state)]
    var more: [String] = []
    if let problem = status.problem { more.append(Hint.text(problem)) }
    if let items = status.items { more.append(Counted.text(items, "item")) }
    if let requests = status.requests, requests > 0 {
      more.append("\(requests) \(requests == 1 ? "request waits" : "requests wait") (`\(vault) requests`)")
    }
    if let prompts = status.prompts, prompts > 0 {
      more.append("\(prompts) \(prompts == 1 ? "prompt waits" : "prompts wait") (`\(vault) requests`)")
    }
    if !status.warnings.isEmpty {
      let count = status.warnings.count
      more.append(Style.yellow(Counted.text(count, "warning")) + " (`\(vault) status`)")
    }
    if !more.isEmpty { lines.append(Clauses.ended(more.joined(separator: ", "))) }
    return lines
  }

  private static func until(_ status: Wire.StatusReply) -> String {
    status.locksAt.map { " until \(LocalTime.text($0))" } ?? ""
  }
}
