internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ApproveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Let a caller without a grant have what it asked for.",
    discussion: """
      It shows who asks for what, and asks. Without options it counts once, within five minutes. Of the same caller \
      another process may use it; --session is for the one that asked. See vault-access(7).
      """)

  @Argument(
    help: ArgumentHelp("Which request, as `vault requests` shows it.", valueName: "number"),
    completion: Completes.request.kind, transform: RequestNumber.parse)
  var number: Int

  @Flag(help: "Once, within five minutes unless --for says otherwise.")
  var once = false

  @Flag(help: "For the one process that asked last, until any lock.")
  var session = false

  @Flag(help: "From now on: give a grant for that name.")
  var always = false

  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp("For that long, such as 15m.", valueName: "duration"),
    transform: Times.duration)
  var seconds: Int64?

  @Option(help: ArgumentHelp("So often, within a day unless --for says otherwise.", valueName: "count"))
  var uses: Int?

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var globals: Globals

  func validate() throws {
    guard [once, session, always].count(where: { $0 }) < 2 else {
      throw ValidationError("--once, --session and --always exclude each other; give one of them")
    }
    if let uses {
      guard uses > 0 else { throw ValidationError("--uses needs a count of at least 1") }
      guard !once, !always else { throw ValidationError("--uses excludes --once and --always; give one of them") }
    }
  }

  func run() throws { try ApproveRequest(self).run() }
}

struct DenyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny",
    abstract: "Deny a request, or take an approval back.",
    discussion: """
      Nobody is asked about that again for a minute, and for longer each time, up to an hour. With --always nobody is \
      asked before `vault requests forget`.
      """)

  @Argument(
    help: ArgumentHelp("Which, as `vault requests` shows it.", valueName: "number"),
    completion: Completes.request.kind, transform: RequestNumber.parse)
  var number: Int

  @Flag(help: "Remember it, also over a restart.")
  var always = false

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let reply = try session.unlocking(for: "vault deny \(number)") { vault in try vault.deny(number, always: always) }
    if globals.json {
      try Output.json { reply.write(to: &$0) }
    } else if Keyboard.isAttended {
      Output.note("\(Printable.text(reply.subject)) may not have \(Printable.quoted(reply.name))")
    }
  }
}
