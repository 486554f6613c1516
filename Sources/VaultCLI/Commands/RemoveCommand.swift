internal import ArgumentParser
internal import VaultAPI
internal import VaultClient
internal import VaultModel

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Delete items with all their versions.",
    discussion: """
      Arguments with =, ~, < or > are predicates, as for find, and stand for every item that matches them all; all \
      others are names. More than one item is deleted only after a question, or with --yes. Up to 128 are \
      deleted all or none; more of them, or with very many folders, attributes or versions, in several parts.
      """)

  @Argument(
    help: ArgumentHelp("Names, or predicates.", valueName: "items"), completion: ItemNames.completion)
  var items: [String]

  @Flag(help: "Delete more than one without asking.")
  var yes = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if items.contains(where: Predicates.isPredicate) && !items.allSatisfy(Predicates.isPredicate) {
      throw ValidationError("give either names or predicates; for a name with such characters write 'name=\"…\"'")
    }
  }

  func run() throws {
    let session = try Session(globals)
    let names = try names(session)
    if names.count > 1 && !yes { try ask(names) }
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

  private func names(_ session: Session) throws(Failure) -> [String] {
    guard items.contains(where: Predicates.isPredicate) else {
      var seen: Set<String> = []
      return items.filter { seen.insert($0).inserted }
    }
    // What cannot be searched must not look as if it did not match.
    guard try session.canSearch() else { throw Failure(.locked(state: "cold", cause: "")) }
    let query = items.joined(separator: " ")
    let names = try session.call { vault in try vault.find(query) }.map(\.name)
    if names.isEmpty { throw Failure(.missing, "no item matches; see `vault find`") }
    return names
  }

  private func ask(_ names: [String]) throws {
    guard Keyboard.isAttended else {
      throw Failure(.usage, "this would delete \(names.count) items; add --yes if that is meant")
    }
    let keyboard = try Keyboard(otherwise: "add --yes")
    for name in names.prefix(20) { try keyboard.show("  \(Printable.text(name))\n") }
    if names.count > 20 { try keyboard.show("  and \(names.count - 20) more\n") }
    guard try keyboard.confirm("Delete these \(names.count) items and all their versions?") else {
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

  @Argument(help: ArgumentHelp("Its new name, which no item has.", valueName: "to"))
  var to: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    do throws(Failure) {
      try session.unlocking { vault in try vault.move(from, to: to) }
    } catch {
      guard error.exit == .exists else { throw error }
      throw Failure(.exists, "\(Printable.quoted(to)) exists already; choose another name, or delete it first")
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
