internal import VaultCore
internal import VaultModel
internal import VaultStore

/// A rekey that is under way, in short steps between requests, with the readers who wait for its end.
///
/// Copying begins when the store has been checked completely. After a fault that may pass, such as a full disk, the
/// work pauses and then tries again. The work holds keys, so the next lock ends it. The next unlock creates new work,
/// which continues from there.
package final class RekeyWork: SecretHolder, Runner.Work {
  /// The number of items that have been processed, and the number of all items.
  package typealias Progress = (done: Int, of: Int)
  package typealias Reader = VaultService.Reader<Progress, Progress>

  /// The time to wait for the check of the store before looking again, in nanoseconds, and the number of times that the
  /// rekey begins a check.
  private static let patience: Int64 = 10_000_000
  private static let checks = 3
  /// The number of records in one step; the clock is read after each step.
  private static let records = 4
  /// The first and the longest extra time in one slice, in nanoseconds.
  private static let (firstOvertime, longestOvertime): (Int64, Int64) = (1_000_000, 256_000_000)
  /// The time between two progress reports to the readers, in nanoseconds.
  private static let interval: Int64 = 200_000_000
  /// The first and the longest pause after a fault, in nanoseconds. An attempt on a large store reads much of it before
  /// it reaches the fault again, so each pause is twice as long as the last.
  static let (firstPause, longestPause): (Int64, Int64) = (1_000_000_000, 300_000_000_000)

  private unowned let upkeep: Upkeep
  private let vault: Vault
  private let keychain: Keychain
  /// The rekey; nil after its end, and until its store could be opened.
  private var rekey: Rekey?
  /// The new vault key, until the store of the rekey could be opened.
  private var nextKey: Handover?
  /// The slots of the new vault; nil until its store could be opened.
  private(set) var slots: [SlotRecord]?
  /// The keys that open the `memory` slots of the new vault.
  private var memoryKeys: [UInt32: Handover] = [:]
  private let readers = Readers<Progress, Progress>()
  private var checksBegun = 0
  /// The lowest number of changed items left to copy so far, and the last extra time.
  private var (least, extra): (Int, Int64) = (.max, 0)
  /// The number of items that were processed, and the number of all items.
  package var progress: Progress { rekey?.progress ?? last }
  private var last: Progress
  /// The fault that stopped the last attempt; nil once an attempt has come further than that one.
  private(set) var problem: VaultError?
  /// The next pause, in nanoseconds.
  private(set) var pause = RekeyWork.firstPause
  /// The time of the last fault, in `CLOCK_MONOTONIC` nanoseconds.
  private var failed = Int64.min
  /// True until the end.
  private var isOpen: Bool { rekey != nil || nextKey != nil }

  /// Work on a rekey whose second store is open.
  init(_ upkeep: Upkeep, _ keychain: Keychain, _ rekey: Rekey, nextKey: borrowing SecureBytes) {
    self.upkeep = upkeep
    vault = upkeep.vault
    self.keychain = keychain
    last = rekey.progress
    super.init(in: vault.holders)
    use(rekey, nextKey)
  }

  /// Work on a rekey that was begun earlier, and whose second store could not be opened because of `problem`.
  init(_ upkeep: Upkeep, _ keychain: Keychain, nextKey: consuming SecureBytes, because problem: VaultError) {
    self.upkeep = upkeep
    vault = upkeep.vault
    self.keychain = keychain
    last = (0, (try? keychain.itemCount()) ?? 0)
    self.nextKey = Handover(nextKey)
    super.init(in: vault.holders)
    upkeep.runner.begin(self, after: rest(because: problem))
  }

  private func use(_ rekey: Rekey, _ nextKey: borrowing SecureBytes) {
    self.rekey = rekey
    slots = rekey.slots
    last = rekey.progress
    for slot in rekey.slots where slot.isInMemory {
      memoryKeys[slot.id] = Handover(SlotRecord.memoryKey(id: slot.id, vaultKey: nextKey))
    }
  }

  /// Continues the rekey, also during a pause.
  func goOn() {
    checksBegun = 0
    if isOpen { upkeep.runner.begin(self) }
  }

  /// Ends a pause early for somebody whom the rekey keeps from something. However many ask, there is one attempt in the
  /// time of the first pause.
  func hasten() {
    guard isOpen, problem != nil, vault.clock.monotonic() - failed >= Self.firstPause else { return }
    upkeep.runner.begin(self)
  }

  /// Adds a reader, who is told the progress and the end.
  func wait(_ reader: Reader) {
    readers.add(reader)
    goOn()
  }

  /// Removes a reader. The rekey continues.
  func leave(_ id: ObjectIdentifier) { readers.remove(id) }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next {
    do throws(VaultError) { return try work(until: end) } catch { return fail(error) }
  }

  /// Continues the rekey. The error is handled after this function has returned, because its reference keeps the
  /// ``Rekey`` alive, and with it the second store open.
  private func work(until end: Int64) throws(VaultError) -> Runner.Next {
    guard let rekey = try opened() else { return .over }
    let end = end + overtime(rekey)
    guard try isChecked() else {
      tell()
      return .later(Self.patience)
    }
    repeat {
      guard try rekey.step(records: Self.records) else {
        if problem != nil, !rekey.isBehindFault { (problem, pause) = (nil, Self.firstPause) }
        continue
      }
      // A backup that was begun before is still reading the file that is to be replaced.
      guard keychain.canBeReplaced else { return .later(Self.patience) }
      try finish(rekey)
      return .over
    } while vault.clock.monotonic() < end
    tell()
    return .again
  }

  /// The rekey, whose second store is opened now if that has failed so far; nil after the end.
  private func opened() throws(VaultError) -> Rekey? {
    if let rekey { return rekey }
    let (keychain, key) = (keychain, nextKey)
    try key?.withSecret { (key: borrowing SecureBytes) throws(VaultError) in
      use(try Rekey(resuming: keychain, nextKey: key), key)
    }
    if rekey != nil { forgetNextKey() }
    return rekey
  }

  private func forgetNextKey() {
    _ = nextKey?.take()
    nextKey = nil
  }

  /// The extra time in nanoseconds that the rekey needs to catch up with callers who change items faster than it copies
  /// them. It doubles each time that the rekey has not come nearer to its end.
  private func overtime(_ rekey: Rekey) -> Int64 {
    guard let behind = rekey.behind else {
      (least, extra) = (.max, 0)
      return 0
    }
    if behind < least {
      least = behind
    } else if behind > 0 {
      extra = min(max(2 * extra, Self.firstOvertime), Self.longestOvertime)
    }
    return extra
  }

  /// True when the check of the live store has found everything in order; if not, the check is continued.
  private func isChecked() throws(VaultError) -> Bool {
    if keychain.isVerified { return true }
    switch keychain.integrity {
    case .failed: throw .corrupt("the check of the store found that it was changed")
    case .unchecked:
      // The check was never begun, or was ended by an error of the disk.
      checksBegun += 1
      guard checksBegun <= Self.checks else { throw .storage("the store cannot be checked") }
    case .checking, .ok: break
    }
    upkeep.check.goOn(isHurried: true)
    return false
  }

  private func tell() {
    readers.tell(progress, every: Self.interval, now: vault.clock.monotonic())
  }

  // MARK: Ends

  private func finish(_ rekey: Rekey) throws(VaultError) {
    let old = keychain.slots
    // Entries in memory are written to the old store now, because they are sealed to its key, and because the new store
    // may not open at once.
    vault.audit.willRekey()
    vault.hooks.willChangeKeys()
    defer { vault.hooks.haveChangedKeys() }
    try rekey.finish(recording: vault.audit.fillWithRekey, now: vault.clock.wall())
    vault.audit.haveRekeyed()
    upkeep.ways.worker.run { [displaced = keychain.takeDisplaced()] in
      // The last reference is released on the worker's thread.
      withExtendedLifetime(displaced) {}
    } then: { _ in
    }
    last = rekey.progress
    // From now on these keys are kept like those of the live vault.
    let keys = memoryKeys
    memoryKeys = [:]
    upkeep.isRekeyed(keychain, old: old, keys)
    end(.success(progress))
  }

  private func fail(_ error: VaultError) -> Runner.Next {
    if keychain.isGone {
      vault.log.error("the store could not be opened again: \(error.text)")
      end(.failure(Refusal(error)))
      vault.reopenStore()
      return .over
    }
    guard error.endsRekey else { return .later(rest(because: error)) }
    end(.failure(Refusal(error)))
    // The rekey is released by now, which closes the second store: its files must not be removed while it is open.
    upkeep.giveUpRekey(keychain, slots, because: error)
    return .over
  }

  /// Notes a fault that may pass, and tells those who wait.
  ///
  /// - Returns: the time until the next attempt, in nanoseconds.
  private func rest(because error: VaultError) -> Int64 {
    // A fault that stays is met by each attempt, and is logged once.
    if problem?.text != error.text { vault.log.warning("the rekey pauses: \(error.text)") }
    problem = error
    failed = vault.clock.monotonic()
    // The next attempt checks the store once, because each check that fails has read much of it.
    checksBegun = Self.checks - 1
    readers.end(.failure(Refusal(error)), in: vault.waiting.turns)
    let next = pause
    pause = min(2 * pause, Self.longestPause)
    return next
  }

  /// Ends the work, and wipes the new keys. The items copied so far stay.
  func stop(_ refusal: Refusal) { end(.failure(refusal)) }

  /// Ends the work when the daemon ends, when there are no more turns in which to answer.
  func stopAtOnce(_ refusal: Refusal) {
    readers.end(.failure(refusal), in: nil)
    stop(refusal)
  }

  private func end(_ outcome: Result<Progress, Refusal>) {
    rekey = nil
    forgetNextKey()
    for key in memoryKeys.values { _ = key.take() }
    memoryKeys = [:]
    upkeep.runner.end(self)
    if upkeep.rekey === self { upkeep.rekey = nil }
    readers.end(outcome, in: vault.waiting.turns)
  }

  // MARK: A lock

  public override func letGo(for lock: Lock) {
    let state = LockState(kind: .locked, cause: lock.cause, since: vault.clock.wall())
    if lock.cause == .stop { stopAtOnce(.locked(state)) } else { stop(.locked(state)) }
  }

  public override func outlives(_ lock: Lock) -> Bool { isOpen || !memoryKeys.isEmpty }
}

extension SlotRecord {
  /// True when the slot's key is kept only in the daemon's memory.
  var isInMemory: Bool { terms?.keystore == "memory" }
}

extension VaultError {
  /// True if a rekey can never continue after this error: a repeated attempt would end in the same way.
  var endsRekey: Bool {
    switch self {
    case .corrupt, .distrusted, .secondStore: true
    case .noVault, .vaultExists, .inUse, .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired, .notAllowed,
      .neverRead, .newer, .storage, .permissions, .invalidValue, .needsAnotherItem, .tooLarge, .lastSlot, .noSuchSlot,
      .overtaken, .backingUp, .rekeying:
      false
    }
  }
}
