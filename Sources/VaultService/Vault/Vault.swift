package import VaultCore
internal import VaultModel
internal import VaultStore

/// The vault: its store, whether it is locked and why, and what is to happen at each lock.
///
/// It belongs to one serial domain, the daemon's loop, and takes no locks. Time, the timer and the journal are given to it.
package final class Vault {
  package let clock: Clock
  package let log: Log
  /// The groups of a user, by the name service.
  let groups: (UInt32) -> [UInt32]
  /// The directory of the store.
  package let directory: String
  /// Everybody who holds secrets.
  package let holders = SecretHolders()
  /// The calls that wait for the vault.
  package let waiting = Waiting()
  /// The log of what happens.
  package let audit: Audit
  package private(set) var settings: VaultSettings
  package private(set) var state: LockState
  var store: OpenStore
  var policy: LockPolicy
  /// The lock that was warned of, `CLOCK_BOOTTIME` nanoseconds.
  private var warned: Int64?
  /// The time that the machine had slept when the daemon started, the vault was unlocked or a sleep was last noticed.
  private var sleptBefore: Int64
  /// The reactions of the other rooms to what happens here.
  package var hooks = Hooks()

  /// The reactions of the rooms around the vault to what happens in it; set once, when all of them are made.
  package struct Hooks {
    /// Arms the timer for the next deadline, `CLOCK_BOOTTIME` nanoseconds; nil for none.
    package var arm: (Int64?) -> Void = { _ in }
    package var announce: (VaultEvent) -> Void = { _ in }
    /// A store was opened, in which no key is known yet.
    var opened: (Keychain) -> Void = { _ in }
    var unlocked: (Keychain) -> Void = { _ in }
    /// Begins to take in what was left while the vault was locked.
    var takeIn: () -> Void = {}
    /// Runs something when all of it is taken in, unless a lock comes before that.
    var whenTakenIn: (@escaping () -> Void) -> Void = { $0() }
    /// Keys of the store were taken into memory.
    var keysTaken: (Keychain) -> Void = { _ in }
    /// Callers may have other rights than before.
    package var accessChanged: () -> Void = {}
    /// The settings are others now.
    var reconfigured: () -> Void = {}
    /// The refusal of another vault while one is coming in from a backup.
    var incoming: () -> Refusal? = { nil }
    /// The time at which keys that outlive locks are to be forgotten, `CLOCK_BOOTTIME` nanoseconds.
    var keysEnd: () -> Int64? = { nil }
    /// Forgets them.
    var endKeys: () -> Void = {}
    /// How long before a lock somebody wants to be told of it, in nanoseconds; nil where nobody does.
    var warnsOfLocks: () -> Int64? = { nil }
    /// Told then, with the time of the lock, Unix seconds.
    var willLock: ((reason: LockPolicy.Reason, time: Int64)) -> Void = { _ in }
    /// Runs something when what goes on now is done: a lock has wiped what it wipes, or names were read that are
    /// hidden, and what the calls that led there have left goes then.
    package var afterwards: (@escaping () -> Void) -> Void = { $0() }
    /// Told of whom an attempt to unlock did not recognise.
    var unlockFailed: (Caller) -> Void = { _ in }

    package init() {}
  }

  package init(
    directory: String, settings: VaultSettings, clock: Clock, log: Log, timer: Timer,
    groups: @escaping (UInt32) -> [UInt32] = { _ in [] }
  ) {
    self.groups = groups
    self.directory = directory
    self.settings = settings
    self.clock = clock
    self.log = log
    sleptBefore = clock.slept
    policy = LockPolicy(idleAfter: settings.idle, maximumAge: settings.maximumAge)
    store = OpenStore(directory: directory)
    state = LockState(kind: .new, cause: .start, since: clock.wall())
    audit = Audit(clock: clock, log: log, timer: timer, in: holders)
    audit.configure(settings.audit)
    audit.keychain = { [unowned self] in openKeychain }
  }

  // MARK: The store

  /// The items, where there is a store that could be opened.
  ///
  /// - Throws: why there are none.
  func keychain() throws(Refusal) -> Keychain {
    switch store.content {
    case .open(let keychain): return keychain
    case .none: throw .noVault
    case .unreadable(let error): throw Refusal(error)
    }
  }

  /// - Throws: why there is no store that is open.
  package func checkStore() throws(Refusal) { _ = try keychain() }

  /// The identity of the vault in the open store; nil where none is open.
  package var vaultID: [UInt8]? { openKeychain?.vaultID }

  /// The key that seals the places in searches which clients are told.
  ///
  /// - Throws: where no key is in memory, as before the first unlock without a boot key; nothing can be found then.
  package func cursorKey() throws(Refusal) -> SecretBox {
    guard let key = try keychain().cursorKey else { throw locked }
    return SecretBox(key)
  }

  /// The same for what is asked without wanting to know why.
  var openKeychain: Keychain? { if case .open(let keychain) = store.content { keychain } else { nil } }

  /// True while the names of some class cannot be read, so that a search may miss items; nil without a store. It is so until
  /// the first unlock, and after each lock where names are hidden.
  package var hidesNames: Bool? { openKeychain.map { !$0.knowsAllNames } }

  /// Opens the store if it is not open, and says what came of it.
  package func openStore(because cause: LockState.Cause) {
    if case .open = store.content { return }
    let before = state.kind
    store.open()
    let kind: LockState.Kind
    switch store.content {
    case .none: kind = .new
    case .unreadable: kind = .unreadable
    case .open(let keychain):
      kind = .cold
      audit.opened()
      if keychain.isCopy { log.error("\(Upkeep.copied.text): \(Upkeep.copied.advice ?? "")") }
      keychain.whenMet = { [log] in log.error("the store failed, so nothing is written to it: \($0)") }
      keychain.whenKeysTaken = { [unowned self, unowned keychain] in hooks.keysTaken(keychain) }
      hooks.opened(keychain)
    }
    if kind != before { change(to: kind, because: cause) }
  }

  /// Closes the store, whoever still has to do with it: the log is folded into the file, or, of a store that failed, all is
  /// left as it was found.
  package func closeStore() {
    audit.willClose()
    do throws(VaultError) { try store.close() } catch { log.error("the store could not be closed: \(error.text)") }
  }

  /// Opens the store anew when it could not be opened while another one took its place.
  func reopenStore() {
    let isUntold = state.kind == .unlocked && openKeychain?.isGone == true
    lock(because: .repaired)
    closeStore()
    openStore(because: .repaired)
    // The store that was there could not be written any more.
    if isUntold { audit.record(.lock, .ok, nil, item: LockState.Cause.repaired.text) }
  }

  /// True when the store is another process's.
  package var isInUse: Bool { if case .unreadable(let error) = store.content { error.isInUse } else { false } }

  /// The reason why the store cannot be opened, in one sentence; nil when it is open, or there is none.
  package var problem: String? { if case .unreadable(let error) = store.content { error.text } else { nil } }

  /// Makes a change that frees room, or leads to that.
  ///
  /// Where the disk is full it is tried again with the log folded into the main file, after which it may use the log's room,
  /// and at last out of the room that is kept for it.
  func makingRoom<R>(_ keychain: Keychain, _ change: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try change() } catch {
      guard error == .diskFull else { throw error }
    }
    keychain.foldLog()
    do throws(VaultError) { return try change() } catch {
      guard error == .diskFull, SpareRoom(directory: directory).give() else { throw error }
    }
    keychain.foldLog()
    return try change()
  }

  /// The present time, Unix seconds: by the clock, or the newest that the store knows to have passed, where that is later.
  var newestTime: Int64 { max(clock.wall(), openKeychain?.newestTime ?? 0) }

  // MARK: Locked and unlocked

  /// Takes note that the vault was opened by its key.
  ///
  /// - Parameters:
  ///   - seconds: after how many it locks again, if somebody asked for that.
  ///   - caller: who opened it; nil for the daemon itself.
  ///   - then: run when what was left meanwhile is taken in; not after a lock that comes before that.
  func unlocked(
    _ keychain: Keychain, by cause: LockState.Cause, for seconds: Int64?, _ caller: Caller? = nil,
    then: @escaping () -> Void = {}
  ) {
    audit.unlocked(keychain)
    audit.record(.unlock, .ok, caller, item: cause.text)
    SpareRoom(directory: directory).keep()
    sleptBefore = clock.slept
    policy.unlocked(at: clock.boot(), for: seconds)
    change(to: .unlocked, because: cause)
    hooks.takeIn()
    hooks.unlocked(keychain)
    armNext()
    waiting.go(.unlock) { [unowned self] in state.kind == .unlocked }
    hooks.whenTakenIn(then)
  }

  /// Wipes what must not outlive a lock for this cause: every lock what opens `when-unlocked` items, a sleep also what
  /// opens `after-first-unlock` ones.
  ///
  /// - Parameter caller: who asked for it; nil for nobody.
  package func lock(because cause: LockState.Cause, _ caller: Caller? = nil) {
    defer { Stack.wipe() }
    var reach: Lock.Reach = .whenUnlocked
    if settings.hideNames { reach.insert(.names) }
    let isOutOfHands = cause.isSleep && !settings.keepAcrossSleep
    if isOutOfHands { reach.insert(.afterFirstUnlock) }
    if isOutOfHands || cause == .age { reach.insert(.presenceKeys) }
    let keychain = openKeychain
    let changes =
      keychain.map { state.kind == .unlocked || isOutOfHands && $0.opensValues(of: .afterFirstUnlock) } ?? false
    if changes {
      audit.record(.lock, .ok, caller, item: cause.text)
      // A sleep waits for the keys to go, and not for the disk: the system writes what it has before it sleeps.
      audit.willLock(isSynced: cause != .sleep)
      keychain?.lock(hidingNames: settings.hideNames, keepingAfterFirstUnlock: !isOutOfHands)
      policy.locked()
      change(to: .locked, because: cause)
    }
    // The names may have to be hidden since the lock before.
    let hides = !changes && settings.hideNames && keychain?.opensNames(of: .whenUnlocked) == true
    if hides { keychain?.lock(hidingNames: true) }
    // Also without a vault: one that is being made has its key already.
    holders.letGo(for: Lock(reach, because: cause, isEffective: changes || hides))
    if changes { armNext() }
    let isToSync = changes && cause == .sleep
    hooks.afterwards { [audit] in
      Stack.wipe()
      SecureBytes.unmapSpare()
      if isToSync, let keychain { audit.sync(keychain) }
    }
  }

  /// Wipes every key, at the daemon's end; only what is still recorded has one, which ``closeStore()`` wipes.
  package func wipe() {
    defer { Stack.wipe() }
    audit.willLock(atEnd: true)
    openKeychain?.wipeAllButLog()
    if state.kind == .unlocked { log.info("\(LockState.Kind.locked.rawValue): \(LockState.Cause.stop.text)") }
    holders.letGo(for: Lock(.everything, because: .stop, isEffective: true))
  }

  /// The refusal of what needs the vault unlocked.
  package var locked: Refusal { .locked(state) }

  // MARK: Deadlines

  /// Locks if a deadline has passed or the machine has slept. For before every request, and for the timer, so that the first
  /// request after a resume finds the vault locked.
  package func checkDeadlines() {
    // Reading two clocks is not atomic: only a gap of a second or more is a sleep.
    guard let now = clock.bootUnlessSlept(since: sleptBefore) else {
      sleptBefore = clock.slept
      return lock(because: .resume)
    }
    if let end = hooks.keysEnd(), end <= now { hooks.endKeys() }
    if let due = policy.due(at: now) { return lock(because: LockState.Cause(due.reason)) }
    guard let warning, warning <= now, let locksAt else { return }
    warned = policy.next?.at
    hooks.willLock((locksAt.reason, locksAt.time))
  }

  /// The time at which a lock is to be warned of, `CLOCK_BOOTTIME` nanoseconds; nil where that was done, or there is none.
  private var warning: Int64? {
    guard let lead = hooks.warnsOfLocks(), let next = policy.next, next.at != warned else { return nil }
    return policy.warning(lead)
  }

  package func timerFired() {
    checkDeadlines()
    armNext()
  }

  /// Has the timer fire when the next thing is due: a lock, a warning of one, or the end of the keys that outlive locks.
  func armNext() { hooks.arm([policy.next?.at, warning, hooks.keysEnd()].compactMap { $0 }.min()) }

  /// The time at which it locks by itself, in Unix seconds, and the reason; nil when it does not.
  package var locksAt: (time: Int64, reason: LockPolicy.Reason)? {
    guard let deadline = policy.next, deadline.at != .max else { return nil }
    return (Seconds.after((deadline.at - clock.boot()) / 1_000_000_000, clock.wall()), deadline.reason)
  }

  /// Moves the idle deadline if a person asks. A system service that claims to be one is not believed.
  package func asks(_ caller: Caller, _ said: Said) {
    guard said.isInteractive, state.kind == .unlocked, !caller.isSystemService else { return }
    policy.personAsked(at: clock.boot())
    armNext()
  }

  /// Takes new settings over; the deadlines of a running unlock follow them at once.
  ///
  /// - Parameters:
  ///   - changed: the names of the settings that are others now, of all of the daemon's.
  ///   - caller: who asked for it; nil for a signal.
  package func reconfigure(_ new: VaultSettings, changed: [String] = [], for caller: Caller? = nil) {
    let hidesNow = new.hideNames && !settings.hideNames
    settings = new
    audit.record(.settings, .ok, caller, detail: changed.isEmpty ? nil : changed.joined(separator: ", "))
    audit.reconfigure(new.audit)
    if hidesNow, state.kind == .locked { lock(because: state.cause) }
    policy.idleAfter = new.idle
    policy.maximumAge = new.maximumAge
    timerFired()
    hooks.reconfigured()
  }

  private func change(to kind: LockState.Kind, because cause: LockState.Cause) {
    state = LockState(kind: kind, cause: cause, since: clock.wall())
    log.info("\(kind.rawValue): \(cause.text)")
    hooks.announce(.state(state))
  }
}
