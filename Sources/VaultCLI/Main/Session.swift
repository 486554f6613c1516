internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// One run of the program against one daemon. If there is no daemon, the session may start one.
final class Session {
  var vault: Vault
  /// True for the user's own socket, for which a command that needs a daemon starts one.
  let isOwn: Bool
  /// True for the machine's vault.
  let isSystem: Bool
  /// True once the daemon has refused an unlock because this user may not open the vault.
  private var mayNotOpen = false
  /// True once the daemon has answered a call with something other than a refusal.
  private var hasAnswered = false
  /// The usual value of `vault.silence`, while ``nextSilence`` replaces it: from a call that the daemon did not answer
  /// to the next answer. Nil at other times.
  private var usualSilence: Duration?
  /// The limit for a call after one that the daemon did not answer, so that several such calls together wait hardly
  /// longer than one.
  private static let nextSilence = Duration.seconds(1)
  /// True if a person may be asked at the terminal. Another program may have declared that nobody is there.
  var isAttended = Keyboard.isAttended {
    didSet {
      vault.interactive = isAttended
      if !isAttended { vault.whenSilent = nil }
    }
  }
  /// True if that person has a terminal for questions.
  var mayAsk: Bool { isAttended && Keyboard.canAsk }
  /// The advice on how to give this command a folder, for a person who names a folder like an item; nil if the command
  /// takes no folder.
  var folderWay: String?
  /// The name of a command that takes predicates as well, for a person who gives it a pattern; nil for others.
  var predicateCommand: String?
  /// True for a command with the option `--kind`, which may help with a value that is refused.
  var takesKind = false
  private var mayStart: Bool
  /// True if this command starts a daemon when none listens.
  private let startsDaemon: Bool
  /// True for a command that becomes another program. That program must not inherit a daemon as a child process.
  var leavesNoChild = false

  convenience init(_ globals: Globals, startsDaemon: Bool = true) throws(Failure) {
    try self.init(socket: globals.socket, system: globals.system, startsDaemon: startsDaemon)
  }

  /// - Parameter startsDaemon: whether to start a daemon if none listens on the user's own socket. A daemon is never
  ///   started for a path that somebody named, because that path may stand for a vault elsewhere.
  init(socket: String?, system: Bool, startsDaemon: Bool) throws(Failure) {
    if let problem = DaemonOptions.problem(socket) { throw Failure(.usage, problem) }
    do throws(ClientError) {
      vault = Vault(at: system ? .system : try .user(explicit: socket))
    } catch {
      guard let reason = error.lackOfPlace, case .held(let holder) = StoreHolder.find(system: false) else {
        throw Failure(error)
      }
      throw holder.failure(insteadOf: .none(reason))
    }
    isOwn = Session.isOwn(socket: socket, system: system)
    isSystem = vault.location == .system
    self.startsDaemon = startsDaemon
    mayStart = startsDaemon && isOwn
    vault.interactive = isAttended
    if isAttended { vault.whenSilent = SilenceLine().show }
    // Waiting for a daemon that restarts would only delay the start of a new one, or the news that there is none.
    if mayStart || !startsDaemon { vault.patience = .zero }
  }

  /// Lets the next call start a daemon, as the first one might: a person who tries again expects no less.
  func mayStartAgain() { mayStart = startsDaemon && isOwn }

  /// Starts no daemon from now on. A command that runs for long waits for the next daemon, which somebody else starts.
  func startNone() { mayStart = false }

  /// Returns true for the user's own socket at its default place, which neither an option nor a variable named.
  static func isOwn(socket: String?, system: Bool) -> Bool {
    !system && socket == nil && Environment.variable("VAULT_SOCKET") == nil
  }

  /// Calls the daemon. If none listens, starts one and calls once more.
  func call<R: ~Copyable>(_ body: (Vault) throws -> R) throws(Failure) -> R {
    do {
      return try ask(body)
    } catch ClientError.noDaemon where mayStart {
      mayStart = false
      if leavesNoChild { startApart() }
      // A daemon that listens by now will do.
      do throws(ClientError) { try Daemon.ensure(at: vault.location) } catch {
        throw elsewhere(error) ?? Failure(error)
      }
      vault.patience = Connection.defaultPatience
    } catch { throw failure(error) }
    do { return try ask(body) } catch { throw failure(error) }
  }

