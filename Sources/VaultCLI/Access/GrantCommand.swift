internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct GrantCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant",
    abstract: "Let a service, a user or a group do something with items.",
    discussion: """
      A subject is user:NAME, group:NAME or unit:NAME.service, or several of them with a comma for "and"; in your own \
      vault also exe:PATH or sha256:DIGEST beside one of them. Links in PATH are resolved; for a script, \
      PATH is that of its interpreter. Items are given by a name in which * stands for \
      characters within a part, ** for any characters, and ? for one; quote it for the shell. The items need not exist \
      yet; the name of a folder does not stand for the items in it. The grant replaces an earlier grant for the same \
      subject and items. With --as the item is a credential of a service: systemd passes it to the service when the \
      service starts. See vault-access(7) and vault-credentials(7).
      """)

  @Argument(
    help: ArgumentHelp("The subject that gets the grant.", valueName: "subject"), completion: Completes.subject.kind)
  var subject: String

  @Argument(
    help: ArgumentHelp("The name of the items, with any stars.", valueName: "items"),
    completion: Completes.pattern.kind)
  var items: String

  @Option(
    name: .customLong("can"),
    help: ArgumentHelp(
      "The rights, separated by commas: get, set, find, deposit, watch, use, admin.", valueName: "rights"),
    completion: .list(Right.allCases.map(\.name)))
  var rights = "get"

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Make the item this credential of the service, as LoadCredential= names it.", valueName: "id"))
  var credential: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The end of the grant: a date, or a duration from now such as 12h, 30d or 1y.", valueName: "time"),
    transform: Times.end)
  var until: Int64?

  @OptionGroup var globals: Globals

  func validate() throws {
    do throws(ValueError) { _ = try Rights(parsing: rights) } catch { throw ValidationError(error.reason) }
    do throws(NameError) { _ = try ItemPattern(items) } catch {
      throw ValidationError("\(Printable.quoted(items)) is not a valid item name or pattern: \(error.reason)")
    }
    if let credential {
      do throws(ValueError) { _ = try CredentialID(credential) } catch { throw ValidationError(error.reason) }
    }
  }

  func run() throws {
    let session = try Session(globals)
    let names = try Rights(parsing: rights).names
    let given = try GivenSubject(self.subject)
    let subject = given.text
    let reply = try session.unlocking(for: "vault grant \(subject)") { vault in
      try vault.grant(subject, items, names, as: credential, until: until)
    }
    given.noteProcess()
    let hint = GrantedFolder.hint(items, isCredential: credential != nil, session)
    if let hint { Output.note(hint) }
    if globals.json { return try Output.json(reply, "held", OtherAccess(of: subject, on: items, session)?.reply) }
    guard Keyboard.isAttended else { return }
    if hint == nil, let absence = GrantedFolder.absence(items, session) { Output.note(absence) }
    let end = until.map { ", until \(LocalTime.text($0, to: STDERR_FILENO))" } ?? ""
    let before =
      reply.replaced.map { " (before: \($0.rights.joined(separator: ", "))\($0.hasEnded ? ", ended" : ""))" } ?? ""
    let what = "\(names.joined(separator: ", ")) \(Printable.quoted(items))\(end)\(before)"
    if (try? session.call { vault in try vault.grants(for: subject) })?.unconfirmed != nil {
      Output.note(
        "\(Printable.whole(subject)) may \(what) once the grants of the restored vault are confirmed; "
          + "look at them, and run \(Hint.vault("grants confirm"))")
    } else {
      let other = OtherAccess(of: subject, on: items, session)
      Output.note("\(Printable.whole(subject)) may \(what)\(other?.beyond(names) ?? "")")
    }
    if let other = OutOfReach.user(of: subject, session.vault.location) {
      Output.note(
        "\(Printable.whole(other)) cannot connect to your vault, whose socket is in a folder that only you can use; "
          + "the machine's vault (--system) serves others")
    }
    if let credential {
      Output.note(
        "its unit gets it with LoadCredential=\(credential):\(Printable.text(session.vault.location.credentials))")
    }
    if reply.confined {
      Output.note("from now on, its processes have only their grants; \(OtherAccess.forgetting(subject)) ends that")
    }
  }
}

struct RevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revoke grants, with immediate effect.",
    discussion: """
      Streams that such a grant allowed end, and calls that wait are refused. While the vault is locked, the store may \
      keep a grant until the next unlock: the grant no longer counts, but a daemon that starts before that unlock has \
      it again, and the exit code is 75.
      """)

  @Argument(
    help: ArgumentHelp("The subject, as `vault grants` shows it.", valueName: "subject"),
    completion: Completes.grantedSubject.kind)
  var subject: String

  @Argument(
    help: ArgumentHelp("The items, as they were granted; by default all grants of the subject.", valueName: "items"),
    completion: Completes.grantedItems.kind)
  var items: String?

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let given = try GivenSubject(subject)
    let reply: Wire.RevokeReply
    do throws(Failure) {
      reply = try given.finding { (subject) throws(Failure) in
        try session.unlocking(for: "vault revoke \(subject)") { vault in try vault.revoke(subject, items) }
      }.answer
    } catch { throw explain(error, given, session) }
    if globals.json {
      try Output.json(reply, "held", OtherAccess(of: given.text, on: items, session)?.reply)
    } else if Keyboard.isAttended {
      for grant in reply.revoked {
        let other = OtherAccess(of: grant.subject, on: grant.items, session)
        Output.note(OtherAccess.lost(grant.rights, grant.subject, grant.items, as: grant.credential, other))
      }
      noteConfined(Set(reply.revoked.map(\.subject)), session)
    }
    if let unstored = reply.unstored {
      throw Failure(
        .retry, "revoked until vaultd restarts, and not yet in the store: \(Printable.text(unstored))",
        unstored.hasSuffix("locked")
          ? "unlock the vault, which stores it" : "save the store with \(Hint.vault("salvage"))")
    }
  }
}

