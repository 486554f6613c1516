internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mv",
    abstract: "Rename an item, or move all items of a folder; their versions and attributes stay.",
    discussion: """
      If others have grants for the present name or the new one, the command shows who gains and who loses the item, \
      and asks. Names that end with a slash are folders. For a folder the command shows how many items it moves, and \
      asks; if an item already has one of the new names, nothing is moved. To resume an interrupted move, give the \
      command again.
      """)

  @Argument(
    help: ArgumentHelp("The present name, or a folder with a slash at its end.", valueName: "from"),
    completion: ItemNames.completion)
  var from: String

  @Argument(
    help: ArgumentHelp("The new name, which no item has yet, or the folder to move into.", valueName: "to"),
    completion: Completes.folder.kind)
  var to: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var globals: Globals

  func validate() throws {
    guard !from.utf8.elementsEqual(Folder.target(of: from, to).utf8) else {
      throw ValidationError("an item cannot be moved onto itself; give another name")
    }
  }

  func run() throws {
    let session = try Session(globals)
    session.folderWay = "\(Hint.vault("mv FROM/ TO/")) moves it"
    let to = Folder.target(of: from, to)
    if let folders = try FolderTransfer(.move, from, to, yes: yes) {
      return try folders.run(session, json: globals.json)
    }
    if !yes {
      try checkIsFree(to, session)
      try confirmAccess(to, session)
    }
    do throws(Failure) {
      try session.unlocking { vault in try vault.move(from, to: to) }
    } catch {
      throw error.exit == .exists ? Self.taken(to) : error
    }
    guard globals.json else {
      if Keyboard.isAttended { Output.note("moved \(Printable.quoted(from)) to \(Printable.quoted(to))") }
      return
    }
    try Output.json { object in
      object.add("from", from)
      object.add("to", to)
    }
  }

  private static func taken(_ name: String) -> Failure {
    Failure(.exists, "\(Printable.quoted(name)) already exists", "choose another name, or delete it first")
  }

  /// Refuses a name that is taken, so that a person is only asked about a move that can be done.
  private func checkIsFree(_ to: String, _ session: Session) throws(Failure) {
    var item: Wire.Item?
    do throws(Failure) { item = try session.look(at: to) } catch {
      guard error.exit == .missing else { throw error }
    }
    guard item != nil else { return }
    // If there is nothing to move, the advice on the name that is taken would only do harm.
    _ = try session.look(at: from)
    throw Self.taken(to)
  }

  /// Shows who gains or loses access to the item, and asks. Only an administrator learns this.
  private func confirmAccess(_ to: String, _ session: Session) throws(Failure) {
    let (before, after): ([Wire.Access], [Wire.Access])
    do throws(Failure) {
      (before, after) = try session.unlocking { vault in (try vault.access(to: from), try vault.access(to: to)) }
    } catch {
      // Only administrators decide who else gets an item.
      guard error.exit == .denied else { throw error }
      return
    }
    let changes = AccessChange.lines(before, after)
    guard !changes.isEmpty else { return }
    try Confirmation(
      consequence: "others would gain or lose \(Printable.wholeQuoted(from)): \(changes.joined(separator: "; "))",
      question: "Rename \(Printable.wholeQuoted(from))?", facts: changes
    ).ask()
  }
}