  /// Calls the daemon, and notes whether it was silent.
  private func ask<R: ~Copyable>(_ body: (Vault) throws -> R) throws -> R {
    do {
      let result = try body(vault)
      hasAnswered = true
      note(silence: false)
      return result
    } catch {
      switch error as? ClientError {
      case .timedOut: note(silence: true)
      case .fault: note(silence: false)
      case nil, .noRuntimeDirectory, .relativeRuntimeDirectory, .emptySocketPath, .foreignFolder, .impossibleSocket,
        .notUTF8, .unsafeSocket, .noDaemon, .daemonFailed, .disconnected, .protocolViolation, .tooLarge,
        .answerTooLarge, .notText, .system:
        break
      }
      throw error
    }
  }

  private func note(silence isSilent: Bool) {
    if isSilent, let usual = vault.silence, usualSilence == nil {
      (usualSilence, vault.silence) = (usual, min(usual, Self.nextSilence))
    } else if !isSilent, let usual = usualSilence.take() {
      vault.silence = usual
    }
  }

  /// Explains that the vault is served elsewhere, if `error` says that no daemon listens here, that none can, or that
  /// another one has the store; nil if no process has the lock of the store, or none can be seen. A named socket may
  /// stand for a vault elsewhere, so nothing is known of that vault's lock.
  func elsewhere(_ error: ClientError) -> Failure? {
    switch error {
    case .noDaemon, .impossibleSocket: break
    case .daemonFailed(let status, _): if status != Exit.exists.rawValue { return nil }
    case .fault, .noRuntimeDirectory, .relativeRuntimeDirectory, .emptySocketPath, .foreignFolder, .notUTF8,
      .unsafeSocket, .disconnected, .timedOut, .protocolViolation, .tooLarge, .answerTooLarge, .notText, .system:
      return nil
    }
    guard isOwn || isSystem, case .held(let holder) = StoreHolder.find(system: isSystem) else { return nil }
    return holder.failure(insteadOf: .socket(vault.location.path))
  }

  /// Makes a call that the command can do without.
  ///
  /// - Returns: nil if the call failed.
  /// - Throws: ``Failure`` if the daemon did not answer in time; the command's next call would wait as long again.
  func attempt<R>(_ body: (Vault) throws -> R) throws(Failure) -> R? {
    var isSilent = false
    do {
      return try call { vault in
        do { return try body(vault) } catch ClientError.timedOut {
          isSilent = true
          throw ClientError.timedOut
        }
      }
    } catch {
      if isSilent { throw error }
      return nil
    }
  }

  /// Looks at an item before a call that needs no right to find it.
  ///
  /// - Returns: nil if the caller may not find the item; the daemon then decides about the call itself.
  func look(at name: String) throws(Failure) -> Wire.Item? {
    try unlocking { vault in
      do { return try vault.show(name) } catch ClientError.fault(.denied) { return nil }
    }
  }

  /// Starts the daemon from a process of its own that ends at once, so that the daemon is no child of this process. If
  /// that fails, the next attempt in this process gives the reason.
  private func startApart() {
    let pid = fork()
    if pid == 0 {
      do throws(ClientError) { try Daemon.ensure(at: vault.location) } catch { _exit(1) }
      _exit(0)
    }
    var status: Int32 = 0
    while pid > 0, unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }

  private func failure(_ error: any Error) -> Failure {
    var failure = Failure(any: error)
    switch error as? ClientError {
    case .fault(.neverRead(let name)):
      let item = try? vault.show(name)
      failure = Failure(neverRead: name, use: item?.use.flatMap(KeyUse.init(name:)))
    case .fault(.noSuchItem(let name, let unverified)):
      failure.missing = MissingItem(
        name: name, location: vault.location, isDoubtful: unverified == true, folderWay: folderWay,
        predicateCommand: predicateCommand)
    case .fault(.invalidValue(_, _, _, let needsAnother)) where !takesKind && needsAnother != true:
      failure = Failure(failure.exit, failure.event, failure.advice.map { _ in "correct it" })
    case .fault(.vaultExists): failure = vaultExists(try? vault.status())
    case .impossibleSocket(let problem, let remedy):
      if let found = elsewhere(.impossibleSocket(problem, remedy: remedy)) { failure = found }
    case .noDaemon where !isOwn && !isSystem:
      failure = Failure(failure.exit, failure.event, "start vaultd there, or name another socket")
    case .fault(.locked), .fault(.timedOut), .fault(.rekeyRests):
      // Most callers of the machine's vault may not open it.
      if isForOthersToOpen { return Failure(failure.exit, failure.event, openers) }
    default: break
    }
    return failure
  }

