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
    var changes = try OwnChanges(files.record)
    let copies = try wantsCopy(standing, wasEnabled: !changes.changes.isEmpty)
    let (undone, kept) = try changes.undo()
    changes.close()
    // The agent was enabled by `enable`, which has started it.
    if undone.contains(files.agentLink) { UserManager.tell("stop", DesktopFiles.agentUnit) }
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
        "secret-service = on stays in \(Printable.text(files.settings)), because `enable` did not set it; remove it "
          + "there, and run \(Hint.vault("reload"))")
    }
    if copies { try copyBack(session, to: standing?.name ?? DesktopFiles.name) }
  }

  /// Asks whether to copy back what programs have stored here; false if nobody can be asked. The items are here,
  /// whatever program has the name now.
  private func wantsCopy(_ standing: Wire.SecretServiceReply?, wasEnabled: Bool) throws(Failure) -> Bool {
    guard !withoutCopy, wasEnabled || standing?.owner?.own == true else { return false }
    if let standing {
      let collections = standing.collections.filter { $0.id != CollectionID.shared.element && $0.id != "session" }
      guard collections.contains(where: { $0.items != 0 }) else { return false }
    }
    // No daemon is started for the copy: it could not be the Secret Service any more.
    guard standing != nil, !globals.json, Keyboard.canAsk else {
      Output.note("\(Hint.vault(KeyringCopy.exportWords)) copies what programs have stored here to another keyring")
      return false
    }
    let keyboard = try Keyboard(otherwise: "give --without-copy")
    try keyboard.awaitTurn()
    return try keyboard.confirm("Copy what programs have stored here to the keyring that takes its place?")
  }

  private func copyBack(_ session: Session, to name: String) throws(Failure) {
    do throws(Failure) {
      let account = try KeyringCopy.give(session, to: name)
      try Output.lines(account.lines(isTrial: false))
      if let failure = account.unfinished ?? account.impossible { throw failure }
    } catch {
      let again = "\(Hint.vault(KeyringCopy.exportWords)) tries it again"
      throw Failure(
        error.exit, "everything is undone, but not everything was copied: \(error.event)",
        [error.advice, again].compactMap { $0 }.joined(separator: "; "))
    }
  }
}
