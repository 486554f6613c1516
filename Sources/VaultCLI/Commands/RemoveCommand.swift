internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Delete items with all their versions; the trash keeps them for a while.",
    discussion: """
      Arguments with =, ~, < or > are predicates, as for find, and stand for every item that matches them all; all \
      others are names, and so is whatever follows --. What predicates match, and more than one item, is deleted only \
      after a question, or with --yes. Up to \(CallLimits.items) are deleted all or none; more of them, or with very many \
      folders, attributes or versions, in several parts. `vault trash` lists what can be brought back.
      """,
    aliases: ["delete"])

  @Argument(
    help: ArgumentHelp("Names, or predicates.", valueName: "items"), completion: Completes.itemOrPredicate.kind)
  var items: [String] = []

  /// The names behind `--`, which the parser would not tell from others; see ``Arguments/normalize(_:)``.
  @Option(name: .customLong(RemoveCommand.nameOption), help: .hidden)
  var names: [String] = []

  static let nameOption = "item"

  @Flag(help: "Delete what predicates match, or more than one, without asking.")
  var yes = false

  @Flag(help: "Delete for good, without the trash.")
  var now = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if items.isEmpty && names.isEmpty { throw ValidationError("Missing expected argument '<items> ...'") }
    if hasPredicates && !(names.isEmpty && items.allSatisfy(Predicates.isPredicate)) {
      throw ValidationError("give either names or predicates; names with =, ~, < or > stand behind --")
    }
  }

  private var hasPredicates: Bool { items.contains(where: Predicates.isPredicate) }

  func run() throws {
    let session = try Session(globals)
    let names = hasPredicates ? try matches(session) : RemoveCommand.unique(items + names)
    // A script that takes names for arguments must not delete another item unasked because of what one of them is called.
    if hasPredicates || names.count > 1, !yes {
      if !hasPredicates { try checkAll(names, session) }
      try ask(names)
    }
    let kept = try delete(names, session)
    if globals.json {
      try Output.json { writer in
        writer.beginObject()
        writer.key("deleted")
        writer.beginArray()
        for name in names { writer.string(name) }
        writer.endArray()
        if let kept {
          writer.key("kept")
          writer.integer(Int64(kept))
        }
        writer.endObject()
      }
    } else if Keyboard.isAttended {
      Output.note(RemoveCommand.outcome(names, kept))
    }
  }

  /// The outcome in words.
  private static func outcome(_ names: [String], _ kept: Int?) -> String {
    let what = names.count == 1 ? Printable.quoted(names[0]) : "\(names.count) items"
    guard let kept else { return "deleted \(what) for good" }
    let way = names.count == 1 ? "`vault trash restore` brings it back" : "`vault trash` lists what can be brought back"
    return "deleted \(what); \(way) within \(Seconds.format(Int64(kept)))"
  }

  /// Throws unless there are items of all these names: a person is asked about what can be done.
  private func checkAll(_ names: [String], _ session: Session) throws(Failure) {
    let progress = Progress()
    defer { progress.clear() }
    for (number, name) in names.enumerated() {
      _ = try session.unlocking { vault in try vault.show(name) }
      progress.show("checked \(number + 1) of \(names.count) names")
    }
  }

  /// Deletes them, and where the disk has no room for the trash, for good if a person agrees; the seconds that they can be
  /// brought back.
  private func delete(_ names: [String], _ session: Session) throws(Failure) -> Int? {
    var left = names[...]
    do throws(Failure) {
      return try delete(&left, session, now: now)
    } catch {
      guard error.exit == .io, !now else { throw error }
      let failure = Failure(.io, error.event, "`vault rm --now` deletes without the trash, which needs less room")
      guard Keyboard.isAttended else { throw failure }
      let keyboard = try Keyboard(otherwise: "add --now")
      guard try keyboard.confirm("\(error.event). Delete for good instead, which needs less room?") else {
        throw failure
      }
      return try delete(&left, session, now: true)
    }
  }

  /// Deletes what is left in one call, or in as many as the daemon takes it in.
  private func delete(_ left: inout ArraySlice<String>, _ session: Session, now: Bool) throws(Failure) -> Int? {
    let count = left.count
    var rest = left
    defer { left = rest }
    var kept: Int?
    let progress = Progress()
    defer { progress.clear() }
    do throws(Failure) {
      try session.unlocking { vault in
        var part = rest.prefix(CallLimits.items)
        while !rest.isEmpty {
          do { kept = try vault.delete(Array(part), now: now) } catch ClientError.fault(.tooMuch) where part.count > 1 {
            part = part.prefix(part.count / 2)
            continue
          }
          rest = rest.dropFirst(part.count)
          progress.show("deleted \(count - rest.count) of \(count) items")
          part = rest.prefix(part.count)
        }
      }
    } catch {
      guard rest.count < count else { throw error }
      throw Failure(error.exit, "\(error.message) (\(count - rest.count) deleted before that)")
    }
    return kept
  }

  /// The names in their order, each once. They are equal when their bytes are, as the daemon has it.
  private static func unique(_ names: [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    return names.filter { seen.insert(Array($0.utf8)).inserted }
  }

  /// The names of the items that every predicate holds for.
  private func matches(_ session: Session) throws(Failure) -> [String] {
    // What cannot be searched must not look as if it did not match.
    guard try session.canSearch() else { throw session.cold }
    for item in items where try isName(item, session) {
      throw Failure(
        .usage,
        "\(Printable.quoted(item)) is a predicate and also the name of an item",
        "for the item write -- before it, "
          + "and for the predicate put quotes around its value")
    }
    let query = items.joined(separator: " ")
    let names = try session.call { vault in try vault.find(query) }.map(\.name)
    if names.isEmpty { throw Failure(.missing, "no item matches", "see `vault find`") }
    return names
  }

  /// True when an item is called so.
  private func isName(_ text: String, _ session: Session) throws(Failure) -> Bool {
    guard (try? ItemName(text)) != nil else { return false }
    return try !session.call { vault in try vault.find("name=\(Predicates.quote(text))", limit: 1) }.isEmpty
  }

  private func ask(_ names: [String]) throws(Failure) {
    let what = names.count == 1 ? "1 item" : "\(names.count) items"
    guard Keyboard.isAttended else {
      throw Failure(.usage, "this would delete \(what)", "add --yes if that is meant")
    }
    let keyboard = try Keyboard(otherwise: "add --yes")
    for name in names.prefix(20) { try keyboard.show("  \(Printable.text(name))\n") }
    if names.count > 20 { try keyboard.show("  and \(names.count - 20) more\n") }
    let question = names.count == 1 ? "Delete this item" : "Delete these \(what)"
    guard try keyboard.confirm(question + (now ? " with all versions, for good?" : "?")) else {
      throw Failure(Fault.cancelled)
    }
  }
}

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mv",
    abstract: "Rename an item; its versions and attributes stay.",
    discussion:
      "Where others have grants for its name now, or for the new one, it shows who gains and loses it, and asks.")

  @Argument(help: ArgumentHelp("Its name now.", valueName: "from"), completion: ItemNames.completion)
  var from: String

  @Argument(
    help: ArgumentHelp("Its new name, which no item has.", valueName: "to"), completion: Completes.folder.kind)
  var to: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    if !yes { try confirmAccess(session) }
    do throws(Failure) {
      try session.unlocking { vault in try vault.move(from, to: to) }
    } catch {
      guard error.exit == .exists else { throw error }
      throw Failure(.exists, "\(Printable.quoted(to)) already exists", "choose another name, or delete it first")
    }
    guard globals.json else { return }
    try Output.json { writer in
      writer.beginObject()
      writer.key("from")
      writer.string(from)
      writer.key("to")
      writer.string(to)
      writer.endObject()
    }
  }

  /// Shows who gains or loses the item, and asks. Only an administrator can tell.
  private func confirmAccess(_ session: Session) throws(Failure) {
    let (before, after): ([Wire.Access], [Wire.Access])
    do throws(Failure) {
      (before, after) = try session.unlocking { vault in (try vault.access(to: from), try vault.access(to: to)) }
    } catch {
      // Administrators alone have a say in who else gets an item.
      guard error.exit == .denied else { throw error }
      return
    }
    let changes = AccessChange.lines(before, after)
    guard !changes.isEmpty else { return }
    guard Keyboard.isAttended else {
      throw Failure(
        .usage, "others would gain or lose \(Printable.quoted(from)): \(changes.joined(separator: "; "))",
        "add --yes if that is meant")
    }
    for change in changes { Output.note(change) }
    let keyboard = try Keyboard(otherwise: "add --yes")
    guard try keyboard.confirm("Rename \(Printable.quoted(from))?") else { throw Failure(Fault.cancelled) }
  }
}
