internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Delete items with all their versions; the trash keeps them for a while.",
    discussion: """
      An argument with =, ~, < or > is a predicate, as for find; predicates stand for every item that matches all of \
      them. Every other argument is a name, and so is everything after --. Names and predicates cannot be mixed. A \
      name with a slash at its end is a folder, and stands for all items in it. Items that predicates match or that a \
      folder contains, and more than one item, are deleted only after a question, or with --yes. Up to \
      \(CallLimits.deletions) items are deleted together or not at all; more items, or items with very many folders, \
      attributes or versions, are deleted in several parts. `vault trash` lists what can be restored. The secret with \
      which a sandboxed program encrypts its data is deleted only after a question, too, or with --yes.
      """,
    aliases: ["delete"])

  @Argument(
    help: ArgumentHelp("Either names and folders, or predicates.", valueName: "items"),
    completion: Completes.itemOrPredicate.kind
  )
  var items: [String] = []

  /// The names after `--`, which the parser could not tell from other arguments; see ``Arguments/normalize(_:)``.
  @Option(name: .customLong(RemoveCommand.nameOption), help: .hidden)
  var names: [String] = []

  static let nameOption = "item"

  @Flag(help: "Delete what predicates match, a folder, more than one item, or a program's secret without asking.")
  var yes = false

  @Flag(help: "Delete for good, without the trash.")
  var now = false

  @Flag(help: "Also delete the list of the revoked tokens of an item that stays: it accepts them again.")
  var force = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if items.isEmpty && names.isEmpty { throw ValidationError("Missing expected argument '<items> ...'") }
    if hasPredicates && !(names.isEmpty && items.allSatisfy(Predicates.isPredicate)) {
      throw ValidationError("give either names or predicates; write names with =, ~, < or > after --")
    }
  }

  private var hasPredicates: Bool { items.contains(where: Predicates.isPredicate) }

  func run() throws {
    let session = try Session(globals)
    session.folderWay = "\(Hint.vault("rm FOLDER/")) deletes all of it"
    session.predicateCommand = "rm"
    let folders = (items + names).compactMap(Folder.init)
    let found = try folders.flatMap { try $0.someItems(session).map(\.name) }
    let named = (items + names).filter { Folder($0) == nil }
    let names = hasPredicates ? try matches(session) : RemoveCommand.unique(named + found)
    if !force { try checkLists(names, session) }
    // A script that passes an item's name may by mistake pass a predicate or a folder. It must not delete other items
    // without a question.
    let apps = yes ? [] : try AppSecrets.apps(among: names, session)
    if hasPredicates || !folders.isEmpty || names.count > 1 || !apps.isEmpty, !yes {
      if !hasPredicates { try checkAll(named, session) }
      let access = folders.isEmpty ? [] : try FolderAccess.lines(names.map { ($0, nil) }, session)
      try ask(names, access, apps, forGood: now || RemoveCommand.isForGood(session))
    }
    let deleted = try delete(names, session)
    if globals.json {
      try Output.json { object in
        object.add("deleted", names)
        object.add("kept", deleted.kept)
        if deleted.isDivided { object.add("for_good", deleted.gone) }
      }
    } else if Keyboard.isAttended {
      Output.note(deleted.text)
      if names.count == 1 { Folder.noteRest(of: names[0], "still has", session) }
    }
  }

  /// The items that were deleted so far. The trash has those that were deleted while the disk had room for it.
  private struct Deleted {
    private(set) var trashed: [String] = []
    private(set) var gone: [String] = []
    /// The seconds for which the items in the trash can be restored; nil if none of the items is in the trash.
    private(set) var kept: Int?

    var count: Int { trashed.count + gone.count }
    /// True if some items are in the trash and others are gone.
    var isDivided: Bool { !trashed.isEmpty && !gone.isEmpty }

    /// - Parameter kept: the daemon's reply, with the meaning of ``kept``.
    mutating func add(_ names: ArraySlice<String>, kept: Int?) {
      if let kept {
        trashed += names
        self.kept = kept
      } else {
        gone += names
      }
    }

    /// The outcome in words.
    var text: String {
      let names = trashed + gone
      let what = names.count == 1 ? Printable.quoted(names[0]) : Counted.text(names.count, "item")
      guard let kept else { return "deleted \(what) for good" }
      let part = isDivided ? ", \(gone.count) of them for good" : ""
      let way =
        names.count == 1
        ? "\(Hint.vault("trash restore")) restores it" : "\(Hint.vault("trash")) lists what can be restored"
      return "deleted \(what)\(part); \(way) within \(Seconds.format(Int64(kept)))"
    }
  }

  /// Refuses to delete the list of the revoked tokens of an item that stays, which would accept them again.
  private func checkLists(_ names: [String], _ session: Session) throws(Failure) {
    let lists = names.compactMap(TokenList.init(named:))
    guard !lists.isEmpty else { return }
    let all = Set(names.map { Array($0.utf8) })
    for list in lists where !all.contains(Array(list.owner.utf8)) {
      guard try list.exists(session) else { continue }
      throw Failure(
        .invalid,
        "\(Printable.quoted(list.name)) is the list of the revoked tokens of \(Printable.quoted(list.owner)), which "
          + "would accept them again; nothing was deleted", "add --force to delete it anyway")
    }
  }

  /// True if the daemon says that it has no trash, so that each deletion is for good.
  private static func isForGood(_ session: Session) -> Bool {
    (try? session.call { vault in try vault.status() })?.trash == 0
  }

  /// Throws unless items of all these names exist, so that a person is only asked about a deletion that can be done.
  /// Names that the caller may not find are left to the daemon.
  private func checkAll(_ names: [String], _ session: Session) throws(Failure) {
    let progress = Progress()
    defer { progress.clear() }
    for (number, name) in names.enumerated() {
      _ = try session.look(at: name)
      progress.show("checked \(number + 1) of \(Counted.text(names.count, "name"))")
    }
  }

  /// Deletes the items. If the disk has no room for the trash and a person agrees, deletes them for good.
  private func delete(_ names: [String], _ session: Session) throws(Failure) -> Deleted {
    var deleted = Deleted()
    do throws(Failure) {
      try delete(names, &deleted, session, now: now)
    } catch {
      guard error.exit == .io else { throw error }
      if now { throw Self.withoutRoom(error) }
      let failure = Failure(
        .io, error.event, "\(Hint.vault("rm --now")) deletes without the trash, which needs less room")
      guard Keyboard.canAsk else { throw failure }
      let keyboard = try Keyboard(otherwise: "add --now")
      guard try keyboard.confirm("\(error.event). Delete for good instead, which needs less room?") else {
        throw failure
      }
      do throws(Failure) { try delete(names, &deleted, session, now: true) } catch { throw Self.withoutRoom(error) }
    }
    return deleted
  }

  /// The same failure; with advice, if the disk does not even have the room that deleting needs. If the disk always had
  /// little room, none was reserved for deletions.
  private static func withoutRoom(_ failure: Failure) -> Failure {
    guard failure.event.hasPrefix(StoreProblem.diskFull) else { return failure }
    return Failure(
      .io, failure.event,
      "deleting needs some room, too: free some on the disk of the store; \(Hint.vault("doctor")) says how much is left"
    )
  }

  /// Deletes the remaining items in one call, or in as many calls as the daemon's limits require.
  private func delete(
    _ names: [String], _ deleted: inout Deleted, _ session: Session, now: Bool
  ) throws(Failure) {
    var done = deleted
    defer { deleted = done }
    let progress = Progress()
    defer { progress.clear() }
    do throws(Failure) {
      try session.delete(names.dropFirst(deleted.count), now: now) { part, kept in
        done.add(part, kept: kept)
        progress.show("deleted \(done.count) of \(Counted.text(names.count, "item"))")
      }
    } catch {
      guard done.count > 0 else { throw error }
      throw Failure(error.exit, "\(error.event) (\(done.count) deleted before that)", error.advice)
    }
  }

  /// The names in their order, each once. Names are compared by their bytes, as the daemon does.
  private static func unique(_ names: [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    return names.filter { seen.insert(Array($0.utf8)).inserted }
  }

  /// Returns the names of the items that match all predicates.
  private func matches(_ session: Session) throws(Failure) -> [String] {
    // An item whose name is unreadable must not look as if it did not match.
    try session.needAllNames()
    for item in items where try isName(item, session) {
      throw Failure(
        .usage,
        "\(Printable.quoted(item)) is a predicate and also the name of an item",
        "for the item write -- before it, "
          + "and for the predicate put quotes around its value")
    }
    let query = items.joined(separator: " ")
    let names = try session.call { vault in try vault.find(query) }.map(\.name)
    if names.isEmpty { throw Failure(.missing, "no item matches", "see \(Hint.vault("find"))") }
    return names
  }

  /// Returns true if an item has this name.
  private func isName(_ text: String, _ session: Session) throws(Failure) -> Bool {
    guard (try? ItemName(text)) != nil else { return false }
    return try !session.call { vault in try vault.find("name=\(Predicates.quote(text))", limit: 1) }.isEmpty
  }

  /// Asks whether to delete the items.
  ///
  /// - Parameters:
  ///   - access: the rights that others lose by the deletion, one line each.
  ///   - apps: the sandboxed programs that lose their secrets.
  ///   - forGood: whether nothing brings the items back.
  private func ask(_ names: [String], _ access: [String], _ apps: [String], forGood: Bool) throws(Failure) {
    let what = Counted.text(names.count, "item")
    let losses = access + AppSecrets.lines(apps)
    let effect = losses.isEmpty ? "" : ", and \(losses.joined(separator: "; "))"
    let question = names.count == 1 ? "Delete this item" : "Delete these \(what)"
    let extent = forGood ? " with all versions, for good" : ""
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let more =
      hasPredicates
      ? "\(Hint.vault("find")) with the same predicates lists them all" : "\(Hint.vault("list")) lists a folder"
    try Confirmation(
      consequence: "this would delete \(what)\(extent)\(effect)", question: "\(question)\(extent)?",
      facts: sorted.prefix(20).map { Printable.whole($0) }
        + (names.count > 20 ? ["and \(names.count - 20) more; \(more)"] : []) + losses
    ).ask()
  }
}
