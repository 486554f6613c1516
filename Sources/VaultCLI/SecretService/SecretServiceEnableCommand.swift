internal import ArgumentParser
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct SecretServiceEnableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Make this vault the Secret Service of your desktop.",
    discussion: """
      Copies what the present Secret Service keeps, turns the setting secret-service on, has the session bus start \
      the daemon when a program asks for it, enables vault-agent's unit, and keeps GNOME Keyring from starting. Prints \
      each file that it changes, and remembers what was there, which `vault secret-service disable` restores. If \
      something cannot be copied, nothing is changed.
      """)

  @Flag(
    help: """
      Copy nothing. A browser that finds no key here makes a new one, and loses the cookies and logins that it has \
      encrypted with the old one.
      """)
  var withoutCopy = false

  @OptionGroup var globals: Globals

  func run() throws {
    if globals.system { throw SecretService.systemHasNone }
    let session = try Session(globals)
    var standing = try SecretService.standing(session)
    let files = try SecretService.files(session)
    let slots = try session.call { vault in
      if try vault.status().state == "new" { throw ClientError.fault(.noVault) }
      return try vault.slots()
    }
    if standing.excluded == true, let problem = standing.problem {
      throw Failure(.configuration, Printable.text(problem), standing.advice.map { Hint.text($0) })
    }
    let read = try SecretService.reload(session)
    let own = files.settings
    guard read == own || FileState.isSame(read, own) else {
      throw Failure(
        .configuration,
        "the daemon reads its settings from \(Printable.quoted(read)), and not from \(Printable.quoted(own))",
        "set XDG_CONFIG_HOME as the daemon has it, or end the daemon")
    }
    let moment = StartedKeyring.now()
    let copied = withoutCopy || !mayBeAnother(standing, files) ? nil : try copy(standing, session)
    let wasFree = standing.connected && standing.owner == nil
    let started = try StartedKeyring(
      wasFree && copied != nil ? SecretService.standing(session).owner : nil, since: moment)
    var changes = try OwnChanges(files.record, makesFolder: true)
    let changed = try change(files, &changes)
    changes.close()
    try SecretService.reload(session)
    UserManager.tell("daemon-reload")
    startAgent(files)
    standing = try settle(session)
    if let started { standing = try end(started, standing, session) }
    try report(copied, changed, standing)
    if copied == nil, !withoutCopy, !changed.isEmpty {
      Output.note("nothing was copied, because no other Secret Service runs, and the bus would start none")
    }
    tell(files)
    try offerLoginSlot(slots, session)
    if let owner = standing.owner, !owner.own { standing = try takeOver(from: owner, standing, session) }
    try check(standing)
  }

  /// - Parameter changed: the files that were changed; nil if the command ends before it changes any.
  private func report(
    _ copied: TransferAccount?, _ changed: [String]?, _ standing: Wire.SecretServiceReply
  ) throws(Failure) {
    if globals.json {
      return try Output.json { object in
        copied?.writeMembers(&object)
        object.add("changed", changed ?? [])
        object.add("owned", standing.owner?.own == true)
        object.add("problem", standing.problem)
      }
    }
    var lines = copied?.lines(isTrial: false) ?? []
    if let changed {
      lines += changed.isEmpty ? ["everything is set up already"] : changed.map { "changed \(Printable.text($0))" }
    }
    try Output.lines(lines)
  }

  /// False if it is certain that no other program is the Secret Service, or would become it without this command.
  private func mayBeAnother(_ standing: Wire.SecretServiceReply, _ files: DesktopFiles) -> Bool {
    if let owner = standing.owner { return !owner.own }
    // A daemon that is on no session bus knows nothing of this session's bus, and a bus may not answer.
    guard standing.connected, let isActivatable = standing.activatable else {
      return standing.connected || !files.isActivationOurs
    }
    return isActivatable && !files.isActivationOurs
  }

  /// Copies the items of the program that is the Secret Service now, or that the bus would start.
  ///
  /// - Returns: the account of the copies; nil if there is no other program.
  /// - Throws: ``Failure`` unless every item was read, and every collection copied. An item that is beyond the limits
  ///   of the vault stays where it is.
  private func copy(
    _ standing: Wire.SecretServiceReply, _ session: Session
  ) throws(Failure) -> TransferAccount? {
    let account: TransferAccount?
    do throws(Failure) { account = try KeyringCopy.take(session, from: standing.name) } catch {
      throw Self.uncopied(error)
    }
    guard let account, let incomplete = account.incomplete else { return account }
    try report(account, nil, standing)
    throw Self.uncopied(incomplete)
  }

  private static func uncopied(_ failure: Failure) -> Failure {
    let way = "--without-copy leaves them there, and a browser then loses its cookies and logins"
    return Failure(
      failure.exit, "nothing was changed, because the present keys could not be copied: \(failure.event)",
      [failure.advice, way].compactMap { $0 }.joined(separator: "; "))
  }

  /// Ends a keyring that was started only for the copy. It stays if what programs may have stored in it since cannot be
  /// copied.
  private func end(
    _ keyring: borrowing StartedKeyring, _ standing: Wire.SecretServiceReply, _ session: Session
  ) throws(Failure) -> Wire.SecretServiceReply {
    guard let owner = standing.owner, owner.pid == keyring.pid,
      let account = try? KeyringCopy.take(session, from: standing.name), account.incomplete == nil
    else { return standing }
    if !globals.json, account.stored > 0 { try Output.lines(account.lines(isTrial: false)) }
    guard keyring.end() else { return standing }
    return try takeName(session)
  }

  /// Offers to end the program that still has the name: what other programs store there from now on would be lost.
  private func takeOver(
    from owner: Wire.BusOwner, _ standing: Wire.SecretServiceReply, _ session: Session
  ) throws(Failure) -> Wire.SecretServiceReply {
    guard !globals.json, Keyboard.canAsk, let pid = pid_t(exactly: owner.pid), pid > 1 else { return standing }
    let keyboard = try Keyboard(otherwise: "log out and in again")
    try keyboard.awaitTurn()
    try keyboard.show(
      "\(SecretService.text(owner)) is the Secret Service until you log out or it ends, and what programs store there "
        + "meanwhile is not copied.\n")
    guard try keyboard.confirm("End it now, so that this vault takes its place?") else { return standing }
    // Programs may have stored something since the first copy.
    if !withoutCopy { try copyAgain(owner, standing, session) }
    guard kill(pid, SIGTERM) == 0 || errno == ESRCH else {
      throw Failure(.system, "cannot end process \(pid): \(Output.describe(errno))", "log out and in again")
    }
    return try takeName(session)
  }

  /// Has the daemon ask for its name until it has it, once the program that had the name was told to end.
  private func takeName(_ session: Session) throws(Failure) -> Wire.SecretServiceReply {
    let end = Moment.now() + Self.patience
    while true {
      usleep(100_000)
      try SecretService.reload(session)
      let standing = try SecretService.standing(session)
      if standing.owner?.own == true || Moment.now() >= end { return standing }
    }
  }

  private func copyAgain(
    _ owner: Wire.BusOwner, _ standing: Wire.SecretServiceReply, _ session: Session
  ) throws(Failure) {
    do throws(Failure) {
      guard let account = try KeyringCopy.take(session, from: standing.name) else { return }
      if account.stored > 0 { try Output.lines(account.lines(isTrial: false)) }
      if let incomplete = account.incomplete { throw incomplete }
    } catch {
      throw Failure(
        error.exit,
        "everything is set up, but \(SecretService.text(owner)) was not ended, because its keys could not be copied "
          + "again: \(error.event)", error.advice)
    }
  }

  /// Changes the user's files; returns the paths of those that were changed now.
  private func change(_ files: DesktopFiles, _ changes: inout OwnChanges) throws(Failure) -> [String] {
    var changed: [String] = []
    guard let daemon = Daemon.program else {
      throw Failure(.unavailable, "there is no vaultd beside vault, nor in PATH", "install it")
    }
    if try changes.set("secret-service", to: "on", in: files.settings) { changed.append(files.settings) }
    for (path, content) in try files.changes(daemon: daemon) + [files.agent].compactMap(\.self) {
      if try changes.put(content, at: path) { changed.append(path) }
    }
    return changed
  }

  /// Starts the agent now, if a desktop is there for it to ask on.
  private func startAgent(_ files: DesktopFiles) {
    guard files.isAgentEnabled, UserManager.tell("is-active", "graphical-session.target") else { return }
    UserManager.tell("start", DesktopFiles.agentUnit)
  }

  /// The milliseconds within which the daemon must have the name.
  private static let patience = 5_000

  /// Has the bus read its files, and waits until the daemon has its name, or says why it has not.
  private func settle(_ session: Session) throws(Failure) -> Wire.SecretServiceReply {
    var standing = try SecretService.standing(session, reloads: true)
    if !standing.connected, let address = Environment.variable("DBUS_SESSION_BUS_ADDRESS") {
      // The daemon was started elsewhere. What keeps it from this bus shows in its account.
      _ = try? session.call { vault in try vault.joinBus(address) }
      standing = try SecretService.standing(session, reloads: true)
    }
    let end = Moment.now() + Self.patience
    while standing.owner?.own != true, standing.problem == nil, Moment.now() < end {
      usleep(50_000)
      standing = try SecretService.standing(session)
    }
    return standing
  }

  /// Tells a person what else to know or to do.
  private func tell(_ files: DesktopFiles) {
    Output.note(
      "programs that have unlocked their keys here can read them while the vault is locked, until the machine sleeps; "
        + "secret-service-accessible in vaultd.conf(5) changes that for new ones")
    if !files.isAgentEnabled {
      Output.note(
        "the unit \(DesktopFiles.agentUnit) is not installed; have your session run \(Hint.vault("agent")), or nobody "
          + "is asked when a program finds the vault locked")
    } else if !UserManager.isThere {
      Output.note(
        "no service manager of yours runs here; have your session run \(Hint.vault("agent")), or nobody is asked when "
          + "a program finds the vault locked")
    }
    let desktop = Environment.variable("XDG_CURRENT_DESKTOP") ?? ""
    if FileState(files.walletSettings).exists || desktop.split(separator: ":").contains("KDE") {
      Output.note(
        "KDE's wallet may take the name first: set apiEnabled=false in the section [org.freedesktop.secrets] of "
          + Printable.text(files.walletSettings))
    }
  }

  /// Offers a slot for the login password, so that programs find their keys right after the login.
  private func offerLoginSlot(_ slots: [Wire.Slot], _ session: Session) throws(Failure) {
    guard !slots.contains(where: { $0.kind == SlotKind.login.name }) else { return }
    let command = Hint.vault("slot add login")
    guard !globals.json, Keyboard.canAsk else {
      return Output.note("\(command) makes the login password open the vault, so that nothing is asked after a login")
    }
    let keyboard = try Keyboard(otherwise: command)
    try keyboard.awaitTurn()
    try keyboard.show(
      "Programs ask for their keys right after a login. With a login slot, pam_vault(8) opens the vault then.\n")
    guard try keyboard.confirm("Add a slot for the login password?") else {
      return Output.note("\(command) does so later")
    }
    let answers = Answers(fromInput: false, json: false)
    do throws(Failure) {
      let slot = try session.converse(answers) { vault, method, answer in
        try vault.addSlot(kind: SlotKind.login.name, method: method, answer: answer)
      }
      Output.note("added slot \(slot)")
    } catch {
      // The slot is an offer, without which everything else is done as well.
      let reason = error == Failure(Fault.cancelled) ? "" : ": \(error.event)"
      Output.note("no slot was added\(reason); \(command) adds it later")
    }
  }

  /// Reports whether programs find this vault now, and throws if they do not.
  private func check(_ standing: Wire.SecretServiceReply) throws(Failure) {
    if standing.owner?.own == true {
      if !globals.json, Keyboard.isAttended { Output.note("desktop programs find their keys in this vault now") }
      return
    }
    if let owner = standing.owner {
      throw Failure(
        .retry, "everything is set up, but \(SecretService.text(owner)) still owns \(Printable.text(standing.name))",
        "log out and in again, or end it with `kill \(owner.pid)`, and then run \(Hint.vault("reload")); what programs "
          + "store there until then is copied only if you run \(Hint.vault("secret-service enable")) right before")
    }
    guard standing.connected else {
      throw Failure(
        .retry, "everything is set up, but the daemon is connected to no session bus",
        "the bus of the next login starts it when a program asks for it")
    }
    let problem = Printable.text(standing.problem ?? "the bus has not given it the name yet")
    throw Failure(
      .retry, "everything is set up, but \(problem)",
      standing.advice.map { Hint.text($0) } ?? "see \(Hint.vault("secret-service status"))")
  }
}