extension RevokeCommand {
  /// Names the subjects without any grant left whose processes are still confined to their grants.
  fileprivate func noteConfined(_ subjects: Set<String>, _ session: Session) {
    guard let left = try? session.call({ vault in try vault.grants() }) else { return }
    for subject in left.confined where subjects.contains(subject) {
      guard !left.grants.contains(where: { $0.subject == subject }) else { continue }
      Output.note(
        "\(Printable.whole(subject)) has no grant left, and so no rights; \(OtherAccess.forgetting(subject)) makes it "
          + "like your other programs")
    }
  }

  /// Adds to the failure of a revoke without a matching grant the other sources of the subject's rights on the items.
  fileprivate func explain(_ error: Failure, _ given: GivenSubject, _ session: Session) -> Failure {
    guard error.exit == .missing, let other = OtherAccess(of: given.text, on: items, session),
      let held = other.whole(items.map { Printable.quoted($0) } ?? "items")
    else { return error }
    let who = Printable.text(Printable.whole(given.text))
    return Failure(error.exit, "\(who) has no such grant, \(held)", error.advice)
  }
}

struct CanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "can",
    abstract: "Check whether a caller may do something with an item.",
    discussion: """
      The exit code is 0 if so and 77 if not, whether the item exists or not. Grants and approvals count; rights \
      that only one process or a narrower subject has do not, but a terminal or --json shows them. Administrators \
      may ask about every caller; others may ask about themselves, as `self`.
      """)

  @Argument(help: ArgumentHelp("A subject, or self.", valueName: "subject"), completion: Completes.subject.kind)
  var subject: String

  @Argument(
    help: ArgumentHelp("The right: get, set, find, deposit, watch, use or admin.", valueName: "right"),
    completion: .list(Right.allCases.map(\.name)))
  var right: String

  @Argument(help: ArgumentHelp("The item.", valueName: "item"), completion: ItemNames.completion)
  var item: String

  @OptionGroup var globals: Globals

  func validate() throws {
    do throws(ValueError) { _ = try Rights(parsing: right) } catch { throw ValidationError(error.reason) }
    guard Right(name: right) != nil else { throw ValidationError("ask about one right at a time") }
  }

  func run() throws {
    let session = try Session(globals)
    let given = subject == "self" ? nil : try GivenSubject(subject)
    let reply = try session.unlocking { vault in try vault.mayDo(given?.text, right, item) }
    given?.noteProcess()
    if globals.json {
      try Output.json(reply)
    } else if Keyboard.isAttended, let note = note(reply, given?.text) {
      Output.note(note)
    }
    if !reply.allowed { throw ExitCode(Exit.denied.rawValue) }
  }

  /// A note if the right is given for a time, by approvals alone, or not to every such caller.
  private func note(_ reply: Wire.CanReply, _ subject: String?) -> String? {
    let sources = reply.sources ?? []
    guard !sources.isEmpty else { return nil }
    let what = "\(right) \(Printable.quoted(item))"
    let who = subject.map { Printable.whole($0) }
    let reason = OtherAccess.reason(for: OtherAccess.rights([right]), sources, withCommands: who != nil)
    if !reply.allowed {
      let some = who.map { "\($0) may not \(what), but some of its processes may" }
      return "\(some ?? "this process may not \(what), but others of yours may"), \(reason)"
    }
    guard sources.allSatisfy({ $0.approval != nil || $0.some == true }) else { return nil }
    return "\(who ?? "you") may \(what) \(reason)"
  }
}

/// A grant that nobody can use, because its user cannot connect to the vault's socket.
private enum OutOfReach {
  /// Returns the part of a subject that names such a user; nil if there is none.
  static func user(of subject: String, _ location: SocketLocation) -> String? {
    let folder = String(location.path[..<(location.path.lastIndex(of: "/") ?? location.path.startIndex)])
    var status = stat()
    guard unsafe stat(folder, &status) == 0, status.st_mode & 0o011 == 0 else { return nil }
    return subject.split(separator: ",").map(String.init).first { part in
      guard part.hasPrefix("user:") else { return false }
      let name = String(part.dropFirst("user:".count))
      let uid =
        uid_t(name)
        ?? (try? Account(
          name, passwd: FileInput.text(of: "/etc/passwd") ?? "", group: FileInput.text(of: "/etc/group") ?? ""))?.uid
      // Root may enter every folder.
      return uid.map { $0 != 0 && $0 != status.st_uid } ?? false
    }
  }
}
