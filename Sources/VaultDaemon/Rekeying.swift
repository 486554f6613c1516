internal import Logging
internal import NIOCore
internal import VaultAPI
internal import VaultCore
internal import VaultStore

/// A rekey that is under way: short steps on the loop, between everybody's requests, and those who wait for its end.
///
/// It begins to copy when the store has been checked to its last record. It holds keys, and so ends with the next lock; the
/// unlock after that makes another one, which goes on from there.
final class Rekeying {
  /// The time that one turn takes, and the time for which the loop is then everybody else's. A task without a delay
  /// would run before the loop has looked at its sockets again.
  private static let turn: Int64 = 150_000
  private static let pause = TimeAmount.microseconds(50)
  /// The time that it waits for the check of the store before it looks again, and the number of times it may be given
  /// up.
  private static let patience = TimeAmount.milliseconds(10)
  private static let checks = 3
  /// Records in one step; the clock is looked at after each.
  private static let records = 4
  /// The time between two words to those who wait, in nanoseconds.
  private static let interval: Int64 = 200_000_000

  private unowned let service: Service
  private let keychain: Keychain
  private let rekey: Rekey
  /// The keys that open the `memory` slots of the new vault.
  private let memoryKeys: [UInt32: Handover]
  private var waiters = ProgressReaders()
  private var next: Scheduled<Void>?
  private var checksBegun = 0
  private var isOver = false
  /// The reason why it does not go on by itself.
  private(set) var problem: VaultError?

  init(_ service: Service, _ keychain: Keychain, _ rekey: Rekey, nextKey: borrowing SecureBytes) {
    self.service = service
    self.keychain = keychain
    self.rekey = rekey
    var keys: [UInt32: Handover] = [:]
    for slot in rekey.slots where slot.isInMemory {
      keys[slot.id] = Handover(SlotRecord.memoryKey(id: slot.id, vaultKey: nextKey))
    }
    memoryKeys = keys
  }

  /// The number of items that have been looked at, and of all.
  var progress: (done: Int, of: Int) { rekey.progress }

  /// Goes on, also after a problem.
  func goOn() {
    problem = nil
    checksBegun = 0
    turn(after: Self.pause)
  }

  private func turn(after pause: TimeAmount) {
    guard next == nil, !isOver else { return }
    next = service.loop.assumeIsolated().scheduleTask(in: pause) { [self] in
      next = nil
      takeTurn()
    }
  }

  /// Has a call wait for the end.
  func wait(_ connection: Connection) {
    let id = ObjectIdentifier(connection)
    waiters.add(connection)
    connection.hold { [weak self] in self?.waiters.remove(id) }
    goOn()
  }

  private func takeTurn() {
    guard !isOver else { return }
    let end = service.clock.monotonic() + Self.turn
    do throws(VaultError) {
      guard try isChecked() else {
        tell()
        return turn(after: Self.patience)
      }
      repeat {
        guard try rekey.step(records: Self.records) else { continue }
        // A backup that was begun before reads the file that is to be replaced.
        guard keychain.canBeReplaced else { return turn(after: Self.patience) }
        return try finish()
      } while service.clock.monotonic() < end
    } catch {
      return fail(error)
    }
    tell()
    turn(after: Self.pause)
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
    service.goOnChecking()
    return false
  }

  /// Tells those who wait how far it is, now and then.
  private func tell() {
    guard !waiters.isEmpty else { return }
    waiters.tell(Wire.RekeyReply(progress), every: Self.interval, now: service.clock.monotonic())
  }

  // MARK: Ends

  private func finish() throws(VaultError) {
    let old = keychain.slots
    try rekey.finish()
    service.isRekeyed(keychain, old: old, memoryKeys)
    let done = Wire.RekeyReply(progress)
    end { $0.reply(done) }
  }

  private func fail(_ error: VaultError) {
    if keychain.isGone {
      service.log.error("the store could not be opened again: \(error.text)")
      end { $0.fail(Fault(error)) }
      return service.reopenStore()
    }
    switch error {
    case .corrupt:
      // Nothing that is done again would end otherwise.
      service.log.error("the rekey is given up: \(error.text)")
      // Asked before the second store goes; while it is open here nobody else can read it.
      let slots = rekey.slots
      end { $0.fail(Fault(error)) }
      service.dropRekey(keychain, slots)
    default:
      service.log.warning("the rekey rests: \(error.text)")
      problem = error
      release { $0.fail(Fault(error)) }
    }
  }

  /// Wipes the new keys. What is done so far stays.
  func stop(_ fault: Fault) { end { $0.fail(fault) } }

  /// The same at the daemon's end, when there are no more turns to answer in.
  func stopAtOnce(_ fault: Fault) {
    for connection in waiters.takeAll() { connection.fail(fault) }
    stop(fault)
  }

  private func end(_ answer: @escaping (Connection) -> Void) {
    isOver = true
    next?.cancel()
    next = nil
    if service.rekeying === self { service.rekeying = nil }
    release(answer)
  }

  private func release(_ answer: @escaping (Connection) -> Void) { service.answer(waiters.takeAll(), answer) }
}

extension SlotRecord {
  /// True when its key is kept in the daemon's memory alone.
  var isInMemory: Bool { terms?.keystore == "memory" }
}

extension Wire.RekeyReply {
  fileprivate init(_ progress: (done: Int, of: Int)) { self.init(done: progress.done, of: progress.of) }
}
