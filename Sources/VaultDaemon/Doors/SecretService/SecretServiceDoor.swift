internal import Logging
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultSigning

/// The door for programs of the desktop: org.freedesktop.secrets on the session bus (Secret Service API Draft 0.2).
///
/// It turns calls on the bus into calls of the ``Keyring``, and the answers into messages. It decides nothing.
final class SecretServiceDoor: SecretHolder {
  /// The most sessions of one connection, and of all connections. At the first limit, a connection loses its oldest
  /// session, because SecretStorage opens a session for each item whose secret it gets, and closes none. At the second
  /// limit, the holder that has the most sessions loses its oldest one. The key of each session takes locked memory.
  /// ``KeyringPrompts`` limits the number of prompts.
  static let (mostOfOne, most) = (128, 512)

  let keyring: Keyring
  let asking: Asking
  let vault: Vault
  let turns: Turns
  /// The room for large secrets, which all doors share.
  let plaintext: Plaintext
  let bus: Bus
  let peers: BusPeers
  let name: ServedName
  /// The reason why this vault must not take the name, whatever the settings say.
  var obstacle: () -> NameProblem? = { nil }
  var standing = Standing()
  let log: Logger
  private(set) var objects: BusObjects?
  private(set) var portal: Portal?
  private(set) lazy var signals = SecretSignals(self, timer)
  let timer: Timer
  /// The open sessions and prompts, by their numbers, which are used once.
  private(set) var sessions: [Int: ClientSession] = [:]
  private(set) var prompts: [Int: ClientPrompt] = [:]
  /// The prompts that outlive this daemon.
  let kept: KeptPrompts
  /// The number that was used last. Each daemon begins at another one, so that the paths of an earlier daemon, which
  /// programs still have, stand for nothing.
  private var lastNumber = Int(RandomBytes.uniform(below: .max)) << 24
  /// The connections whose prompts end with them.
  private var prompted: Set<ObjectIdentifier> = []
  /// The connections whose searches are kept until the connection ends.
  var searchers: Set<ObjectIdentifier> = []
  /// The interfaces of each kind of object.
  private lazy var service = [serviceInterface]
  private lazy var collection = [collectionInterface]
  private lazy var item = [itemInterface]
  private lazy var session = [sessionInterface]
  private lazy var prompt = [promptInterface]

  /// - Parameters:
  ///   - folder: the folder for the file of the prompts that outlive this daemon.
  ///   - mostForPortal: the number of calls of the portal that may wait.
  init(
    _ rooms: Rooms, on bus: Bus, _ clients: Clients, _ turns: Turns, _ plaintext: Plaintext, _ timer: Timer,
    keepingIn folder: String, mostForPortal: Int, _ log: Logger
  ) {
    kept = KeptPrompts(in: folder) { turns.wait(nil, $0) }
    self.plaintext = plaintext
    keyring = Keyring(rooms)
    (asking, vault) = (rooms.asking, rooms.vault)
    (self.bus, self.turns, self.timer, self.log) = (bus, turns, timer, log)
    var limits = BusPeers.Limits()
    // Half of the portal's calls may wait before they are begun, and half after that.
    limits.withDescriptors = max(1, mostForPortal / 2)
    peers = BusPeers(on: bus, clients, turns, rooms.vault.clock, by: .secretService, limits: limits)
    name = ServedName("org.freedesktop.secrets", on: bus)
    super.init(in: rooms.vault.holders)
    name.onChange = { [unowned self] in nameChanged() }
    objects = BusObjects(under: SecretPath.root, on: bus, for: peers) { [unowned self] path throws(BusError) in
      interfaces(of: path)
    }
    portal = Portal(self, timer, most: max(1, mostForPortal - limits.withDescriptors))
    keyring.changed = { [signals] in signals.tell($0) }
    peers.confinement = { [access = rooms.access] in access.confinement(of: $0) }
    // A call of an unknown method is refused at once.
    peers.cost = { SecretCall($0.message.interface ?? "", $0.message.member ?? "")?.cost ?? .answer }
    peers.begin = { [unowned self] request, peer throws(BusError) in try begin(request, peer) }
    peers.refuses = { [unowned self] request, peer, error in record(request, peer, refusedWith: error) }
    peers.canDecide = { [access = rooms.access] in access.canDecide(about: $0.caller, otherwise: $1) }
  }

  /// Begins a call: its entry is in the audit log before its answer goes out.
  private func begin(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    vault.checkDeadlines()
    let message = request.message
    guard let call = SecretCall(message.interface ?? "", message.member ?? "") else {
      if request.fault != nil { return }
      throw .failed
    }
    request.pass = pass(of: peer.caller)
    do throws(Refusal) { try vault.audit.begin(call.terms, for: peer.caller) } catch {
      throw BusError(KeyringFault(error))
    }
  }

  /// Records a call that is refused before it is begun.
  private func record(_ request: BusRequest, _ peer: BusPeer, refusedWith error: BusError) {
    let message = request.message
    guard let call = SecretCall(message.interface ?? "", message.member ?? "") else { return }
    let caller = peer.callerOfCall()
    guard vault.audit.refuses(call.terms, with: error.outcome, for: caller, content: {}) else { return }
    request.pass = pass(of: caller)
  }

  /// Returns a closure for ``BusRequest/pass``: it stores the entry of the call, whose own caller is `caller`, before
  /// the answer is sent.
  private func pass(of caller: Caller) -> (BusError?) -> BusError? {
    { [audit = vault.audit] error in
      do throws(Refusal) { try audit.pass(error?.outcome, isLast: true, for: caller) } catch {
        return BusError(KeyringFault(error))
      }
      return nil
    }
  }

