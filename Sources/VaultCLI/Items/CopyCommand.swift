internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cp",
    abstract: "Copy an item, or all items of a folder: values, kinds, attributes, policies and expiry.",
    discussion: """
      The daemon copies the current version only, and needs the proof that reading the item needs. Names \
      that end with a slash are folders. For a folder the command shows how many items it copies and who gains access \
      to the copies by grants, and asks. To resume an interrupted copy, give the command again: copies that already \
      exist are skipped.
      """)

  @Argument(
    help: ArgumentHelp("The item, or a folder with a slash at its end.", valueName: "from"),
    completion: ItemNames.completion)
  var from: String

  @Argument(
    help: ArgumentHelp("The name of the copy, which no item has yet, or the folder to copy into.", valueName: "to"))
  var to: String

  @Flag(help: "Copy a folder without asking.")
  var yes = false

  @Flag(help: "Replace an item of that name; its old value stays as an earlier version.")
  var force = false

  @Flag(help: "Also copy an item that has expired.")
  var expired = false

  @OptionGroup var globals: Globals

  func validate() throws {
    guard !from.utf8.elementsEqual(Folder.target(of: from, to).utf8) else {
      throw ValidationError("an item cannot be copied onto itself; give another name")
    }
  }

  func run() throws {
    let session = try Session(globals)
    session.folderWay = "\(Hint.vault("cp FROM/ TO/")) copies it"
    let to = Folder.target(of: from, to)
    let act = FolderTransfer.Act.copy(force: force, expired: expired)
    if let folders = try FolderTransfer(act, from, to, yes: yes) { return try folders.run(session, json: globals.json) }
    let copied: Wire.CopyReply
    do throws(Failure) {
      copied = try session.unlocking { vault in try vault.copy(from, to: to, replacing: force, expired: expired) }
    } catch {
      guard error.exit == .exists else { throw error }
      // If there is nothing to copy, advice about the name that is taken would mislead.
      _ = try session.look(at: from)
      throw Failure(
        .exists, "\(Printable.quoted(to)) already exists", "choose another name, or replace it with --force")
    }
    if globals.json {
      try Output.json { object in
        object.add("from", from)
        object.add("to", to)
        object.add("version", copied.version)
      }
    } else if Keyboard.isAttended {
      Output.note(
        "copied \(Printable.quoted(from)) to \(Printable.quoted(to)), version "
          + "\(copied.version)\(AccessChange.note(copied.openTo))"
      )
      Folder.noteRest(of: from, "was not copied: it has", besides: to, session)
      try noteList(to, session)
      Folder.note(besides: to, session)
    }
    if force { TokenList.noteOlder(to, session) }
  }

  /// Says that the copy of a key for tokens has no list, if tokens of the key were revoked: the copy accepts them.
  private func noteList(_ to: String, _ session: Session) throws(Failure) {
    let (list, copy) = (TokenList(of: from), TokenList(of: to))
    guard try list.exists(session), try !copy.isThere(session) else { return }
    Output.note(
      "the copy has no list of revoked tokens, and accepts those of \(Printable.quoted(list.name)); copy the list to "
        + "\(Printable.quoted(copy.name)) too")
  }
}
