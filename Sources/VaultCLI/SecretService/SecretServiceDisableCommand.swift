internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct SecretServiceDisableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Undo what `vault secret-service enable` has changed.",
    discussion: """
      Restores what was there before, and leaves what somebody has changed since. The items that programs have made \
      stay in the vault.
      """)

  @Flag(help: "Copy nothing to another keyring, and do not ask about it.")
  var withoutCopy = false

  @OptionGroup var globals: Globals

  func run() throws {
    if globals.system { throw SecretService.systemHasNone }
    let session = try Session(globals, startsDaemon: false)
    let standing = try session.call { vault -> Wire.SecretServiceReply? in
      do { return try vault.secretService() } catch ClientError.noDaemon where session.isOwn { return nil }
    }
    let files = try SecretService.files(session)
    let copies = try wantsCopy(standing)
    var changes = try OwnChanges(files.record)
    let (undone, kept) = try changes.undo()
    UserManager.tell("daemon-reload")
    var after: Wire.SecretServiceReply?
    if standing != nil {
      try SecretService.reload(session)
      after = try SecretService.standing(session, reloads: true)
    }
    if globals.json {
      try Output.json { object in
        object.add("restored", undone)
        object.add("kept", kept)
        object.add("on", after?.on)
      }
    } else {
      let lines = undone.map { "restored \(Printable.text($0))" }
      try Output.lines(lines.isEmpty ? ["nothing that `enable` has changed is left to undo"] : lines)
    }
    for path in kept { Output.note("kept \(Printable.text(path)), which was changed since") }
    if after?.on == true {
      Output.note(
        "secret-service = on stays in \(Printable.text(files.settings)), because `enable` has not set it; remove it "
          + "there, and run \(Hint.vault("reload"))")
    }
    if copies { try copyBack(session) }
  }

  /// Asks if what programs have stored here is to be copied back; false if nobody can be asked.
  private func wantsCopy(_ standing: Wire.SecretServiceReply?) throws(Failure) -> Bool {
    guard !withoutCopy, let standing, standing.owner?.own == true else { return false }
    let count = standing.collections.compactMap(\.items).reduce(0, +)
    let isKnown = !standing.collections.contains { $0.items == nil && $0.id != "vault" }
    guard count > 0 || !isKnown else { return false }
    guard !globals.json, Keyboard.canAsk else {
      Output.note("\(Hint.vault(KeyringCopy.exportWords)) copies what programs have stored here to another keyring")
      return false
    }
    let keyboard = try Keyboard(otherwise: "give --without-copy")
    try keyboard.awaitTurn()
    return try keyboard.confirm("Copy what programs have stored here to the keyring that takes its place?")
  }

  private func copyBack(_ session: Session) throws(Failure) {
    do throws(Failure) { try Output.lines(try KeyringCopy.give(session).lines(isTrial: false)) } catch {
      let again = "\(Hint.vault(KeyringCopy.exportWords)) tries it again"
      throw Failure(
        error.exit, "everything is undone, but not everything was copied: \(error.event)",
        [error.advice, again].compactMap { $0 }.joined(separator: "; "))
    }
  }
}
