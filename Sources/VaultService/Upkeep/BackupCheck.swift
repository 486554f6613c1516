internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The check of what a backup copies, as far as the keys in memory go: a backup counts only once that is over and
/// everything was as it was written.
///
/// The records are those of the check of this opening of the store, which is waited for while it goes on: from then on
/// each change keeps the hashes over them up to date. The audit log, over which there are none, is looked at anew.
package final class BackupCheck: SecretHolder, Runner.Work {
  /// The names of what could not be checked for want of keys, or why the backup counts for nothing.
  typealias Outcome = Result<[String], Refusal>

  /// The rows of the log between two looks at the clock.
  private static let stride = 16
  private static let log = "the audit log"

  private let vault: Vault
  private let runner: Runner
  private let keychain: Keychain
  private var walk: AuditWalk?
  private var unchecked: [String] = []
  private var outcome: Outcome?
  private var then: ((Outcome) -> Void)?

  init(_ upkeep: Upkeep, _ keychain: Keychain) {
    vault = upkeep.vault
    runner = upkeep.runner
    self.keychain = keychain
    super.init(in: vault.holders)
    if keychain.isVerified {
      checkLog()
    } else {
      checkRecords(upkeep.check)
    }
  }

  private func checkRecords(_ check: Check) {
    let reader = Check.Reader(ObjectIdentifier(self)) {
      false
    } tell: { _ in
    } end: { [self] result in
      switch result {
      case .success(let result):
        guard result.findings.isEmpty else { return conclude(.failure(Self.failed)) }
        unchecked = result.unchecked.map(\.name)
        checkLog()
      case .failure(let refusal): conclude(.failure(refusal))
      }
    }
    do throws(Refusal) { try check.wait(reader) } catch { conclude(.failure(error)) }
  }

  /// Tells what came of it, once it is over.
  func whenOver(_ then: @escaping (Outcome) -> Void) {
    if let outcome { then(outcome) } else { self.then = then }
  }

  private static var failed: Refusal {
    Refusal(
      VaultError.distrusted(
        "the check of the store failed, so the backup counts for nothing",
        advice: "`vault verify` says what is wrong, `vault salvage` saves what is whole"))
  }

  private func conclude(_ outcome: Outcome) {
    guard self.outcome == nil else { return }
    walk = nil
    self.outcome = outcome
    then?(outcome)
    then = nil
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
    // Whatever else the vault is, it was as written to the last change.
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
