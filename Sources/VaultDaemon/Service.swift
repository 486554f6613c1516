internal import Logging
internal import NIOCore
internal import VaultAPI
internal import VaultModel
internal import VaultStore

/// The daemon's one serial domain: the vault, its lock state and everybody who is connected.
///
/// It lives on the event loop and is called there alone, so it needs no lock; only Argon2id leaves the loop. The calls
/// are in extensions, one file for each group of methods.
final class Service {
  let loop: any EventLoop
  let clock: Clock
  let paths: Paths
  let log: Logger
  let workers: Workers
  let plaintext = Plaintext()

  var configuration: Configuration
  var vault: OpenVault
  var policy: LockPolicy
  var state: LockState
  var backoff: Backoff
  var backoffFile: BackoffFile
  var conversations: [String: Conversation] = [:]
  /// Whose secret is being checked right now; a second attempt beside it would escape the backoff.
  var checking: Set<Backoff.Caller> = []
  var waiters: [ObjectIdentifier: Waiter] = [:]
  var monitors: [ObjectIdentifier: Connection] = [:]
  var warnings: [String]
  /// How many refused clients are still connected.
  var lingering = 0
  /// Arms the timer for the next deadline, `CLOCK_BOOTTIME` nanoseconds.
  var arm: (Int64?) -> Void = { _ in }

  private var connections: [ObjectIdentifier: Connection] = [:]
  private var rates: [UInt32: RequestRate] = [:]
  /// How long the machine had slept when the vault was unlocked.
  private var sleptAtUnlock: Int64 = 0
  private let owner: UInt32

  init(
    loop: any EventLoop, clock: Clock, paths: Paths, configuration: Configuration, log: Logger, owner: UInt32,
    warnings: [String]
  ) {
    self.loop = loop
    self.clock = clock
    self.paths = paths
    self.configuration = configuration
    self.log = log
    self.owner = owner
    self.warnings = warnings
    workers = Workers()
    policy = LockPolicy(idleAfter: configuration.idle, maximumAge: configuration.maximumAge)
    vault = OpenVault(directory: paths.store)
    backoffFile = BackoffFile(directory: paths.store)
    backoff = backoffFile.read(now: clock.boot())
    state = LockState(kind: .new, cause: .start, since: clock.wall())
    openStore(cause: .start)
  }

  // MARK: Who may connect

  /// Why this peer is not served, or nil when it is.
  func refusal(of peer: Peer) -> Fault? {
    if peer.uid != owner {
      return .denied(reason: "this vault serves uid \(owner) alone, and you are uid \(peer.uid)")
    }
    return connections.count >= configuration.maxConnections ? .tooManyConnections : nil
  }

  /// Whether a refused client may be given the time to read why: not when there are many.
  var mayLinger: Bool { lingering < 64 }

  func admit(_ connection: Connection) { connections[ObjectIdentifier(connection)] = connection }

  func leave(_ connection: Connection) {
    let id = ObjectIdentifier(connection)
    connections[id] = nil
    monitors[id] = nil
    waiters[id] = nil
  }

  /// What the connections of this peer's uid may ask for together.
  func rate(of peer: Peer) -> RequestRate {
    if let rate = rates[peer.uid] { return rate }
    let rate = RequestRate(perSecond: configuration.maxRequestsPerSecond, now: clock.monotonic())
    rates[peer.uid] = rate
    return rate
  }

  func closeConnections() {
    for connection in connections.values { connection.close() }
  }

  // MARK: The lock state

  /// Opens the store if it is not open, and says what came of it.
  func openStore(cause: LockState.Cause) {
    if case .open = vault.content { return }
    let before = state.kind
    vault.open(bootKey: configuration.bootKey ?? paths.store + "/boot.key")
    let kind: LockState.Kind
    switch vault.content {
    case .none: kind = .new
    case .unreadable: kind = .unreadable
    case .open: kind = .cold
    }
    if kind != before { change(to: kind, cause: cause) }
  }

  /// The vault was opened by its key: what waited for it goes on.
  func unlocked(by cause: LockState.Cause, for seconds: Int64?) {
    sleptAtUnlock = clock.slept
    policy.unlocked(at: clock.boot(), for: seconds)
    change(to: .unlocked, cause: cause)
    arm(policy.next?.at)
    let ready = waiters.values
    waiters = [:]
    for waiter in ready { waiter.go() }
  }

  /// Wipes what must not outlive a lock. Without an effect unless unlocked.
  func lock(because cause: LockState.Cause) {
    guard state.kind == .unlocked, case .open(let keychain) = vault.content else { return }
    keychain.lock(hidingNames: configuration.hideNames)
    policy.locked()
    arm(nil)
    change(to: .locked, cause: cause)
  }

  /// Wipes every key, at the daemon's end.
  func wipe() {
    if case .open(let keychain) = vault.content { keychain.wipe() }
    for conversation in conversations.values { conversation.end() }
    conversations = [:]
  }

  /// Locks if a deadline has passed or the machine has slept. Runs when the timer fires and before every request, so
  /// that the first request after a resume finds the vault locked.
  func checkDeadlines() {
    guard state.kind == .unlocked else { return }
    // Reading two clocks is not atomic: only a gap of a second or more is a sleep.
    if clock.hasSlept(since: sleptAtUnlock) { return lock(because: .resume) }
    if let due = policy.due(at: clock.boot()) { return lock(because: LockState.Cause(due.reason)) }
  }

  func timerFired() {
    checkDeadlines()
    arm(policy.next?.at)
  }

  /// A person is there: the idle deadline moves. A system service that claims so is not believed.
  func personAsked(_ interactive: Bool?, _ connection: Connection) {
    guard interactive == true, state.kind == .unlocked, !connection.peer.isSystemService else { return }
    policy.personAsked(at: clock.boot())
    arm(policy.next?.at)
  }

  /// Takes new settings over; the deadlines of a running unlock follow them at once.
  func reconfigure(_ new: Configuration) {
    configuration = new
    policy.idleAfter = new.idle
    policy.maximumAge = new.maximumAge
    for rate in rates.values { rate.change(perSecond: new.maxRequestsPerSecond) }
    timerFired()
  }

  private func change(to kind: LockState.Kind, cause: LockState.Cause) {
    state = LockState(kind: kind, cause: cause, since: clock.wall())
    log.info("\(kind.rawValue): \(cause.text)")
    announce(stateEvent)
  }
}
