internal import Logging
internal import NIOCore
internal import VaultModel
internal import VaultService

/// All parts of a daemon except its sockets and its signals, put together on one loop.
final class Assembly {
  let rooms: Rooms
  let door: VarlinkDoor
  private let credentials: CredentialDoor
  private let ssh: SSHAgentDoor
  /// The Secret Service; nil for the machine's vault.
  private let secrets: SecretServiceDoor?
  private let loop: any EventLoop
  let clients: Clients
  private let settings: SettingsFile
  /// True for the machine's vault, which has no ssh-agent.
  private let isSystem: Bool
  let turns: Turns
  let transferThread: WorkerThread
  private let backlog: Backlog
  private let keystores: MachineKeystores
  private let ends: HelperEnds
  private let worker: WorkerThread

  /// The surroundings of a daemon.
  struct Place {
    let loop: any EventLoop
    let watcher: DescriptorWatcher
    let clock: Clock
    let timer: Timer
    let paths: Paths
    let openFiles: OpenFiles
    /// True for the machine's vault.
    let isSystem: Bool
    let owner: UInt32
    /// The group whose members administer the vault; nil for none.
    let administrators: UInt32?
    let log: Logger
    /// Reads the daemon's own environment.
    let environment: (String) -> String?
  }

  /// Opens the store, and begins to listen for events that lock the vault. Call this on the loop, at start, before
  /// there is another thread.
  ///
  /// - Parameter doubt: the reason why the settings file was refused, if `configuration` holds the defaults instead.
  init(_ place: Place, _ configuration: Configuration, doubt: String? = nil) throws(SystemError) {
    let (loop, clock) = (place.loop, place.clock)
    self.loop = loop
    isSystem = place.isSystem
    settings = SettingsFile(place.paths, configuration, doubt: doubt, place.log, wall: clock.wall)
    ends = HelperEnds()
    worker = WorkerThread(telling: loop)
    transferThread = WorkerThread(telling: loop)
    let buses = try Buses(
      on: loop, place.watcher, clock, place.log, system: place.isSystem, place.openFiles,
      environment: place.environment)
    let helper = PresenceHelper(
      loop: loop, watcher: place.watcher, ends: ends, paths: place.paths, variable: place.environment)
    let programs = HelperPrograms(loop: loop, watcher: place.watcher, ends: ends, variable: place.environment)
    keystores = MachineKeystores(
      programs, worker,
      directory: place.paths.store, configuration)
    let timer = place.timer
    turns = Turns(on: loop, clock: clock)
    backlog = Backlog(now: clock.monotonic)
    turns.letIn = { [backlog] in backlog.letIn() }
    rooms = Rooms(
      directory: place.paths.store,
      Access.Terms(
        owner: place.owner, isSystem: place.isSystem,
        administrators: place.administrators), configuration.vault,
      Rooms.World(
        clock: clock, timer: timer, log: Log(place.log), worker: worker, turns: turns,
        runner: Runner(on: loop, clock: clock, timer, beside: turns),
        presence: Presence.Means(through: helper, buses.system, owner: place.owner, worker), keystores: keystores,
        rsa: RSAHelper(programs), credentials: place.paths.credentials, groups: Accounts.groups))
    clients = Clients(
      owner: place.owner, clock: clock, openFiles: place.openFiles, configuration, ProgramReader(on: loop, timer))
    door = VarlinkDoor(
      loop: loop, rooms, clients, turns: turns, timer: timer, transferThread: transferThread,
      lastWordThread: WorkerThread(telling: loop))
    credentials = CredentialDoor(
      rooms, clients, door.plaintext, timer: timer, DescriptorStore(place.environment("NOTIFY_SOCKET")),
      most: place.openFiles.credentials)
    ssh = SSHAgentDoor(
      rooms, clients, turns, timer: timer, home: place.environment("HOME"), most: place.openFiles.ssh,
      isOn: configuration.sshAgent)
    secrets = buses.session.map { [rooms, clients, turns, door] bus in
      SecretServiceDoor(
        rooms, on: bus, clients, turns, door.plaintext, timer, keepingIn: place.paths.runtime,
        mostForPortal: place.openFiles.portal, place.log)
    }
    let announce = rooms.vault.hooks.announce
    rooms.vault.hooks.announce = { [unowned ssh, unowned(safe) secrets] event in
      announce(event)
      ssh.keys.happened(event)
      secrets?.keyring.happened(event)
      // Another vault, such as a restored one, has other slots.
      if case .state = event { secrets?.lookAtName() }
    }
    prepareSecrets(place.environment)
    secrets?.isOn = configuration.secretService
    door.triggers = LockTriggers(
      on: buses, system: place.isSystem, uid: place.owner, onSleep: { [unowned self] in goToSleep(then: $0) },
      onLock: { [vault = rooms.vault] in vault.lock(because: $0) })
    door.refusedSettings = { [settings] in settings.refused }
    door.obstacle = { [settings] in settings.obstacle }
    door.reload = { [unowned self] (caller) throws(Refusal) in try reload(for: caller) }
    door.sshAgent = { [ssh, isSystem] caller in isSystem ? nil : ssh.state(for: caller) }
    door.canCountKeys = { [ssh, isSystem] line, then in isSystem || ssh.canCountKeys(line, otherwise: then) }
  }