  /// The failure of a command that makes a vault where there is one. The daemon may have a vault open whose files were
  /// moved away, so that there seems to be none.
  func vaultExists(_ status: Wire.StatusReply?) -> Failure {
    guard let status, status.problem != nil, status.state != "unreadable" else { return Failure(Fault.vaultExists) }
    let end = isSystem ? "stop the daemon, see restore in vault(1)" : "`kill \(status.pid)` ends the daemon"
    return Failure(
      .exists, "process \(status.pid) still has the old vault open, whose files were moved away or removed",
      "\(end); \(Hint.vault("salvage FILE")) first saves a vault that is nowhere else")
  }

  /// True if the socket belongs to another user; only that user and root can open that vault.
  private var isAnothers: Bool {
    var status = stat()
    guard geteuid() != 0, unsafe lstat(vault.location.path, &status) == 0 else { return false }
    return status.st_uid != geteuid()
  }

  /// True if this user may not open the vault, or perhaps not.
  private var isForOthersToOpen: Bool { isSystem || mayNotOpen || isAnothers }

  /// The advice for a search that misses names which only an unlock shows.
  var wayToAllNames: String { isForOthersToOpen ? openers : "see \(Hint.vault("unlock"))" }

  /// The advice for a user who may not open the vault: it names who can.
  private var openers: String {
    let way = "opens it with `\(Hint.line("unlock", isSystem: isSystem))`"
    return isSystem ? "root or a member of \(SystemAccount.administrators) \(way)" : "the owner of the vault \(way)"
  }

  /// The names that a search reaches.
  enum Sight {
    case all
    /// Only the names that are readable before an unlock, and nobody is there to open the vault.
    case some(Failure, isCold: Bool)
  }

  /// Asks for an unlock if the vault hides some names: before the first unlock, and in a vault that hides names after
  /// each lock. Otherwise a search could report an item as missing that is only hidden.
  func sight() throws(Failure) -> Sight {
    let status = try call { vault in try vault.status() }
    // Daemons before 2026-12 report only whether the vault was unlocked since the start.
    guard status.namesHidden ?? (status.state == "cold") else { return .all }
    let (fault, isCold) = (Fault.locked(state: status.state, cause: status.cause), status.state == "cold")
    guard mayAsk else { return .some(failure(ClientError.fault(fault)), isCold: isCold) }
    do throws(Failure) { try unlock(because: fault) } catch {
      // The same result as if nobody were there.
      guard mayNotOpen else { throw error }
      return .some(error, isCold: isCold)
    }
    return .all
  }

  /// Throws if a search would miss items; see ``sight()``.
  func needAllNames() throws(Failure) {
    if case .some(let failure, _) = try sight() { throw failure }
  }

  /// Asks for an unlock if the vault is locked. Throws if nobody can be asked.
  ///
  /// - Parameter isForAdministrators: true before a call that the daemon denies everybody else. The denial then comes
  ///   at once, and nobody opens the vault for it.
  func unlockIfLocked(isForAdministrators: Bool = false) throws(Failure) {
    let status = try call { vault in try vault.status() }
    guard status.state == "cold" || status.state == "locked" else { return }
    // Only administrators see the number of requests.
    if isForAdministrators, status.requests == nil { return }
    try unlock(because: .locked(state: status.state, cause: status.cause))
  }

  /// Asks for an unlock. A person who may not open the vault gets the reason for the unlock and learns who can open it.
  private func unlock(because fault: Fault) throws(Failure) {
    guard Keyboard.canAsk else { throw failure(ClientError.fault(fault)) }
    // The vault was open when the value was asked for.
    if TypedValue.isKept {
      // Without an earlier answer, the daemon may have ended long before this command.
      let isNew = if hasAnswered, case .locked(state: "cold", _) = fault { true } else { false }
      let event = isNew ? "the daemon was started again meanwhile, and the vault is locked" : Failure(fault).event
      Output.note("\(event); unlock it, and what was typed is stored")
    }
    let answers = Answers(fromInput: false, json: false)
    do throws(Failure) {
      try converse(answers) { vault, method, answer in
        do { try vault.unlock(method: method, answer: answer) } catch let error as ClientError {
          if case .fault(.denied) = error { mayNotOpen = true }
          throw error
        }
      }
    } catch {
      throw mayNotOpen ? failure(ClientError.fault(fault)) : withRecovery(error, answers)
    }
  }

