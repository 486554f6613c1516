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
      if isSystem || mayNotOpen { return Failure(failure.exit, failure.event, openers) }
    default: break
    }
    return failure
  }

  /// The failure of a search where nobody is there to open the vault first.
  var cold: Failure { failure(ClientError.fault(.locked(state: "cold", cause: ""))) }

  /// Advice that names who can open the vault, for those who may not.
  private var openers: String {
    isSystem
      ? "root or a member of \(SystemAccount.administrators) opens it with `vault --system unlock`"
      : "whoever owns the vault opens it with `vault unlock`"
  }

  /// True when every item can be searched. Until the first unlock only the names of `always` items can be read, so that
  /// is what a person is asked for first.
  func canSearch() throws(Failure) -> Bool {
    let status = try call { vault in try vault.status() }
    guard status.state == "cold" else { return true }
    guard isAttended else { return false }
    do throws(Failure) { try unlock(because: .locked(state: status.state, cause: status.cause)) } catch {
      // As where nobody is there.
      guard mayNotOpen else { throw error }
      return false
    }
    return true
  }

  /// Asks for the unlock when the vault is locked; somebody has to be there to ask.
  func unlockIfLocked() throws(Failure) {
    let status = try call { vault in try vault.status() }
    guard status.state == "cold" || status.state == "locked" else { return }
    try unlock(because: .locked(state: status.state, cause: status.cause))
  }

  /// Asks for the unlock. A person who may not open the vault is told why that was to be done, and who can.
  private func unlock(because fault: Fault) throws(Failure) {
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
  ///   - body: the call, with that method; nil where the call decides.
  func converse<R: ~Copyable>(
    _ answers: Answers, takesMethod: Bool = true, _ body: (Vault, String?, Vault.Answer) throws -> R
  ) throws(Failure) -> R {
    defer { answers.finish() }
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

  /// Calls the daemon, and again after what it asks for, an unlock or a person's presence, when somebody is there.
  func unlocking<R: ~Copyable>(for reason: String? = nil, _ body: (Vault) throws -> R) throws(Failure) -> R {
    let purpose = vault.reason
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
        guard isAttended, let fault else { throw error }
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
