internal import ArgumentParser
internal import VaultBytes
internal import VaultModel
internal import VaultWire

struct HelperCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "helper",
    abstract: "Answer another program that asks for credentials, in its own protocol.",
    discussion: """
      Without a protocol the command lists the protocols. `vault helper PROTOCOL --help` prints what to write into the \
      other program's settings. What the other program stores becomes items in a folder named after the protocol. See \
      vault-helpers(7).
      """)

  @Argument(
    help: ArgumentHelp("The protocol.", valueName: "protocol"), completion: .list(Helpers.all.map { $0.name }))
  var helper: String?

  @Argument(
    parsing: .captureForPassthrough, help: ArgumentHelp("The words that the other program adds.", valueName: "words"))
  var words: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Wait this long for an unlock, such as 30s or 5m.", valueName: "duration"),
    transform: Times.wait)
  var wait: Int64?

  @OptionGroup var globals: Globals

  func run() throws {
    guard let helper else { return try list() }
    guard Helpers.named(helper) != nil else {
      let near = Nearest.names(to: helper, among: Helpers.all.map { $0.name }, beginnings: true)
      throw Failure(
        .usage, "there is no protocol \(Printable.quoted(helper))", Suggestion.text(near) ?? "see `vault helper`")
    }
    var options: [String] = []
    if let socket = globals.socket { options += ["--socket", socket] }
    if globals.system { options.append("--system") }
    if let wait { options += ["--wait", "\(wait)s"] }
    try HelperCall(([helper] + options + words)[...])?.run()
  }

  private func list() throws {
    if globals.json {
      for helper in Helpers.all {
        try Output.json { object in
          object.add("protocol", helper.name)
          object.add("programs", helper.programs)
        }
      }
      return
    }
    let width = Helpers.all.map { $0.name.count }.max() ?? 0
    for helper in Helpers.all {
      let gap = String(repeating: " ", count: width - helper.name.count + 2)
      try Output.line("\(helper.name)\(gap)\(helper.programs)")
    }
  }
}
