internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The action on the item that was picked.
enum PickAction: String, ExpressibleByArgument, CaseIterable {
  case get
  case show
  case edit
}

struct PickCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pick",
    abstract: "Choose an item on the terminal, and get, show or edit it.",
    discussion: """
      Type letters of the name, in their order. The arrow keys, or control-N and control-P, move the choice; return \
      accepts it, and escape leaves. The list is drawn on the terminal, and standard output gets only what get, show \
      or edit prints.
      """)

  @Argument(help: ArgumentHelp("`get` (the default), `show` or `edit`.", valueName: "command"))
  var action = PickAction.get

  @Flag(name: .shortAndLong, help: "Put the value on the clipboard instead of printing it.")
  var clip = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if clip && action != .get { throw ValidationError("--clip is for get; leave one of them out") }
    if clip && globals.json { throw ValidationError("--clip and --json exclude each other; give one of them") }
  }

  func run() throws {
    guard let name = try choose() else { throw Failure(Fault.cancelled) }
    // The rest is the work of the chosen command.
    var command = try Arguments.parse([action.rawValue] + options + ["--", name])
    try command.run()
  }

  private func choose() throws(Failure) -> String? {
    let session = try Session(globals)
    try session.needAllNames()
    var names: [String] = []
    try session.call { vault in
      try vault.find(nil) { page in
        names += page.map(\.name)
        return true
      }
    }
    if names.isEmpty, let way = session.wayToAsk ?? session.mayNotSee { throw Failure(.denied, way) }
    if names.isEmpty { throw Failure(.missing, "there are no items yet", "store one with \(Hint.vault("set"))") }
    return try Picker().pick(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  private var options: [String] {
    var options: [String] = []
    if clip { options.append("--clip") }
    if globals.json { options.append("--json") }
    if globals.system { options.append("--system") }
    if let socket = globals.socket { options.append("--socket=\(socket)") }
    return options
  }
}
