internal import VaultCore
internal import VaultModel
internal import VaultStore

/// A rekey that is under way: short steps between everybody's requests, and those who wait for its end.
///
/// It begins to copy when the store has been checked to its last record. It holds keys, and so ends with the next lock; the
/// unlock after that makes another one, which goes on from there.
package final class RekeyWork: SecretHolder, Runner.Work {
  /// The number of items that have been looked at, and of all.
  package typealias Progress = (done: Int, of: Int)
  package typealias Reader = VaultService.Reader<Progress, Progress>

  /// The time that it waits for the check of the store before it looks again, in nanoseconds, and the number of times that
  /// this may be given up.
  private static let patience: Int64 = 10_000_000
  private static let checks = 3
  /// Records in one step; the clock is looked at after each.
  private static let records = 4
  /// The first and the longest time beyond its share in one slice, in nanoseconds.
  private static let (firstOvertime, longestOvertime): (Int64, Int64) = (1_000_000, 256_000_000)
  /// The time between two words to those who wait, in nanoseconds.
  private static let interval: Int64 = 200_000_000

  private unowned let upkeep: Upkeep
  private let vault: Vault
  private let keychain: Keychain
  /// Nil from the end on.
  private var rekey: Rekey?
  /// The ways into the new vault.
  let slots: [SlotRecord]
  /// The keys that open the `memory` slots of the new vault.
  private var memoryKeys: [UInt32: Handover]
  private let readers = Readers<Progress, Progress>()
  private var checksBegun = 0
  /// The least number of changed items that were left to copy, and the time beyond its share that it got last.
  private var (least, extra): (Int, Int64) = (.max, 0)
  /// The items that were looked at, and all of them.
  package var progress: Progress { rekey?.progress ?? last }
  private var last: Progress
  /// The reason why it does not go on by itself.
  private(set) var problem: VaultError?

  init(_ upkeep: Upkeep, _ keychain: Keychain, _ rekey: Rekey, nextKey: borrowing SecureBytes) {
    self.upkeep = upkeep
    vault = upkeep.vault
    self.keychain = keychain
    self.rekey = rekey
    slots = rekey.slots
    last = rekey.progress
    var keys: [UInt32: Handover] = [:]
    for slot in rekey.slots where slot.isInMemory {
      keys[slot.id] = Handover(SlotRecord.memoryKey(id: slot.id, vaultKey: nextKey))
    }
    memoryKeys = keys
    super.init(in: vault.holders)
  }

  /// Goes on, also after a problem.
  func goOn() {
    problem = nil
    checksBegun = 0
    if rekey != nil { upkeep.runner.begin(self) }
  }

  /// Has somebody told how far it is, and of the end.
  func wait(_ reader: Reader) {
    readers.add(reader)
    goOn()
  }

  /// Has somebody told no more. The rekey goes on.
  func leave(_ id: ObjectIdentifier) { readers.remove(id) }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next {
    guard let rekey else { return .over }
    let end = end + overtime(rekey)
    do throws(VaultError) {
      guard try isChecked() else {
        tell()
        return .later(Self.patience)
      }
      repeat {
        guard try rekey.step(records: Self.records) else { continue }
        // A backup that was begun before reads the file that is to be replaced.
        guard keychain.canBeReplaced else { return .later(Self.patience) }
        try finish(rekey)
        return .over
      } while vault.clock.monotonic() < end
    } catch {
      fail(error)
      return .over
    }
    tell()
    return .again
  }

  /// The time beyond its share that it needs to catch up with those who change items faster than it copies them, in
  /// nanoseconds: twice as much each time that it has not come nearer.
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

  /// True when the check of the live store has found everything in order; it goes on by itself otherwise.
  private func isChecked() throws(VaultError) -> Bool {
    if keychain.isVerified { return true }
    switch keychain.integrity {
    case .failed: throw .corrupt("the check of the store found that it was changed")
    case .unchecked:
      // It was never begun, or given up because the disk failed.
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
    // Entries that wait go into the store whose key they are sealed to, also if the new one cannot be opened at once.
    vault.audit.willCopy()
    try rekey.finish(recording: vault.audit.fillWithRekey, now: vault.clock.wall())
    vault.audit.haveWritten()
    last = rekey.progress
    // From now on they are kept as those of the live vault are.
    let keys = memoryKeys
    memoryKeys = [:]
    upkeep.isRekeyed(keychain, old: old, keys)
    end(.success(progress))
  }

  private func fail(_ error: VaultError) {
    if keychain.isGone {
      vault.log.error("the store could not be opened again: \(error.text)")
      end(.failure(Refusal(error)))
      return vault.reopenStore()
    }
    switch error {
    case .corrupt, .distrusted, .secondStore:
      // Nothing that is done again would end otherwise.
      end(.failure(Refusal(error)))
      // The second store is closed by now; while it was open here nobody else could read it.
      upkeep.giveUpRekey(keychain, slots, because: error)
    default:
      vault.log.warning("the rekey rests: \(error.text)")
      problem = error
      readers.end(.failure(Refusal(error)), in: vault.waiting.turns)
    }
  }

  /// Wipes the new keys. What is done so far stays.
  func stop(_ refusal: Refusal) { end(.failure(refusal)) }

  /// The same at the daemon's end, when there are no more turns to answer in.
  func stopAtOnce(_ refusal: Refusal) {
    readers.end(.failure(refusal), in: nil)
    stop(refusal)
  }

  private func end(_ outcome: Result<Progress, Refusal>) {
    rekey = nil
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

  public override func outlives(_ lock: Lock) -> Bool { rekey != nil || !memoryKeys.isEmpty }
}

extension SlotRecord {
  /// True when its key is kept in the daemon's memory alone.
  var isInMemory: Bool { terms?.keystore == "memory" }
}
