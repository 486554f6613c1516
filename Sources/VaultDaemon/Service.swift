internal import Logging
internal import NIOCore
internal import VaultAPI
internal import VaultCore
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
  let programs: HelperPrograms
  /// The large replies that wait for their clients.
  lazy var plaintext = Plaintext(
    in: turns, now: clock.monotonic,
    after: { [unowned self] delay, work in loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay), work) })
  /// For the value that is being stored.
  let valueInHand = Scratch()

  var configuration: Configuration
  var vault: OpenVault
  var policy: LockPolicy
  var state: LockState
  var backoff: Backoff
  var backoffFile: BackoffFile
  var conversations: [String: Conversation] = [:]
  /// The uids for which a key is being derived from a secret: one derivation at a time for each. A second attempt beside
  /// one would escape the backoff.
  var deriving: Set<UInt32> = []
  /// The proofs of presence, for the items that ask for it.
  var authorizations = Authorizations()
  /// The presence keys of `memory` slots.
  var retained = RetainedKeys()
  /// The `file` keys that lay beside the store when it was opened, by their locators, until it is known which are of use.
  var earlierKeys: Set<[UInt8]> = []
  /// The renewal that has PAM slots count for other fingers, and holds the vault key for it.
  var slotRenewal: SlotRenewal?
  /// The rekey that is under way, while the vault is unlocked.
  var rekeying: Rekeying?
  /// The prompt for a person's presence that is being shown.
  var presencePrompt: PresencePrompt?
  /// Until when a dismissed prompt is not shown again, `CLOCK_BOOTTIME` nanoseconds.
  var dismissals: [PresencePrompt.Question: Int64] = [:]
  /// The backup or the restore that is under way.
  var transfer: Transfer?
  /// Its own thread, so that an unlock never waits for a backup.
  lazy var transferThread = Workers()
  /// The turns by which the loop is shared among the clients.
  lazy var turns = Turns(on: loop, clock: clock)
  /// The events that those who watch are still to be told. It has turns of its own: a lock is told of before the work
  /// that waits.
  lazy var events = Events(in: Turns(on: loop, clock: clock, length: Turns.telling))
  /// Calls that wait for an unlock.
  let waiters = WaitingCalls()
  /// Calls that wait for the boot key, not for a person.
  let bootWaiters = WaitingCalls()
  /// The number of refused clients that are still connected.
  var lingering = 0
  /// Arms the timer for the next deadline, `CLOCK_BOOTTIME` nanoseconds.
  var arm: (Int64?) -> Void = { _ in }
  /// The clients that wait for the check of all records, and the turns it gets.
  var check = IntegrityCheck()
  /// The salvage of a damaged store that is under way, or was made.
  var salvaging: Salvaging?
  var salvageTurns: LoopTurns?
  /// The other events that lock the vault; set once, right after the service was made.
  var triggers: LockTriggers?

  private(set) var connections: [ObjectIdentifier: Connection] = [:]
  /// The number of bytes that the connections of a uid have sent and that are not handled yet.
  var pendingBytes: [UInt32: Int] = [:]
  private var heardCount = 0
  let openFiles: OpenFiles
  private var rates: [UInt32: RequestRate] = [:]
  private var lastReader: ObjectIdentifier?
  /// The process behind the connection that was looked at last: one descriptor for all, and the usual question costs one
  /// poll(2).
  private var lastProcess: (connection: ObjectIdentifier, process: PeerProcess)?
  /// The time that the machine had slept when the daemon started, the vault was unlocked or a sleep was last noticed.
  private var sleptBefore: Int64
  let owner: UInt32
  /// True when it is the machine's vault.
  let isSystem: Bool
  let presenceHelper: PresenceHelper
  init(
    loop: any EventLoop, clock: Clock, paths: Paths, configuration: Configuration, programs: HelperPrograms,
    presenceHelper: PresenceHelper, openFiles: OpenFiles, isSystem: Bool, log: Logger, owner: UInt32
  ) {
    self.loop = loop
    self.presenceHelper = presenceHelper
    self.openFiles = openFiles
    self.isSystem = isSystem
    self.programs = programs
    self.clock = clock
    self.paths = paths
    self.configuration = configuration
    self.log = log
    self.owner = owner
    workers = Workers()
    sleptBefore = clock.slept
    policy = LockPolicy(idleAfter: configuration.idle, maximumAge: configuration.maximumAge)
    vault = OpenVault(directory: paths.store)
    backoffFile = BackoffFile(directory: paths.store)
    backoff = backoffFile.read(now: clock.boot()) { reason in
      log.warning("failed attempts are not known, so that everyone waits a minute: \(reason)")
    }
    state = LockState(kind: .new, cause: .start, since: clock.wall())
    openStore(cause: .start)
  }

  // MARK: Who may connect

  /// The reason why this peer is not served, or nil when it is.
  func refusal(of peer: Peer) -> Fault? {
    if peer.uid != owner {
      return .denied(reason: "this vault serves uid \(owner) alone, and you are uid \(peer.uid)")
    }
    return nil
  }

  /// True when a refused client may be given the time to read why: not when there are many.
  var mayLinger: Bool { lingering < openFiles.lingering }

  func admit(_ connection: Connection) {
    makeRoom(for: connection.peer.uid)
    connections[ObjectIdentifier(connection)] = connection
  }

  /// A number above all that it gave before, for the order in which connections were heard.
  func heardNext() -> Int {
    heardCount += 1
    return heardCount
  }

  func leave(_ connection: Connection) {
    let id = ObjectIdentifier(connection)
    connections[id] = nil
    events.remove(id)
    if lastProcess?.connection == id { lastProcess = nil }
  }

  /// The process behind a connection, which `find` takes hold of if it is not the one that was asked for last.
  func process(of connection: Connection, _ find: () -> PeerProcess?) -> PeerProcess? {
    let id = ObjectIdentifier(connection)
    if let lastProcess, lastProcess.connection == id { return lastProcess.process }
    // Let go of first: at the limit of open files there may be no other descriptor.
    lastProcess = nil
    lastProcess = find().map { (id, $0) }
    return lastProcess?.process
  }

  /// True when this connection was the last one that sent something, too; it is from now on.
  func isLastReader(_ connection: Connection) -> Bool {
    let id = ObjectIdentifier(connection)
    defer { lastReader = id }
    return lastReader == id
  }

  /// The rate at which the connections of this peer's uid may ask together.
  func rate(of peer: Peer) -> RequestRate {
    if let rate = rates[peer.uid] { return rate }
    let rate = RequestRate(perSecond: configuration.maxRequestsPerSecond, now: clock.monotonic())
    rates[peer.uid] = rate
    return rate
  }

  func closeConnections() {
    for connection in connections.values { connection.close() }
  }

  /// Closes the store, whoever still has to do with it: the log is folded into the file, or, of a store that failed, all is
  /// left as it was found. The reader of a backup gets no more of it.
  func closeStore() {
    do throws(VaultError) { try vault.close() } catch { log.error("the store could not be closed: \(error.text)") }
  }

  // MARK: The lock state

  /// Opens the store if it is not open, and says what came of it.
  func openStore(cause: LockState.Cause) {
    if case .open = vault.content { return }
    let before = state.kind
    vault.open()
    let kind: LockState.Kind
    switch vault.content {
    case .none: kind = .new
    case .unreadable: kind = .unreadable
    case .open(let keychain):
      kind = .cold
      keychain.whenMet = { [log] in log.error("the store failed, so nothing is written to it: \($0)") }
      removeSalvage()
      earlierKeys = FileKeystore(directory: paths.store).stored()
      openAlways(keychain)
    }
    if kind != before { change(to: kind, cause: cause) }
  }

  /// The vault was opened by its key: what waited for it goes on.
  func unlocked(by cause: LockState.Cause, for seconds: Int64?) {
    sleptBefore = clock.slept
    policy.unlocked(at: clock.boot(), for: seconds)
    change(to: .unlocked, cause: cause)
    checkStore()
    armNext()
    for conversation in conversations.values where conversation.endsWhenUnlocked { conversation.finish() }
    waiters.go(in: turns) { [unowned self] in state.kind == .unlocked }
  }

  /// Wipes what must not outlive a lock for this cause: every lock what opens `when-unlocked` items, a sleep also what
  /// opens `after-first-unlock` ones. Nothing changes when nothing of that is held, but the dead part of the stack is wiped
  /// in any case.
  func lock(because cause: LockState.Cause) {
    defer { Stack.wipe() }
    callOffTransfer(because: cause)
    callOffSalvage(because: .locked(state: LockState.Kind.locked.rawValue, cause: state.cause.text))
    // The key that one of them has been given opens what is wiped here, or a vault that is only being made.
    for conversation in Array(conversations.values)
    where conversation.holdsSecret || configuration.hideNames && conversation.namesItem { conversation.callOff() }
    guard case .open(let keychain) = vault.content else { return }
    slotRenewal?.callOff()
    rekeying?.stop(.locked(state: LockState.Kind.locked.rawValue, cause: cause.text))
    authorizations.forget()
    let forgets = cause.isSleep && !configuration.keepAcrossSleep
    if forgets || cause == .age { retained.forget(because: cause.text) }
    guard state.kind == .unlocked || forgets && keychain.opensValues(of: .afterFirstUnlock) else { return }
    keychain.lock(hidingNames: configuration.hideNames, keepingAfterFirstUnlock: !forgets)
    if configuration.hideNames { hideNames() }
    policy.locked()
    armNext()
    change(to: .locked, cause: cause)
    wipeConnections(afterFirstUnlock: forgets)
  }

  /// Wipes the names of items in what is still to be sent.
  private func hideNames() {
    events.hideNames()
    for report in check.reports.values { report.hideNames() }
  }

  /// The machine goes to sleep: locks, and runs `ready` when no key is left, also none that is being made just now, and none
  /// in a helper program that was ended, by this lock or before, but is not gone yet.
  func goToSleep(then ready: @escaping () -> Void) {
    lock(because: .sleep)
    programs.ends.whenAllGone { [unowned self] in
      workers.whenIdle(on: loop) { [unowned self] in
        if transfer == nil { ready() } else { transferThread.whenIdle(on: loop, ready) }
      }
    }
  }

  /// Wipes every key, at the daemon's end.
  func wipe() {
    defer { Stack.wipe() }
    rekeying?.stopAtOnce(.locked(state: LockState.Kind.locked.rawValue, cause: "the daemon stops"))
    if case .open(let keychain) = vault.content { keychain.wipe() }
    retained.forget(because: "the daemon stops")
    transfer?.callOff(because: .cancelled)
    dropSalvage()
    // Also one that nobody waits for: it may hold a key, or be making one.
    programs.ends.endAll {
      slotRenewal?.callOff()
      presencePrompt?.stop()
      for conversation in conversations.values { conversation.end() }
      conversations = [:]
    }
  }

  /// Locks if a deadline has passed or the machine has slept. Runs when the timer fires and before every request, so
  /// that the first request after a resume finds the vault locked.
  func checkDeadlines() {
    // Reading two clocks is not atomic: only a gap of a second or more is a sleep.
    guard let now = clock.bootUnlessSlept(since: sleptBefore) else {
      sleptBefore = clock.slept
      return lock(because: .resume)
    }
    if let until = retainedUntil, until <= now { retained.forget(because: LockState.Cause.age.text) }
    if let due = policy.due(at: now) { return lock(because: LockState.Cause(due.reason)) }
  }

  func timerFired() {
    checkDeadlines()
    armNext()
  }

  /// Has the timer fire when the next thing is due: a lock, or the end of the keys that outlive locks.
  func armNext() { arm([policy.next?.at, retainedUntil].compactMap { $0 }.min()) }

  /// Until when the keys of `memory` slots are kept at most: a proof with a secret does not last for ever.
  private var retainedUntil: Int64? {
    retained.since.flatMap { since in configuration.maximumAge.map { LockPolicy.after($0, since) } }
  }

  /// A person is there: the idle deadline moves. A system service that claims so is not believed.
  func personAsked(_ interactive: Bool?, _ connection: Connection) {
    guard interactive == true, state.kind == .unlocked, !connection.isSystemService else { return }
    policy.personAsked(at: clock.boot())
    armNext()
  }

  /// Takes new settings over; the deadlines of a running unlock follow them at once.
  func reconfigure(_ new: Configuration) {
    let earlier = bootKey
    configuration = new
    if bootKey != earlier { giveUpNewVaults() }
    policy.idleAfter = new.idle
    policy.maximumAge = new.maximumAge
    for rate in rates.values { rate.change(perSecond: new.maxRequestsPerSecond) }
    timerFired()
  }

  private func change(to kind: LockState.Kind, cause: LockState.Cause) {
    state = LockState(kind: kind, cause: cause, since: clock.wall())
    log.info("\(kind.rawValue): \(cause.text)")
    events.announce(stateEvent)
  }
}
