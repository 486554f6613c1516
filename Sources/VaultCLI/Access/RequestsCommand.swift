internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RequestsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "requests",
    abstract: "List prompts and requests, with their answers, or forget a denial.",
    subcommands: [RequestsListCommand.self, RequestsForgetCommand.self],
    defaultSubcommand: RequestsListCommand.self)
}

struct RequestsListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List requests that wait, approvals in effect now, and denials about which nobody is asked.",
    discussion: """
      Prompts of programs that use the Secret Service come first; see `vault refuse`. A request's number is random, \
      and is gone when vaultd restarts. See `vault approve` and `vault deny`.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let (requests, prompts) = try session.unlocking { vault in try vault.requestsAndPrompts() }
    try PromptReport.write(prompts, json: globals.json)
    try RequestReport.write(requests, json: globals.json) { request in
      OtherAccess(of: request.subject, item: request.name, session)
    }
    if requests.isEmpty, prompts.isEmpty, !globals.json, Keyboard.isAttended { Output.note("there are no requests") }
  }
}

struct RequestsForgetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Let a subject that was denied an item request it again.")

  @Argument(help: ArgumentHelp("The subject, as `vault requests` shows it.", valueName: "subject"))
  var subject: String

  @Argument(help: ArgumentHelp("The item.", valueName: "item"), completion: ItemNames.completion)
  var item: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let subject = try GivenSubject(self.subject).finding { (subject) throws(Failure) in
      try session.unlocking(for: "vault requests forget") { vault in try vault.forgetDenial(of: subject, item) }
    }.subject
    if globals.json {
      try Output.json { $0.add("forgotten", item) }
    } else if Keyboard.isAttended {
      Output.note("\(Printable.whole(subject)) may ask for \(Printable.quoted(item)) again")
    }
  }
}

extension Argument<Int> {
  /// The number of something that `vault requests` lists.
  init(numberOf listed: Listed) {
    self.init(
      help: ArgumentHelp("The number of the \(listed.rawValue), as `vault requests` shows it.", valueName: "number"),
      completion: listed.completion.kind, transform: listed.number)
  }
}

/// A kind of entry in the list of `vault requests`.
enum Listed: String, Sendable {
  case request, prompt

  var completion: Completes { self == .request ? .request : .prompt }

  /// Reads a number on the command line.
  func number(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else {
      throw ValidationError(
        "'\(Printable.line(text))' is not the number of a \(rawValue); see \(Hint.vault("requests"))")
    }
    return number
  }
}
