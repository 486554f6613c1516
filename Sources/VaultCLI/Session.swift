internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultWire

/// One run of the program against one daemon, which it starts when there is none and it may.
final class Session {
  var vault: Vault
  /// True for the user's own socket, where a command that needs a daemon starts one.
  let isOwn: Bool
  /// True for the machine's vault.
  private let isSystem: Bool
  /// True once the daemon has said that who runs this may not open the vault.
  private var mayNotOpen = false
  /// True when a person may be asked at the terminal. Another program may have said that nobody is.
  var isAttended = Keyboard.isAttended {
    didSet { vault.interactive = isAttended }
  }
  /// True where there is a terminal to ask that person on.
  var mayAsk: Bool { isAttended && Keyboard.canAsk }
  private var mayStart: Bool
  /// True for a command that becomes another program, which must not have a daemon for a child that it knows nothing of.
  var leavesNoChild = false

  convenience init(_ globals: Globals, startsDaemon: Bool = true) throws(Failure) {
    try self.init(socket: globals.socket, system: globals.system, startsDaemon: startsDaemon)
  }

  /// - Parameter startsDaemon: whether a daemon is started when none listens on the user's own socket. One at a path
  ///   somebody named is never started: it may stand for a vault elsewhere.
  init(socket: String?, system: Bool, startsDaemon: Bool) throws(Failure) {
    do throws(ClientError) {
      vault = Vault(at: system ? .system : try .user(explicit: socket))
    } catch {
      throw Failure(error)
    }
    isOwn = Session.isOwn(socket: socket, system: system)
    isSystem = system
    mayStart = startsDaemon && isOwn
    vault.interactive = isAttended
    // Waiting for one that restarts only delays the start of one, or the news that there is none.
    if mayStart || !startsDaemon { vault.patience = .zero }
  }

  /// Has it start no daemon from now on: what goes on for long waits for the next one, which somebody else starts.
  func startNone() { mayStart = false }

  /// True for the user's own socket, at the place that nobody named.
  static func isOwn(socket: String?, system: Bool) -> Bool {
    !system && socket == nil && (Environment.variable("VAULT_SOCKET") ?? "").isEmpty
  }

  /// Calls the daemon, and once more after starting one when nobody listens.
  func call<R: ~Copyable>(_ body: (Vault) throws -> R) throws(Failure) -> R {
    do {
      return try body(vault)
    } catch ClientError.noDaemon where mayStart {
      mayStart = false
      if leavesNoChild { startApart() }
      // One that listens by now is all that is wanted.
      do throws(ClientError) { try Daemon.ensure(at: vault.location) } catch { throw Failure(error) }
      vault.patience = Connection.defaultPatience
    } catch {
      throw failure(error)
    }
    do { return try body(vault) } catch { throw failure(error) }
  }

  /// Calls the daemon for what the command can do without: nil where that is refused.
  ///
  /// - Throws: the failure where the daemon did not answer in time; the command's next call would wait as long again.
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

  /// Has a process of its own start the daemon and end, so that the daemon is not this one's child. If it fails, the next
  /// attempt here says why.
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
    case .fault(.noSuchItem(let name, _)): failure.missing = MissingItem(name: name, location: vault.location)
    case .fault(.locked), .fault(.timedOut), .fault(.rekeyRests):
      // Most callers of the machine's vault may not open it.
      if isSystem || mayNotOpen || isAnothers { return Failure(failure.exit, failure.event, openers) }
    default: break
    }
    return failure
  }

  /// True where the socket is another user's, whose vault that user and root alone open.
  private var isAnothers: Bool {
    var status = stat()
    guard geteuid() != 0, unsafe lstat(vault.location.path, &status) == 0 else { return false }
    return status.st_uid != geteuid()
  }

  /// Advice that names who can open the vault, for those who may not.
  private var openers: String {
    let way = "opens it with `\(Hint.line("unlock", isSystem: isSystem))`"
    return isSystem ? "root or a member of \(SystemAccount.administrators) \(way)" : "whoever owns the vault \(way)"
  }

  /// The names that a search comes to.
  enum Sight {
    case all
    /// Those alone that can be read before an unlock, and nobody is there to open the vault.
    case some(Failure, isCold: Bool)
  }

  /// Asks for the unlock where some names cannot be read before: until the first one, and after each lock where names are
  /// hidden. What is not found then must not look as if it were not there.
  func sight() throws(Failure) -> Sight {
    let status = try call { vault in try vault.status() }
    // Daemons before 2026-12 tell the first of the two alone.
    guard status.namesHidden ?? (status.state == "cold") else { return .all }
    let (fault, isCold) = (Fault.locked(state: status.state, cause: status.cause), status.state == "cold")
    guard mayAsk else { return .some(failure(ClientError.fault(fault)), isCold: isCold) }
    do throws(Failure) { try unlock(because: fault) } catch {
      // As where nobody is there.
      guard mayNotOpen else { throw error }
      return .some(error, isCold: isCold)
    }
    return .all
  }

  /// Throws where a search would miss items; see ``sight()``.
  func needAllNames() throws(Failure) {
    if case .some(let failure, _) = try sight() { throw failure }
  }

  /// Asks for the unlock when the vault is locked; somebody has to be there to ask.
  func unlockIfLocked() throws(Failure) {
    let status = try call { vault in try vault.status() }
    guard status.state == "cold" || status.state == "locked" else { return }
    try unlock(because: .locked(state: status.state, cause: status.cause))
  }

  /// Asks for the unlock. A person who may not open the vault is told why that was to be done, and who can.
  private func unlock(because fault: Fault) throws(Failure) {
    guard Keyboard.canAsk else { throw failure(ClientError.fault(fault)) }
    do throws(Failure) {
      try converse(Answers(fromInput: false, json: false)) { vault, method, answer in
        do { try vault.unlock(method: method, answer: answer) } catch let error as ClientError {
          if case .fault(.denied) = error { mayNotOpen = true }
          throw error
        }
      }
    } catch {
      throw mayNotOpen ? failure(ClientError.fault(fault)) : error
    }
  }

  /// Holds a conversation that `answers` has the answers for. A secret that is not accepted is asked for again, in place.
  ///
  /// - Parameters:
  ///   - takesMethod: whether the call can be told the method that it is to ask for.
  ///   - isLast: false where another question follows, until which nothing typed shows.
  ///   - body: the call, with that method; nil where the call decides.
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
          throw answers.explained(error, fault)
        }
        method = again
      }
    }
  }

  /// Calls the daemon, and again after what it asks for, an unlock or a person's presence, when somebody is there. Nothing
  /// that is typed shows from the first question on.
  ///
  /// - Parameter isLong: true for a call that may take its time, during which somebody types what comes next.
  func unlocking<R: ~Copyable>(
    for reason: String? = nil, isLong: Bool = false, _ body: (Vault) throws -> R
  ) throws(Failure) -> R {
    let purpose = vault.reason
    var hush: Hush?
    defer { hush = nil }
    // An item can need both, the unlock first.
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
        // What a person is asked for is not what the call is for.
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
  /// The error that was thrown through the client's closures: a failure of ours, or of the client's.
  init(any error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as ClientError: self.init(error)
    default: self.init(.software, "\(error)", "report this")
    }
  }
}