  /// True while the door serves. Setting it to true again asks once more for a name that another program owned.
  var isOn = false {
    didSet {
      keyring.isOn = isOn
      if isOn { lookAtName() } else if oldValue { name.release() }
      portal?.isOn = isOn
    }
  }

  private func nameChanged() {
    switch name.state {
    case .owned:
      log.info("secret-service: serving \(name.name)")
      signals.begin()
      takeUpKept()
    case .refused(let error): log.error("secret-service: the bus refused \(name.name): \(error)")
    // The bus is asked first which program has the name.
    case .taken, .lost, .none, .requested: break
    }
    lookAtOwner()
    tellWaiting()
  }

  /// Reads a path of a message.
  func path(_ text: String) -> SecretPath? { SecretPath(text) { keyring.collection(alias: $0) } }

  /// The interfaces of the object with this path. While the door is off, there is none: anyone on the bus may call this
  /// connection by its own name.
  private func interfaces(of path: String) -> [BusInterface]? {
    guard isOn else { return nil }
    return switch self.path(path) {
    case .service: service
    case .collection: collection
    case .item: item
    case .session(let number): sessions[number] == nil ? nil : session
    case .prompt(let number): prompts[number] == nil ? nil : prompt
    case nil: nil
    }
  }

  // MARK: Sessions and prompts

  /// The number of a new session or prompt.
  func nextNumber() -> Int {
    repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while prompts[lastNumber] != nil
    return lastNumber
  }

  /// Keeps a session for as long as its connection lasts, or until it is closed or gives way to another one.
  func keep(_ session: ClientSession) {
    let own = sessions.values.filter { $0.peer === session.peer }
    if own.count >= Self.mostOfOne {
      closeOldest(of: own)
    } else if sessions.count >= Self.most {
      closeOldest(of: sessions.values.ofHolderWithMost { peers.holder(of: $0.peer) })
    }
    let number = session.number
    sessions[number] = session
    session.release = session.peer.onEnd { [weak self] in self?.sessions[number] = nil }
  }

  private func closeOldest(of sessions: [ClientSession]) {
    if let oldest = sessions.min(by: { $0.number < $1.number }) { close(oldest) }
  }

  func close(_ session: ClientSession) {
    sessions[session.number] = nil
    session.release()
  }

  /// Keeps a prompt until the prompt or its connection ends.
  func keep(_ prompt: ClientPrompt) {
    let peer = prompt.peer
    prompts[prompt.number] = prompt
    guard prompted.insert(ObjectIdentifier(peer)).inserted else { return }
    peer.onEnd { [weak self, unowned peer] in
      guard let self else { return }
      prompted.remove(ObjectIdentifier(peer))
      for prompt in prompts.values where prompt.peer === peer { prompt.leave() }
    }
  }

  func forget(_ prompt: ClientPrompt) {
    prompts[prompt.number] = nil
    // If this daemon loses the bus, the client still waits, and the daemon's next connection takes up the prompt.
    if bus.isConnected { kept.remove(prompt.number) }
  }

  // MARK: Locks

  override func letGo(for lock: Lock) {
    if lock.reach.contains(.names) { for peer in peers.peers { peer.forgetNames() } }
    // Waiting calls that bring a secret are refused, so that the clients unlock and repeat them.
    guard lock.isEffective, lock.cause != .stop else { return }
    // The log entries of the refused calls are written together once the lock is done.
    peers.refuse(.isLocked, later: vault.hooks.afterwards) { $0.message.signature.contains(Self.secretTypes) }
  }

  override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && peers.peers.contains(where: \.mayHoldNames)
  }
}

// The names of the interfaces, and of their errors (section 9, "Errors").
extension SecretServiceDoor {
  static let serviceName = "org.freedesktop.Secret.Service"
  static let collectionName = "org.freedesktop.Secret.Collection"
  static let itemName = "org.freedesktop.Secret.Item"
  static let sessionName = "org.freedesktop.Secret.Session"
  static let promptName = "org.freedesktop.Secret.Prompt"
}

extension BusError {
  static let isLocked = BusError(
    name: "org.freedesktop.Secret.Error.IsLocked", text: "the object must be unlocked first")
  static let noSession = BusError(name: "org.freedesktop.Secret.Error.NoSession", text: "there is no such session")
  static let noSuchObject = BusError(
    name: "org.freedesktop.Secret.Error.NoSuchObject", text: "there is no such object")
  static func notSupported(_ text: String) -> BusError {
    BusError(name: "org.freedesktop.DBus.Error.NotSupported", text: text)
  }

  /// True for an error that leaves unknown which items exist: the vault is locked, or it fails.
  var hidesItems: Bool { self == .isLocked || outcome == .failed }

  /// The outcome of a call that ends with this error, for the audit log.
  var outcome: AuditOutcome {
    if self == .isLocked { return .locked }
    // The client has left before the end of a call that takes several turns.
    if self == .disconnected { return .cancelled }
    if self == .noSuchObject || self == .noSession { return .missing }
    if name == BusError.denied("").name { return .denied }
    return name == BusError.failed.name ? .failed : .invalid
  }

  init(_ fault: KeyringFault) {
    switch fault {
    case .isLocked: self = .isLocked
    case .noSuchObject: self = .noSuchObject
    case .readOnly: self = .notSupported("this cannot be changed here")
    case .refused(.denied(let reason)): self = .denied(reason)
    case .limitsExceeded(let refusal): self = .tooMuch(refusal.reason)
    case .refused(let refusal): self = BusError(name: BusError.failed.name, text: refusal.reason)
    }
  }
}

/// Runs `body`, and turns a fault of the keyring into an error for the bus.
func asked<R>(_ body: () throws(KeyringFault) -> R) throws(BusError) -> R {
  do throws(KeyringFault) { return try body() } catch { throw BusError(error) }
}
