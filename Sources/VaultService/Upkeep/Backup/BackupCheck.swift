internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The check of the data that a backup copies, as far as the keys in memory allow. A backup counts only after this
/// check, and only if everything was as it was written.
///
/// The records need no second check if a check of the whole store has succeeded since the store was opened: from then
/// on each change keeps the hashes over the records up to date. If there was no such check yet, this check waits for
/// one. There are no such hashes over the audit log, so the log is checked for each backup.
///
/// The check stops when the transfer ends without being complete, and when nobody waits for the result any more.
package final class BackupCheck: SecretHolder, Runner.Work {
  /// The names of the parts that could not be checked without their keys, or the reason why the backup does not count.
  typealias Outcome = Result<[String], Refusal>

  /// The number of rows of the log that are checked between two readings of the clock.
  private static let stride = 16
  private static let log = "the audit log"

  private let vault: Vault
  private let runner: Runner
  private let keychain: Keychain
  /// The check of the whole store.
  private let records: Check
  private var walk: AuditWalk?
  private var unchecked: [String] = []
  private var outcome: Outcome?
  private var then: ((Outcome) -> Void)?
  private var isWanted: () -> Bool = { true }

  init(_ upkeep: Upkeep, _ keychain: Keychain) {
    vault = upkeep.vault
    runner = upkeep.runner
    self.keychain = keychain
    records = upkeep.check
    super.init(in: vault.holders)
    if keychain.isVerified {
      checkLog()
    } else {
      checkRecords()
    }
  }

  private func checkRecords() {
    let reader = Check.Reader(ObjectIdentifier(self)) {
      true
    } tell: { [self] _ in
      if !isWanted() { stop() }
    } end: { [self] result in
      switch result {
      case .success(let result):
        guard result.findings.isEmpty else { return conclude(.failure(Self.failed)) }
        unchecked = result.unchecked.map(\.name)
        checkLog()
      case .failure(let refusal): conclude(.failure(refusal))
      }
    }
    do throws(Refusal) { try records.wait(reader) } catch { conclude(.failure(error)) }
  }

  /// Passes the outcome to `then` once the check is over.
  ///
  /// - Parameter isWanted: tells whether somebody still waits for it; if nobody does, the check ends.
  func whenOver(isWanted: @escaping () -> Bool, _ then: @escaping (Outcome) -> Void) {
    if let outcome { return then(outcome) }
    (self.isWanted, self.then) = (isWanted, then)
  }

  /// Ends the check of a copy that counts for nothing.
  func stop() {
    guard outcome == nil else { return }
    records.leave(ObjectIdentifier(self))
    runner.end(self)
    conclude(.failure(.cancelled))
  }

  private static var failed: Refusal {
    Refusal(
      VaultError.distrusted(
        "the check of the store failed, so the backup is not valid",
        advice: "`vault verify` says what is wrong, `vault salvage` saves what is intact"))
  }

  private func conclude(_ outcome: Outcome) {
    guard self.outcome == nil else { return }
    walk = nil
    self.outcome = outcome
    isWanted = { true }
    let then = then
    self.then = nil
    then?(outcome)
  }

  // MARK: The audit log

  private func checkLog() {
    do throws(VaultError) {
      walk = try keychain.auditWalk(noted: [:])
      runner.begin(self)
    } catch { end(error) }
  }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next {
    if !isWanted() { stop() }
    guard let walk else { return .over }
    do throws(VaultError) {
      repeat {
        guard try walk.step(keychain, rows: Self.stride) else { continue }
        conclude(walk.faults.isEmpty && !keychain.hasFailed ? .success(unchecked) : .failure(Self.failed))
        return .over
      } while vault.clock.monotonic() < end
    } catch {
      self.end(error)
      return .over
    }
    return .again
  }

  private func end(_ error: VaultError) {
    // The backup counts even if a lock has stopped the check of the log: all other parts were as written up to the last
    // change.
    if error == .locked, !keychain.hasFailed { return conclude(.success(unchecked + [Self.log])) }
    conclude(.failure(Refusal(error)))
  }

  package override func letGo(for lock: Lock) {
    guard walk != nil else { return }
    runner.end(self)
    end(.locked)
  }

  package override func outlives(_ lock: Lock) -> Bool { walk != nil }
}