  /// Keeps the Secret Service off a bus name whose keyring has a key of this vault, and gives the Secret Service to the
  /// Varlink door.
  private func prepareSecrets(_ environment: (String) -> String?) {
    guard let secrets else { return }
    door.secrets = secrets
    let variable = environment("SECRET_SERVICE_BUS_NAME")
    secrets.obstacle = { [unowned self, unowned secrets] in
      let keyring = keystores.configuration.keyringBusName ?? variable ?? secrets.name.name
      let slots = rooms.waysIn.slots(in: .keyring)
      guard keyring == secrets.name.name, let slot = slots.first else { return nil }
      return SecretServiceDoor.NameProblem(
        "slot \(slot) keeps its key in the keyring at \(keyring), so this vault cannot be that keyring",
        "remove the slot with `vault slot remove \(slot)`, or name another keyring with keyring-bus-name")
    }
    rooms.vault.hooks.slotsChanged = { [unowned secrets] in secrets.lookAtName() }
  }

  /// Starts to accept connections; the future completes once all sockets accept.
  func listen(on sockets: Sockets) -> EventLoopFuture<Void> {
    var listening = [
      Server.start(sockets.clients, loop: loop, backlog) { [door] in try VarlinkConnection($0, door) }.map { _ in }
    ]
    if let socket = sockets.credentials {
      listening.append(
        Server.start(socket, loop: loop, backlog) { [credentials] in
          CredentialConnection($0, credentials)
        }.map { _ in })
    }
    if let socket = sockets.ssh {
      ssh.socket = SocketName.path(of: socket.descriptor)
      listening.append(
        Server.start(socket, loop: loop, backlog) { [ssh] in try SSHAgentConnection($0, ssh) }.map { _ in })
    }
    // A kept connection that has ended in the meantime fails here and is ignored.
    for kept in sockets.kept {
      _ = Server.adopt(kept, loop: loop) { [credentials] in CredentialConnection($0, credentials) }
    }
    return EventLoopFuture.andAllSucceed(listening, on: loop)
  }

  /// Applies new settings; they change the deadlines of a running unlock at once.
  ///
  /// - Parameters:
  ///   - changed: the names of the settings that have changed.
  ///   - caller: the caller of Reload; nil for a signal.
  func reconfigure(_ new: Configuration, changed: [String] = [], for caller: VaultService.Caller? = nil) {
    keystores.configuration = new
    clients.reconfigure(new)
    ssh.isOn = new.sshAgent
    secrets?.isOn = new.secretService
    rooms.reconfigure(new.vault, changed: changed, for: caller)
    secrets?.signals.tell(.collections)
  }

  /// Reads the settings again and applies them; they change the deadlines of a running unlock at once.
  ///
  /// - Parameter caller: the caller of Reload; nil for a signal.
  @discardableResult
  func reload(for caller: VaultService.Caller? = nil) throws(Refusal) -> SettingsFile.Change {
    do throws(Refusal) {
      return try settings.readAgain { reconfigure($0, changed: $1, for: caller) }
    } catch {
      rooms.refuseSettings(error, for: caller)
      throw error
    }
  }

  /// Locks the vault before the machine sleeps, and runs `ready` when no key is left. A key may be left in a thread
  /// that is still at work, or in a helper program that was ended, by this lock or earlier, but is not gone yet.
  func goToSleep(then ready: @escaping () -> Void) {
    rooms.vault.lock(because: .sleep)
    ends.whenAllGone { [worker, transferThread, upkeep = rooms.upkeep] in
      worker.whenIdle { if upkeep.isTransferring { transferThread.whenIdle(ready) } else { ready() } }
    }
  }

  /// Wipes every key when the daemon ends, also the keys in helper programs, even in a program whose answer nobody
  /// waits for. Only the audit log keeps a key until the store is closed, for the entries that are still to be written.
  func wipe() { ends.endAll { rooms.wipe() } }

  /// Ends all connections. Each socket first takes as much of the unsent answers as it can.
  func closeConnections() {
    backlog.close()
    door.entrance.close()
    credentials.end()
    ssh.end()
  }
}

extension Log {
  init(_ logger: Logger) {
    self.init { level, text in
      switch level {
      case .info: logger.info("\(text)")
      case .warning: logger.warning("\(text)")
      case .error: logger.error("\(text)")
      }
    }
  }
}
