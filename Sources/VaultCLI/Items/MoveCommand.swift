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
      and asks. The list of the revoked tokens of an item moves with it. Names that end with a slash are folders. \
      For a folder the command shows how many items it moves, and asks; if an item already has one of the new names, \
      nothing is moved. To resume an interrupted move, give the command again.
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
    try checkIsNoList(session)
    if !yes {
      try checkIsFree(to, session)
      let list = try TokenList(of: from).exists(session)
      try confirmAccess([(from, to)] + (list ? [(TokenList(of: from).name, TokenList(of: to).name)] : []), session)
    }
    do throws(Failure) {
      try session.unlocking { vault in try vault.move(from, to: to) }
    } catch {
      guard error.exit == .exists else { throw error }
      // The name that is taken may be that of the list, which goes along.
      let list = TokenList(of: to).name
      throw Self.taken(error.event.hasPrefix(Printable.quoted(list)) ? list : to)
    }
    guard globals.json else {
      guard Keyboard.isAttended else { return }
      Output.note("moved \(Printable.quoted(from)) to \(Printable.quoted(to))")
      Folder.noteRest(of: from, "still has", besides: to, session)
      return Folder.note(besides: to, session)
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
    // If there is nothing to move, advice about the name that is taken would mislead.
    _ = try session.look(at: from)
    throw Self.taken(to)
  }

  /// Refuses to move the list of the revoked tokens of an item away from the item, which would accept them again.
  private func checkIsNoList(_ session: Session) throws(Failure) {
    guard let list = TokenList(named: from), try list.exists(session) else { return }
    let owner = Printable.quoted(list.owner)
    throw Failure(
      .invalid, "\(Printable.quoted(from)) is the list of the revoked tokens of \(owner), and moves with that item",
      "move \(owner), or make a copy of the list with \(Hint.vault("cp"))")
  }

  /// Shows who gains or loses access to the item and to its list, and asks. Only an administrator learns this.
  private func confirmAccess(_ moves: [(from: String, to: String)], _ session: Session) throws(Failure) {
    var changes: [String] = []
    do throws(Failure) {
      for (index, move) in moves.enumerated() {
        let (before, after) = try session.unlocking { vault in
          (try vault.access(to: move.from), try vault.access(to: move.to))
        }
        let isNeverRead = (try? session.look(at: move.from))?.neverRead == true
        let lines = AccessChange.lines(before, after, isNeverRead: isNeverRead) { subject in
          guard let old = OtherAccess(of: subject, item: move.from, session),
            let new = OtherAccess(of: subject, item: move.to, session)
          else { return nil }
          return (old.lasting, new.reply.rights)
        }
        changes += index == 0 ? lines : lines.map { "\($0) on the list of its revoked tokens" }
      }
    } catch {
      // Only administrators decide who else gets an item.
      guard error.exit == .denied else { throw error }
      return
    }
    guard !changes.isEmpty else { return }
    try Confirmation(
      consequence: "others would gain or lose \(Printable.wholeQuoted(from)): \(changes.joined(separator: "; "))",
      question: "Rename \(Printable.wholeQuoted(from))?", facts: changes
    ).ask()
  }
}