  /// The failure of an unlock by wrong passwords; to a person, it names the recovery code if the vault has one.
  func withRecovery(_ failure: Failure, _ answers: Answers) -> Failure {
    guard let method = answers.refused, method != SlotKind.recovery.name, Keyboard.isAttended,
      let slots = try? attempt({ vault in try vault.slots() }),
      slots.contains(where: { $0.kind == SlotKind.recovery.name })
    else { return failure }
    let way = "\(Hint.vault("unlock --recovery")) opens it with the recovery code"
    return Failure(failure.exit, failure.event, [failure.advice, way].compactMap { $0 }.joined(separator: "; "))
  }

  /// Holds a conversation whose questions `answers` answers. A secret that is not accepted is asked for again, in
  /// place.
  ///
  /// - Parameters:
  ///   - takesMethod: whether the call accepts the method to ask for.
  ///   - isLast: false if another question follows; typed text stays hidden until then.
  ///   - body: the call, with that method; nil leaves the choice to the call.
  func converse<R: ~Copyable>(
    _ answers: Answers, takesMethod: Bool = true, isLast: Bool = true,
    _ body: (Vault, String?, Vault.Answer) throws -> R
  ) throws(Failure) -> R {
    defer { if isLast { answers.finish() } else { answers.rest() } }
    var method: String?
    while true {
      var fault: Fault?
      do {
        return try call { vault in
          do { return try body(vault, method, answers.answer) } catch ClientError.fault(let met) {
            fault = met
            throw ClientError.fault(met)
          }
        }
      } catch {
        guard let fault, let again = try answers.again(after: fault, takesMethod: takesMethod) else {
          answers.disownCode()
          throw answers.explained(error, fault)
        }
        method = again
      }
    }
  }

  /// Calls the daemon. If it demands an unlock or a person's presence and somebody is there, asks for that and calls
  /// again. Typed text is hidden from the first question on.
  ///
  /// - Parameter isLong: true for a call that may take long, during which a person may type ahead.
  func unlocking<R: ~Copyable>(
    for reason: String? = nil, isLong: Bool = false, _ body: (Vault) throws -> R
  ) throws(Failure) -> R {
    let purpose = vault.reason
    var hush: Hush?
    defer { hush = nil }
    // An item can need both: the unlock first, then the presence.
    for _ in 1...2 {
      var fault: Fault?
      do {
        return try call { vault in
          do { return try body(vault) } catch ClientError.fault(let met) {
            fault = met
            throw ClientError.fault(met)
          }
        }
      } catch {
        guard mayAsk, let fault else { throw error }
        switch fault {
        case .locked, .rekeyRests, .presenceRequired: if hush == nil, !isLong { hush = Hush.onTerminal() }
        default: throw error
        }
        // `reason` is only for the person who is asked; the call itself keeps its own reason.
        vault.reason = purpose ?? reason
        defer { vault.reason = purpose }
        switch fault {
        case .locked, .rekeyRests: try unlock(because: fault)
        case .presenceRequired("", _): try authenticateForGrants()
        case .presenceRequired(let name, _): try authenticate(for: name)
        default: throw error
        }
      }
    }
    hush = nil
    return try call(body)
  }

  private func authenticateForGrants() throws(Failure) {
    try converse(Answers(fromInput: false, json: false), takesMethod: false) { vault, _, answer in
      try vault.authenticateForGrants(answer: answer)
    }
  }

  private func authenticate(for name: String) throws(Failure) {
    try converse(Answers(fromInput: false, json: false), takesMethod: false) { vault, _, answer in
      try vault.authenticate(for: name, answer: answer)
    }
  }
}

extension Failure {
  /// Converts an error that was thrown through the client's closures: a ``Failure`` of this program or a
  /// ``ClientError``.
  init(any error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as ClientError: self.init(error)
    default: self.init(.software, "\(error)", "report this")
    }
  }
}
