internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print what happens to the vault and its items, or run a command on each change, until interrupted.",
    discussion: """
      Without names the first line is the present state; with --json each line is an object. The command of --exec \
      runs through `sh`, and reads what has changed as JSON. `vault watch` continues by itself when vaultd restarts, \
      and then says if something may have been missed.
      """)

  @Argument(
    help: ArgumentHelp("Only these items: names, or patterns such as iothome/**.", valueName: "item"),
    completion: ItemNames.completion)
  var items: [String] = []

  @Option(help: ArgumentHelp("Run this command on each change.", valueName: "command"))
  var exec: String?

  @Flag(help: "With --exec: also run the command once at the start.")
  var now = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if now, exec == nil { throw ValidationError("--now needs --exec") }
    if exec != nil, globals.json {
      throw ValidationError("--exec and --json exclude each other: the command reads JSON in any case")
    }
  }

  func run() throws {
    let names = self.items
    let items = try WatchedItems(names)
    let session = try Session(globals)
    // This call starts a daemon if there is none; after that, the command waits for a missing daemon.
    _ = try session.call { vault in try vault.status() }
    try UnmatchedItems.note(names, session)
    if let exec {
      return try Watcher(exec, items, at: session.vault, runsAtOnce: now).work()
    }
    try ReaderWatch.begin()
    try session.call { vault in
      try vault.monitor(patience: nil) { event in
        if items.areAll || items.concerns(event) { try write(event) }
        return true
      }
    }
  }

  private func write(_ event: Vault.Event) throws(Failure) {
    if globals.json { return try Output.json(event) }
    if items.isEmpty || event.missed != true { try Output.line(WatchCommand.line(event)) }
    if event.missed == true { try Output.line("\(LocalTime.text(event.time)) earlier events were missed") }
  }

  static func line(_ event: Vault.Event) -> String {
    let time = LocalTime.text(event.time)
    if event.event == "item" {
      let target = event.to.map { " to \(Printable.listed($0))" } ?? ""
      let name = event.name.map(Printable.listed) ?? "an item"
      return "\(time) \(Printable.text(event.change ?? "changed")) \(name)\(target)"
    }
    if event.event == "request" {
      return "\(time) request \(event.number ?? 0) \(Printable.text(event.change ?? "changed"))"
    }
    let subject = event.event == "state" ? "" : "\(Printable.text(event.event)) "
    let cause = event.cause.map(Clauses.cause) ?? ""
    return "\(time) \(subject)\(Printable.text(event.state ?? ""))\(cause)"
  }
}
