internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ApproveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Give a caller without a grant what it requested.",
    discussion: """
      Shows which caller requests which item, and asks. Without options the approval counts once, within five minutes. \
      Another process of the same caller may use it; with --session only the process that asked may. See \
      vault-access(7).
      """)

  @Argument(numberOf: .request) var number: Int

  @Flag(help: "Approve one use, within five minutes unless --for says otherwise.")
  var once = false

  @Flag(help: "Approve for the one process that asked last, until the vault is locked.")
  var session = false

  @Flag(help: "Approve permanently: give a grant for that name.")
  var always = false

  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp("Approve for this long, such as 15m.", valueName: "duration"),
    transform: Times.duration)
  var seconds: Int64?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Approve this many uses, within a day unless --for says otherwise.", valueName: "count"))
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
    abstract: "Deny a request, or take back an approval.",
    discussion: """
      For a minute nobody is asked again about that item for that caller, and for longer after each further denial, up \
      to an hour. With --always nobody is asked again before `vault requests forget`.
      """)

  @Argument(numberOf: .request) var number: Int

  @Flag(help: "Ask nobody again, even after a restart.")
  var always = false

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let reply = try session.unlocking(for: "vault deny \(number)") { vault in try vault.deny(number, always: always) }
    guard globals.json || Keyboard.isAttended else { return }
    let other = OtherAccess(of: reply.subject, item: reply.name, session)
    if globals.json { return try Output.json(reply, "held", other?.reply) }
    Output.note(OtherAccess.denied(reply.subject, reply.name, other))
  }
}
