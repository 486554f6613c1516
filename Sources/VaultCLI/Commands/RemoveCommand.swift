internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Delete items with all their versions.",
    discussion: """
      Arguments with =, ~, < or > are predicates, as for find, and stand for every item that matches them all; all \
      others are names, and so is whatever follows --. What predicates match, and more than one item, is deleted only \
      after a question, or with --yes. Up to 128 are deleted all or none; more of them, or with very many folders, \
      attributes or versions, in several parts.
      """)

  @Argument(
    help: ArgumentHelp("Names, or predicates.", valueName: "items"), completion: Completes.itemOrPredicate.kind)
  var items: [String] = []

  /// The names behind `--`, which the parser would not tell from others; see ``Arguments/normalize(_:)``.
  @Option(name: .customLong(RemoveCommand.nameOption), help: .hidden)
  var names: [String] = []

  static let nameOption = "item"

  @Flag(help: "Delete what predicates match, or more than one, without asking.")
  var yes = false

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
    if hasPredicates || names.count > 1, !yes { try ask(names) }
    try delete(names, session)
    if globals.json {
      try Output.json { writer in
        writer.beginObject()
        writer.key("deleted")
        writer.beginArray()
        for name in names { writer.string(name) }
        writer.endArray()
        writer.endObject()
      }
    } else if Keyboard.isAttended {
      Output.note(names.count == 1 ? "deleted \(Printable.quoted(names[0]))" : "deleted \(names.count) items")
    }
  }

  /// The most items in one call.
  private static let most = 128

  /// Deletes them in one call, or in as many as the daemon takes them in.
  private func delete(_ names: [String], _ session: Session) throws(Failure) {
    var left = names[...]
    do throws(Failure) {
      try session.unlocking { vault in
        var part = left.prefix(RemoveCommand.most)
        while !left.isEmpty {
          do { try vault.delete(Array(part)) } catch ClientError.fault(.tooMuch) where part.count > 1 {
            part = part.prefix(part.count / 2)
            continue
          }
          left = left.dropFirst(part.count)
          part = left.prefix(part.count)
        }
      }
    } catch {
      guard left.count < names.count else { throw error }
      throw Failure(error.exit, "\(error.message) (\(names.count - left.count) deleted before that)")
    }
  }

  /// The names in their order, each once. They are equal when their bytes are, as the daemon has it.
  private static func unique(_ names: [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    return names.filter { seen.insert(Array($0.utf8)).inserted }
  }

  /// The names of the items that every predicate holds for.
  private func matches(_ session: Session) throws(Failure) -> [String] {
    // What cannot be searched must not look as if it did not match.
    guard try session.canSearch() else { throw Failure(.locked(state: "cold", cause: "")) }
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

  private func ask(_ names: [String]) throws {
    let what = names.count == 1 ? "1 item" : "\(names.count) items"
    guard Keyboard.isAttended else {
      throw Failure(.usage, "this would delete \(what)", "add --yes if that is meant")
    }
    let keyboard = try Keyboard(otherwise: "add --yes")
    for name in names.prefix(20) { try keyboard.show("  \(Printable.text(name))\n") }
    if names.count > 20 { try keyboard.show("  and \(names.count - 20) more\n") }
    let question =
      names.count == 1 ? "Delete this item and all its versions?" : "Delete these \(what) and all their versions?"
    guard try keyboard.confirm(question) else {
      throw Failure(Fault.cancelled)
    }
  }
}

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mv",
    abstract: "Rename an item; its versions and attributes stay.")

  @Argument(help: ArgumentHelp("Its name now.", valueName: "from"), completion: ItemNames.completion)
  var from: String

  @Argument(
    help: ArgumentHelp("Its new name, which no item has.", valueName: "to"), completion: Completes.folder.kind)
  var to: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    do throws(Failure) {
      try session.unlocking { vault in try vault.move(from, to: to) }
    } catch {
      guard error.exit == .exists else { throw error }
      throw Failure(.exists, "\(Printable.quoted(to)) exists already", "choose another name, or delete it first")
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
}
