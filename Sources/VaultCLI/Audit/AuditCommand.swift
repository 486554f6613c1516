internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Print what happened in the vault, and who asked for it.",
    discussion: """
      Administrators see everything; others with a grant see what they did themselves. Reading the log is an entry \
      of its own. `vault audit item NAME` prints who has read an item, and when last.
      """,
    subcommands: [AuditListCommand.self, AuditItemCommand.self, AuditRepairCommand.self],
    defaultSubcommand: AuditListCommand.self)
}

/// The options that select entries of the audit log.
struct AuditOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Print entries from this time on: a date, or how long ago, such as 12h.", valueName: "time"),
    transform: Times.past)
  var since: Int64?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Print entries up to this time, in the same forms.", valueName: "time"),
    transform: Times.past)
  var until: Int64?

  @Option(
    help: ArgumentHelp("Print what callers with this subject did, such as unit:iothome.service.", valueName: "subject"))
  var caller: String?

  @Option(help: ArgumentHelp("Print what was requested in this way, such as varlink.", valueName: "door"))
  var door: String?

  /// True if at least one option is given.
  var isGiven: Bool { since != nil || until != nil || caller != nil || door != nil }

  func query() throws(Failure) -> Vault.AuditQuery {
    var query = Vault.AuditQuery()
    let given = try caller.map { (text) throws(Failure) in try GivenSubject(text) }
    given?.noteLink()
    (query.since, query.until, query.subject, query.door) = (since, until, given?.text, door)
    return query
  }

  /// Returns a failure that lists the doors or the actions if the given one is not among them; otherwise the failure
  /// itself. The daemon's failure decides, because a daemon of another version may have others.
  func explained(_ failure: Failure, action: String? = nil) -> Failure {
    guard failure.exit == .usage else { return failure }
    if let door, AuditDoor(rawValue: door) == nil {
      return Self.none("door", door, of: AuditDoor.allCases.map(\.rawValue))
    }
    if let action, AuditAction(name: action) == nil {
      return Self.none("action", action, of: AuditAction.allCases.map(\.name))
    }
    return failure
  }

  private static func none(_ what: String, _ given: String, of all: [String]) -> Failure {
    let near = Nearest.names(to: given, among: all, beginnings: true)
    let first = near + all.filter { !near.contains($0) }
    return Failure(
      .usage, "there is no \(what) \(Printable.quoted(given))", "give one of \(first.joined(separator: ", "))")
  }
}

struct AuditListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print what happened, in order.",
    discussion: """
      With --verify the whole log is checked: whether each entry is the one that was written, and none is missing. The \
      journal contains notes of the state of the log; with --against the log is compared with these notes, as in \
      `journalctl -u vaultd -o cat | vault --system audit --verify --against -`. The exit code is 65 if something is \
      wrong.
      """)

  @OptionGroup var options: AuditOptions

  @Option(
    help: ArgumentHelp("Print what happened to these items.", valueName: "item"), completion: ItemNames.completion)
  var item: String?

  @Option(
    help: ArgumentHelp("Print entries of this action, such as get, set, unlock or grant.", valueName: "action"),
    completion: .list(AuditAction.allCases.map(\.name)))
  var action: String?

  @Flag(help: "Print what was refused or failed.")
  var denied = false

  @Option(
    name: [.customShort("n"), .long], parsing: .unconditional,
    help: ArgumentHelp(
      "Print this many of the last entries, and the counts that are no older than these entries.", valueName: "count"))
  var last: Int?

  @Flag(name: .shortAndLong, help: "Continue with what happens from now on, until interrupted.")
  var follow = false

  @Flag(help: "Check the whole log instead, and report what is wrong with it.")
  var verify = false

  @Option(
    help: ArgumentHelp(
      "With --verify: compare the log with the journal's notes in this file; - is standard input.", valueName: "file"))
  var against: String?

  @OptionGroup var globals: Globals

  func validate() throws {
    if let last, last < 1 { throw ValidationError("--last counts from 1") }
    if follow && verify { throw ValidationError("--follow and --verify exclude each other; give one of them") }
    if verify, options.isGiven || item != nil || action != nil || denied || last != nil {
      throw ValidationError("--verify checks the whole log; leave out the options that select entries")
    }
    if against != nil, !verify { throw ValidationError("--against needs --verify") }
  }

  func run() throws {
    if verify { return try check() }
    let session = try Session(globals)
    if follow { try ReaderWatch.begin() }
    var query = try options.query()
    (query.items, query.action, query.denied, query.last) = (item, action, denied, last)
    var report = AuditReport(json: globals.json)
    do throws(Failure) {
      try session.unlocking(for: "vault audit", isLong: follow) { vault in
        _ = try vault.audit(query, following: follow) { entry in
          try report.add(entry)
          if follow { try report.flush() }
        }
      }
    } catch {
      throw options.explained(error, action: action)
    }
    try report.flush()
    guard report.count == 0, !globals.json, Keyboard.isAttended else { return }
    let isFiltered = options.isGiven || item != nil || action != nil || denied
    let whose = try AuditScope.isOwn(session) ? " of your own programs" : ""
    Output.note((isFiltered ? "no entry\(whose) matches" : "no entries\(whose)") + AuditScope.note(whose))
  }

  private func check() throws {
    let session = try Session(globals)
    let noted = try against.map { try AuditMarks.read($0) } ?? []
    if let against, noted.isEmpty {
      let source = against == "-" ? "standard input" : Printable.quoted(against)
      throw Failure(
        .invalid, "\(source) has no note of the log, so nothing can be compared",
        "notes are lines of the daemon with `audit entry`; give what `journalctl -u vaultd -o cat` prints")
    }
    let progress = Progress()
    defer { progress.clear() }
    let result = try session.unlocking(for: "vault audit --verify", isLong: true) { vault in
      try vault.checkAudit(noted: noted) { progress.show(ProgressBar.text("checking", $0.done, of: $0.of, "")) }
    }
    progress.clear()
    if globals.json {
      try Output.json(result)
    } else {
      try Output.text(AuditReport.text(result))
    }
    if result.faults?.isEmpty == false {
      throw Failure(.invalid, "the audit log is not what was written", "see vault-security(7)")
    }
    if !noted.isEmpty, result.compared == 0 {
      throw Failure(
        .invalid, "all notes are about entries that were removed from the log, so nothing was compared",
        "give later notes as well; see vault-security(7)")
    }
  }
}
