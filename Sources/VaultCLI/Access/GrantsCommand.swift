internal import ArgumentParser
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct GrantsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grants",
    abstract: "List grants, confirm those of a restored vault, or forget a subject.",
    subcommands: [GrantsListCommand.self, GrantsConfirmCommand.self, GrantsForgetCommand.self],
    defaultSubcommand: GrantsListCommand.self)
}

struct GrantsListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List grants: all of them for an administrator, only their own for others.")

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "List the grants that apply to a process with this subject now, without those that have ended.",
      valueName: "subject"),
    completion: Completes.subject.kind)
  var subject: String?

  @Option(
    name: .customLong("on"),
    help: ArgumentHelp("List the grants for this item, or for any item of this pattern.", valueName: "item"),
    completion: ItemNames.completion)
  var item: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("List the grants not needed for this long, such as 90d, or since a date.", valueName: "time"),
    transform: Times.past)
  var unused: Int64?

  @Flag(help: "List the subjects whose processes have only their grants, instead of the grants.")
  var confined = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if confined, subject != nil || item != nil || unused != nil {
      throw ValidationError("--confined excludes --for, --on and --unused; give it alone")
    }
  }

  private static func rights(of grant: Wire.Permission) -> String {
    let rights = grant.rights.joined(separator: ",")
    return grant.credential.map { "\(rights) as \($0)" } ?? rights
  }

  func run() throws {
    let session = try Session(globals)
    let seconds = unused.map { Int(clamping: max(1, Seconds.from($0, to: Int64(time(nil))))) }
    let given = try subject.map { (text) throws(Failure) in try GivenSubject(text) }
    // A name with a star is taken as a pattern, too: the grants for any of its items are listed.
    let pattern = item.flatMap { try? ItemPattern($0) }.flatMap { $0.isExact ? nil : $0 }
    var found = try session.unlocking { vault in
      try vault.grants(for: given?.text, on: pattern == nil ? item : nil, unused: seconds)
    }
    if let pattern { found.grants.removeAll { (try? ItemPattern($0.items))?.overlaps(pattern) == false } }
    given?.noteProcess()
    if confined { return try list(confined: found.confined) }
    if globals.json {
      for grant in found.grants { try Output.json(grant) }
    } else if Output.isTerminal {
      var table = Table("SUBJECT", "ITEMS", "MAY", "UNTIL", "USED")
      for grant in found.grants {
        table.add(
          .init(Printable.whole(grant.subject)), .init(Printable.whole(grant.items)), .init(Self.rights(of: grant)),
          .init(grant.validity(until: ""), isRed: !grant.active),
          .init(grant.used.map { LocalTime.day($0) } ?? "never"))
      }
      if table.count > 0 { try Output.text(table.text()) }
    } else {
      for grant in found.grants {
        var fields = [
          grant.subject, grant.items, grant.rights.joined(separator: ","), grant.credential ?? "",
          grant.validity(until: "until "),
        ]
        while fields.last?.isEmpty == true { fields.removeLast() }
        try Output.line(fields.joined(separator: "\t"))
      }
    }
    guard !globals.json, Keyboard.isAttended else { return }
    if found.grants.isEmpty {
      let areUsed = unused != nil && hasGrants(for: given?.text, pattern, session)
      Output.note(areUsed ? "every grant was used since then, or is newer" : "no grants")
    }
    if let approvals = approvals(for: given?.text, pattern, session) { Output.note(approvals) }
    if let since = found.unconfirmed {
      Output.note(
        "the vault came from a backup (\(LocalTime.text(since, to: STDERR_FILENO))), so no grant is in effect; "
          + "look at them, and run \(Hint.vault("grants confirm"))")
    }
    if subject == nil, item == nil, unused == nil, !found.confined.isEmpty {
      let subjects = found.confined.map { Printable.whole($0) }.joined(separator: ", ")
      Output.note("confined to their grants: \(subjects)")
    }
  }
}

