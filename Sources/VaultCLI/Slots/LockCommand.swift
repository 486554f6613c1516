internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Wipe the keys from the daemon's memory.",
    discussion: """
      If no daemon of yours runs, nothing is open, so this is not an error. A daemon that serves the vault at another \
      socket, or that cannot be reached because XDG_RUNTIME_DIR is missing, is told to lock by a signal.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let outcome = try lock()
    if let note = outcome.note { Output.note(note) }
    guard globals.json else { return }
    try Output.json { object in
      object.add("locked", true)
      object.add("daemon", outcome.hasDaemon)
    }
  }

  private func lock() throws(Failure) -> Outcome {
    if Session.isOwn(socket: globals.socket, system: globals.system) {
      do throws(ClientError) { _ = try SocketLocation.user() } catch {
        if let reason = error.lackOfPlace { return try Self.lockElsewhere(than: .none(reason), isSystem: false) }
      }
    }
    return try lock(Session(globals, startsDaemon: false))
  }

  /// The outcome of a lock that succeeded.
  private struct Outcome {
    var hasDaemon = true
    var note: String?
  }

  /// The time limit for the lock. A program that waits for this command, usually a screen locker, must not wait longer.
  private static let patience = Duration.seconds(2)

  /// Locks the vault. A daemon that closes the connection may continue with its keys, and so may one that listens
  /// elsewhere: nothing is open only if no process has the lock of the store.
  private func lock(_ session: Session) throws(Failure) -> Outcome {
    session.vault.timeout = Self.patience
    let isNamed = !session.isOwn && !session.isSystem
    let isSystem = session.isSystem
    return try session.call { vault in
      // The standing process starts before the daemon is asked. From here on, the lock does not depend on how the
      // command ends.
      var standing = StandingLock(at: vault.location) {
        guard !isNamed, case .held(let holder) = StoreHolder.find(system: isSystem) else { return }
        _ = holder.lock(within: .zero)
      }
      do {
        try vault.lock()
        standing.take()?.callOff()
        return Outcome()
      } catch let error as ClientError where StandingLock.mayPass(error) {
        guard let standing = standing.take() else {
          throw Failure(.retry, "the daemon has not confirmed the lock", "see \(Hint.vault("doctor"))")
        }
        standing.begin()
        throw Failure(
          .retry, "the daemon has not confirmed the lock",
          "vault keeps asking it, and it locks as soon as it can; see \(Hint.vault("status"))")
      } catch ClientError.fault(.noVault) where !isNamed {
        standing.take()?.callOff()
        return Outcome(note: "there is no vault yet, so nothing is unlocked")
      } catch ClientError.fault(.misconfigured(let reason)) where !isNamed {
        standing.take()?.callOff()
        return try Self.lockOther(than: vault, reason, isSystem: isSystem)
      } catch {
        defer { standing.take()?.callOff() }
        if case .unsafeSocket(let reason)? = error as? ClientError, !isNamed, !isSystem {
          let place = StoreHolder.Place.none("its place cannot be trusted: \(Printable.text(reason))")
          return try Self.lockElsewhere(than: place, isSystem: false)
        }
        guard let error = error as? ClientError, Self.isAbsence(error) else { throw error }
        guard !isNamed else { throw Self.nobody(at: vault.location.path) }
        return try Self.lockElsewhere(
          than: .socket(vault.location.path), isImpossible: vault.location.problem != nil, isSystem: isSystem)
      }
    }
  }

  /// Returns true for an error after which another process may have the vault open: no daemon listens at the socket,
  /// or the one that does has found the lock of the store taken.
  static func mayBeElsewhere(_ error: ClientError) -> Bool {
    if case .fault(.misconfigured) = error { true } else { isAbsence(error) }
  }

  /// Returns true for an error that says that no daemon listens at the socket.
  private static func isAbsence(_ error: ClientError) -> Bool {
    switch error {
    case .noDaemon, .impossibleSocket: true
    case .fault, .noRuntimeDirectory, .relativeRuntimeDirectory, .emptySocketPath, .foreignFolder, .notUTF8,
      .unsafeSocket, .daemonFailed, .disconnected, .timedOut, .protocolViolation, .tooLarge, .answerTooLarge, .notText,
      .system:
      false
    }
  }

  /// The failure if nobody listens at a socket that somebody named, about whose vault nothing is known.
  private static func nobody(at path: String) -> Failure {
    Failure(
      .unavailable, "no daemon listens on \(Printable.text(path)), so nothing was locked",
      "name the socket of the daemon to lock")
  }

  /// Locks the vault of a daemon that does not listen at `place`, if there is one.
  ///
  /// - Parameter isImpossible: true if no daemon can listen there, so that a running daemon listens elsewhere.
  private static func lockElsewhere(
    than place: StoreHolder.Place, isImpossible: Bool = true, isSystem: Bool
  ) throws(Failure) -> Outcome {
    let holder: StoreHolder
    switch StoreHolder.find(system: isSystem) {
    case .noStore(let folder) where isImpossible:
      throw Failure(
        .configuration,
        "\(place.absence), and there is no store in \(Printable.text(folder)), so no vault was found, and none was "
          + "locked",
        "set XDG_RUNTIME_DIR and XDG_DATA_HOME as the session has them, or give --socket")
    case .none, .noStore:
      if !isSystem, let store = StorePaths(system: false) {
        if let failure = OtherDaemons.unlocked(beside: store.directory) { throw failure }
      }
      return Outcome(hasDaemon: false, note: "no daemon is running, so nothing is unlocked")
    case .hidden(let reason):
      let unknown = StoreHolder.unknown(.retry, at: place, reason)
      throw Failure(unknown.exit, "\(unknown.event); nothing was locked", unknown.advice)
    case .held(let found): holder = found
    }
    return try lock(holder, elsewhere: place)
  }

  /// Locks the vault of the process that has the lock of the store, if the daemon at the usual socket has not opened
  /// the store because of that.
  ///
  /// - Parameter reason: the daemon's refusal in words.
  private static func lockOther(than vault: Vault, _ reason: String, isSystem: Bool) throws(Failure) -> Outcome {
    // The daemon may have its store elsewhere than this program would look for it.
    let folder = (try? vault.status())?.store ?? StorePaths(system: isSystem)?.directory
    switch folder.map({ StoreHolder.find(in: $0) }) {
    case .held(let holder): return try lock(holder, elsewhere: .socket(vault.location.path))
    case .some(.none), .noStore:
      return Outcome(note: "the process that served this vault has ended, so nothing is unlocked")
    case .hidden, nil:
      throw Failure(.retry, "\(Printable.text(reason)); nothing was locked", OtherDaemons.remedy)
    }
  }

  /// Has a process that does not listen at `place` lock the vault.
  private static func lock(_ holder: StoreHolder, elsewhere place: StoreHolder.Place) throws(Failure) -> Outcome {
    let event = holder.elsewhere(than: place)
    switch holder.lock(within: patience) {
    case .locked: return Outcome(note: "\(event); it has locked the vault")
    case .ended: return Outcome(hasDaemon: false, note: "\(event); it has ended, so nothing is unlocked")
    case .unconfirmed:
      throw Failure(
        .retry, "\(event), and has not confirmed the lock",
        "it was sent the signal to lock, and locks as soon as it runs; \(holder.end)")
    case .unsent(let reason):
      throw Failure(.retry, "\(event), and cannot be told to lock: \(reason)", holder.end)
    }
  }
}
