package import VaultCore
internal import VaultModel
internal import VaultStore

/// The vault: its store, its lock state with the cause, and its deadlines.
///
/// It belongs to one serial domain, the daemon's loop, and takes no locks. Time, the timer and the journal are passed
/// in.
package final class Vault {
  package let clock: Clock
  package let log: Log
  /// The groups of a user, as found by the name service.
  let groups: (UInt32) -> [UInt32]
  /// The directory of the store.
  package let directory: String
  /// The list of all objects that hold secrets.
  package let holders = SecretHolders()
  /// The audit log.
  package let audit: Audit
  let questions: Questions
  /// The calls that wait for the vault, or for an answer to a question.
  package var waiting: Waiting { questions.waiting }
  /// The open prompts of programs that use the keyring.
  package var prompts: KeyringPrompts { questions.prompts }
  package private(set) var settings: VaultSettings
  package private(set) var state: LockState
  var store: OpenStore
  var policy: LockPolicy
  /// The time of the lock for which a warning was given, in `CLOCK_BOOTTIME` nanoseconds.
  private var warned: Int64?
  /// The time that the machine had slept when the daemon started, when the vault was unlocked, or when a sleep was last
  /// noticed.
  private var sleptBefore: Int64
  /// The place that ``nextKeyringOrder()`` gave last.
  private var lastKeyringOrder: UInt64 = 0
  /// The reactions of other parts to events of the vault.
  package var hooks = Hooks()

  /// The reactions of the parts around the vault to its events; set once, when all parts are made.
  package struct Hooks {
    /// Arms the timer for the next deadline, in `CLOCK_BOOTTIME` nanoseconds; nil for none.
    package var arm: (Int64?) -> Void = { _ in }
    package var announce: (VaultEvent) -> Void = { _ in }
    /// A store was opened, in which no key is known yet.
    var opened: (Keychain) -> Void = { _ in }
    var unlocked: (Keychain) -> Void = { _ in }
    /// Begins to take in the deposits that were left while the vault was locked.
    var takeIn: () -> Void = {}
    /// Runs a closure when all deposits are taken in, unless a lock comes before that.
    var whenTakenIn: (@escaping () -> Void) -> Void = { $0() }
    /// A call came before the first unlock, and so far the boot key was missing or wrong.
    var lacksBootKey: (Keychain) -> Void = { _ in }
    /// Keys of the store were taken into memory.
    var keysTaken: (Keychain) -> Void = { _ in }
    /// A rekey is about to replace the vault's keys. The old keys are still in memory.
    var willChangeKeys: () -> Void = {}
    /// A rekey has replaced the vault's keys, or has failed to.
    var haveChangedKeys: () -> Void = {}
    /// The rights of callers may have changed.
    package var accessChanged: () -> Void = {}
    /// The slots have changed.
    package var slotsChanged: () -> Void = {}
    /// A session has shown presence.
    var presenceShown: () -> Void = {}
    /// A lock is about to hide the names of items.
    var willHideNames: (Keychain) -> Void = { _ in }
    /// An agent has begun to attend.
    var attended: () -> Void = {}
    /// The settings have changed.
    var reconfigured: () -> Void = {}
    /// Returns the refusal to make a vault while one is being restored from a backup; nil if none is.
    var incoming: () -> Refusal? = { nil }
    /// The time at which keys that outlive locks must be forgotten, in `CLOCK_BOOTTIME` nanoseconds.
    var keysEnd: () -> Int64? = { nil }
    /// Forgets the keys that outlive locks.
    var endKeys: () -> Void = {}
    /// The time before a lock at which somebody wants to be warned, in nanoseconds; nil if nobody does.
    var warnsOfLocks: () -> Int64? = { nil }
    /// Gives the warning of a lock, with the time of the lock in Unix seconds.
    var willLock: ((reason: LockPolicy.Reason, time: Int64)) -> Void = { _ in }
    /// Runs a closure when the current call is done: after a lock has wiped secrets, or after hidden names were read.
    /// The closure then wipes what the current call has left on the stack.
    package var afterwards: (@escaping () -> Void) -> Void = { $0() }
    /// Called after an attempt to unlock in which the person was not recognized, with the caller.
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
    questions = Questions(in: holders, clock)
    audit.configure(settings.audit)
    audit.keychain = { [unowned self] in openKeychain }
    audit.makingRoom = { [unowned self] (keychain, change) throws(VaultError) in try makingRoom(keychain, change) }
  }

  // MARK: The store

  /// The open store.
  ///
  /// - Throws: the reason why no store is open.
  func keychain() throws(Refusal) -> Keychain {
    switch store.content {
    case .open(let keychain):
      // The boot key's file may have been put back since the daemon started without it.
      if state.kind == .cold, store.bootKeyProblem != nil { hooks.lacksBootKey(keychain) }
      return keychain
    case .none: throw .noVault
    case .unreadable(let error): throw Refusal(error)
    }
  }

  /// Checks that a store is open.
  ///
  /// - Throws: the reason why none is.
  package func checkStore() throws(Refusal) { _ = try keychain() }

  /// Checks after a lock that the vault is locked. A store that this daemon has not opened, for whatever reason, may be
  /// open in another process, which has the lock of the store then.
  ///
  /// - Throws: the reason why that is unknown: there is no vault, or another process has the store open.
  package func checkLocked() throws(Refusal) {
    if case .open = store.content { return }
    do throws(VaultError) { try Keychain.checkFree(in: directory) } catch { throw .misconfigured(error.text) }
    if case .none = store.content { throw .noVault }
  }

  /// The id of the vault in the open store; nil if no store is open.
  package var vaultID: [UInt8]? { openKeychain?.vaultID }

  /// The key with which a place in a search is sealed before a client receives it.
  ///
  /// - Throws: the refusal if no key is in memory, as before the first unlock without a boot key; nothing can be found
  ///   in that case.
  package func cursorKey() throws(Refusal) -> SecretBox {
    guard let key = try keychain().cursorKey else { throw locked }
    return SecretBox(key)
  }

  /// The open store; nil if no store is open.
  var openKeychain: Keychain? { if case .open(let keychain) = store.content { keychain } else { nil } }

  /// True while the names of some class cannot be read, so that a search may miss items: until the first unlock and, in
  /// a vault that hides names, after each lock. Nil without a store.
  package var hidesNames: Bool? { openKeychain.map { !$0.knowsAllNames } }

  /// Looks for the store again if it is not open: the reason why it could not be opened may have been corrected, and
  /// another program may have made a vault where there was none. While one is restored here, nobody else makes one.
  func lookForStore() {
    switch store.content {
    case .open: break
    case .none: if hooks.incoming() == nil { openStore(because: .found) }
    case .unreadable: openStore(because: .repaired)
    }
  }

  /// Opens the store if it is not open, and announces the result.
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
      if settings.hideNames { audit.hideNames() }
      if keychain.isCopy { log.error("\(Upkeep.copied.text): \(Upkeep.copied.advice ?? "")") }
      if keychain.hadUnfinishedChange {
        log.warning("the last change in vault.db-wal was not completed, and was dropped")
      }
      keychain.whenMet = { [log] in log.error("the store failed, so nothing is written to it: \($0)") }
      keychain.whenKeysTaken = { [unowned self, unowned keychain] in hooks.keysTaken(keychain) }
      hooks.opened(keychain)
    }
    if kind != before { change(to: kind, because: cause) }
  }

  /// Closes the store, even if other objects still refer to it. The write-ahead log is folded into the main file; if
  /// the store has failed, everything is left as it was found.
  package func closeStore() {
    audit.willClose()
    do throws(VaultError) { try store.close() } catch { log.error("the store could not be closed: \(error.text)") }
  }

  /// Opens the store again after a rekey has replaced it, or has tried to and then could not open it.
  func reopenStore() {
    let isUntold = state.kind == .unlocked && openKeychain?.isGone == true
    lock(because: .repaired)
    closeStore()
    openStore(because: .repaired)
    // The old store could not be written any more, so the audit log has no entry of the lock yet.
    if isUntold { audit.record(.lock, .ok, nil, item: LockState.Cause.repaired.text) }
  }

  /// The path of the file of the store's lock, by which other programs find the daemon that has the store open.
  package var lockFile: String { Keychain.lockFile(in: directory) }

  /// True when the lock's file has lost its place: other programs do not find this daemon by it any more, and may open
  /// the store as well.
  package var hasLostLock: Bool { openKeychain?.hasLostLock == true }

  /// True when nothing is left of the store except this daemon's open files.
  package var hasLastCopy: Bool { openKeychain?.isLastCopy == true }

  /// Confirms a lock to programs that cannot reach the daemon's socket: increases a number in the lock's file.
  package func confirmLock() { Keychain.confirmLock(in: directory) }

  /// True when another process has opened the store.
  package var isInUse: Bool { if case .unreadable(let error) = store.content { error.isInUse } else { false } }

  /// The reason why the store cannot be opened, in one sentence; nil if it is open, or if there is none.
  package var problem: String? { if case .unreadable(let error) = store.content { error.text } else { nil } }

  /// Makes a change that frees space on the disk, or that must be possible on a full disk.
  ///
  /// If the disk is full, the change is tried again after the write-ahead log was folded into the main file, so that
  /// the change may use the log's space. If that fails, the spare room kept for such a case is freed as well.
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

  /// The present time in Unix seconds: the clock's, or the newest time that the store knows to have passed, if that is
  /// later.
  var newestTime: Int64 { max(clock.wall(), openKeychain?.newestTime ?? 0) }

  /// The present time for decisions about the items of a class, in Unix seconds: the clock's, or the newest time that
  /// the class knows to have passed, if that is later. The time of a weaker class, which somebody with less than the
  /// vault key can set to any value, does not count.
  func newestTime(of accessible: AccessClass) -> Int64 {
    let now = clock.wall()
    return openKeychain?.newestTime(of: accessible, at: now) ?? now
  }

  /// The place of a new item in the searches of a keyring's clients: after all others, as far as the clocks tell.
  func nextKeyringOrder() -> UInt64 {
    let time = newestTime(of: settings.keyring.accessible)
    let (now, isTooLate) = UInt64(clamping: time).multipliedReportingOverflow(by: 1_000_000_000)
    let (next, isLast) = lastKeyringOrder.addingReportingOverflow(KeyringFacts.orderSpacing)
    lastKeyringOrder = max(isTooLate ? 0 : now, isLast ? .max : next)
    return lastKeyringOrder
  }

  // MARK: Locking and unlocking

  /// Notes that the vault was unlocked with its key.
  ///
  /// - Parameters:
  ///   - seconds: the seconds after which the vault locks again, if somebody asked for that.
  ///   - caller: the caller who unlocked the vault; nil for the daemon itself.
  ///   - then: runs when the deposits that were left while the vault was locked are taken in; does not run if a lock
  ///     comes before that.
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

  /// Wipes everything that must not outlive a lock for this cause. Every lock wipes the keys of `when-unlocked` items.
  /// A sleep also wipes the keys of `after-first-unlock` items, unless the settings keep these.
  ///
  /// - Parameter caller: the caller who asked for the lock; nil for none.
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
    if settings.hideNames, let keychain, keychain.opensNames(of: .whenUnlocked) { hooks.willHideNames(keychain) }
    if changes {
      audit.record(.lock, .ok, caller, item: cause.text)
      // A sleep waits until the keys are wiped, but not for the disk: the system writes its buffers before it sleeps.
      audit.willLock(isSynced: cause != .sleep)
      keychain?.lock(hidingNames: settings.hideNames, keepingAfterFirstUnlock: !isOutOfHands)
      policy.locked()
      change(to: .locked, because: cause)
    }
    // If the setting was switched on after the previous lock, the names are still in memory.
    let hides = !changes && settings.hideNames && keychain?.opensNames(of: .whenUnlocked) == true
    if hides { keychain?.lock(hidingNames: true) }
    // The holders are told even without a vault, because a vault that is being made has its key already.
    holders.letGo(for: Lock(reach, because: cause, isEffective: changes || hides))
    if changes { armNext() }
    let isToSync = changes && cause == .sleep
    hooks.afterwards { [audit] in
      Stack.wipe()
      SecureBytes.unmapSpare()
      if isToSync, let keychain { audit.sync(keychain) }
    }
  }

  /// Wipes every key when the daemon ends. Only the entries still to be written keep a key, which ``closeStore()``
  /// wipes.
  package func wipe() {
    defer { Stack.wipe() }
    audit.willLock(atEnd: true)
    openKeychain?.wipeAllButLog()
    if state.kind == .unlocked { log.info("\(LockState.Kind.locked.rawValue): \(LockState.Cause.stop.text)") }
    holders.letGo(for: Lock(.everything, because: .stop, isEffective: true))
  }

  /// The refusal of calls that need the vault unlocked.
  package var locked: Refusal { .locked(state) }

  // MARK: Deadlines

  /// Locks the vault if a deadline has passed or the machine has slept, and looks for a store that is not open. Called
  /// before every request and by the timer, so that the first request after a resume finds the vault locked, and no
  /// request is refused for a reason that is gone.
  package func checkDeadlines() {
    lookForStore()
    // The two clocks are not read at the same moment, so only a gap of more than a second counts as a sleep.
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

  /// The time at which a warning of the next lock is due, in `CLOCK_BOOTTIME` nanoseconds; nil if the warning was
  /// given, or if none is wanted.
  private var warning: Int64? {
    guard let lead = hooks.warnsOfLocks(), let next = policy.next, next.at != warned else { return nil }
    return policy.warning(lead)
  }

  package func timerFired() {
    checkDeadlines()
    armNext()
  }

  /// Arms the timer for the next event: a lock, a warning of a lock, or the end of the keys that outlive locks.
  func armNext() { hooks.arm([policy.next?.at, warning, hooks.keysEnd()].compactMap { $0 }.min()) }

  /// The time at which the vault locks by itself, in Unix seconds, and the reason; nil if it does not.
  package var locksAt: (time: Int64, reason: LockPolicy.Reason)? {
    guard let deadline = policy.next, deadline.at != .max else { return nil }
    return (Seconds.after((deadline.at - clock.boot()) / 1_000_000_000, clock.wall()), deadline.reason)
  }

  /// Moves the idle deadline if a person asks. A system service that claims to act for a person is not believed.
  package func asks(_ caller: Caller, _ said: Said) {
    guard said.isInteractive, state.kind == .unlocked, !caller.isSystemService else { return }
    policy.personAsked(at: clock.boot())
    armNext()
  }

  /// Applies new settings. The deadlines of a running unlock follow them at once.
  ///
  /// - Parameters:
  ///   - changed: the names of the changed settings, among all settings of the daemon.
  ///   - caller: the caller who asked for it; nil for a signal.
  package func reconfigure(_ new: VaultSettings, changed: [String] = [], for caller: Caller? = nil) {
    let hidesNow = new.hideNames && !settings.hideNames
    settings = new
    audit.record(.settings, .ok, caller, detail: changed.isEmpty ? nil : changed.joined(separator: ", "))
    audit.reconfigure(new.audit)
    if hidesNow, state.kind == .locked { lock(because: state.cause) }
    if hidesNow, state.kind == .cold { audit.hideNames() }
    policy.idleAfter = new.idle
    policy.maximumAge = new.maximumAge
    timerFired()
    hooks.reconfigured()
  }

  private func change(to kind: LockState.Kind, because cause: LockState.Cause) {
    state = LockState(kind: kind, cause: cause, since: clock.wall())
    // A daemon that starts beside another one ends at once, with a better message.
    if !(isInUse && cause == .start) { log.info("\(kind.rawValue): \(cause.text)") }
    hooks.announce(.state(state))
  }
}