extension GrantsListCommand {
  /// Prints the subjects that are confined to their grants, one per line.
  fileprivate func list(confined subjects: [String]) throws(Failure) {
    for subject in subjects {
      if globals.json {
        try Output.json { $0.add("subject", subject) }
      } else {
        try Output.line(Printable.line(subject))
      }
    }
    if subjects.isEmpty, !globals.json, Keyboard.isAttended { Output.note("no subject is confined to its grants") }
  }

  /// Returns true if there are grants for the given subject and item, used or not.
  fileprivate func hasGrants(for subject: String?, _ pattern: ItemPattern?, _ session: Session) -> Bool {
    let all = try? session.call { vault in try vault.grants(for: subject, on: pattern == nil ? item : nil) }
    guard let pattern else { return all?.grants.isEmpty == false }
    return all?.grants.contains { (try? ItemPattern($0.items))?.overlaps(pattern) != false } == true
  }

  /// A note on the approvals that count for the given subject and item besides the grants; nil for none, and for a
  /// caller that may not list them.
  fileprivate func approvals(for subject: String?, _ pattern: ItemPattern?, _ session: Session) -> String? {
    var count = 0
    if let subject {
      let isName = item != nil && pattern == nil
      let other =
        isName ? OtherAccess(of: subject, item: item ?? "", session) : OtherAccess(of: subject, on: item, session)
      count = other?.reply.sources.count { $0.approval != nil } ?? 0
    } else if let item, let requests = try? session.call({ vault in try vault.requests() }) {
      count = requests.count { request in
        guard request.state == "approved", let name = try? ItemName(request.name) else { return false }
        return pattern?.matches(name) ?? request.name.utf8.elementsEqual(item.utf8)
      }
    }
    guard count > 0 else { return nil }
    return "\(Counted.text(count, "approval")) \(count == 1 ? "gives" : "give") more; see \(Hint.vault("requests"))"
  }
}

struct GrantsConfirmCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "confirm",
    abstract: "Put the grants of a vault that was made from a backup into effect.",
    discussion: """
      Look at `vault grants` first: a user or a unit of the same name may be a different one on this machine, and \
      grants that were revoked after the backup exist again.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    if !globals.json, session.mayAsk, try isDone(session) {
      return Output.note("no grant waits for a confirmation")
    }
    let count = try session.unlocking(for: "vault grants confirm") { vault in try vault.confirmGrants() }
    if globals.json {
      try Output.json { $0.add("grants", count) }
    } else if Keyboard.isAttended {
      Output.note("\(Counted.text(count, "grant")) \(count == 1 ? "is" : "are") in effect again")
    }
  }

  /// Returns true if all grants are in effect, so that nobody need be asked. False for a caller that is no
  /// administrator: the daemon tells only administrators of unconfirmed grants and of the number of requests.
  private func isDone(_ session: Session) throws(Failure) -> Bool {
    guard let status = try session.attempt({ vault in try vault.status() }), status.state == "unlocked",
      status.requests != nil, let found = try session.attempt({ vault in try vault.grants() })
    else { return false }
    return found.unconfirmed == nil
  }
}

struct GrantsForgetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Stop limiting a program to its grants, and treat it like your other programs.",
    discussion:
      "In your own vault, a unit: or exe: subject that a grant has named is limited to its grants until this command, "
      + "even if it has none left."
  )

  @Argument(help: ArgumentHelp("The subject, as `vault grants` shows it.", valueName: "subject"))
  var subject: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let subject = try GivenSubject(self.subject).finding { (subject) throws(Failure) in
      try session.unlocking(for: "vault grants forget \(subject)") { vault in try vault.forgetSubject(subject) }
    }.subject
    if globals.json {
      try Output.json { $0.add("forgotten", subject) }
    } else if Keyboard.isAttended {
      Output.note("\(Printable.whole(subject)) is like your other programs again")
    }
  }
}
