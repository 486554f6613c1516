package import VaultModel
internal import VaultStore

/// The result of a check of all records.
package struct CheckResult: Sendable {
  package var findings: [Finding]
  package let records: Int
  package let unharmed: Int
  package let harmed: Int
  /// A lower bound on the number of findings beyond those that are listed.
  package let omitted: Int
  /// The classes of which not everything could be checked, and the reason.
  package let unchecked: [AccessClass]
  package let reason: String?
  /// The classes whose records, taken together, are not those that were written last.
  package let changed: [AccessClass]

  fileprivate init(_ result: Verification, because reason: String?) {
    findings = result.findings
    (records, unharmed, harmed, omitted) = (result.records, result.unharmed, result.harmed, result.omitted)
    (unchecked, changed) = (result.unchecked, result.changed)
    self.reason = reason
  }
}

/// The check of all records. The first unlock begins it, and it runs in slices between requests, so that nobody waits
/// for it.
package final class Check: Runner.Work {
  package typealias Reader = VaultService.Reader<IntegrityState, CheckResult>

  /// The number of records that are checked between two readings of the clock.
  private static let stride = 16
  /// The number of records that are checked before an unlock is answered, so that nothing of a small vault is ever
  /// unverified.
  private static let atOnce = 1024
  /// The time between two progress reports to a reader, in nanoseconds.
  private static let interval: Int64 = 100_000_000

  private let vault: Vault
  private let runner: Runner
  /// The error that ended the last check; nil if a check has continued since.
  private(set) var problem: VaultError?
  /// The error that was logged last; nil if a check was completed since.
  private var logged: String?
  private let readers = Readers<IntegrityState, CheckResult>()
  /// True when a rekey waits for the end of the check.
  private var isHurried = false
  /// Called when the store was found to be as it was written last.
  var whenOK: (Keychain) -> Void = { _ in }

  init(_ vault: Vault, _ runner: Runner) {
    self.vault = vault
    self.runner = runner
  }

  /// Adds a reader, who is told the progress and the result of the current check, or of a new one.
  package func wait(_ reader: Reader) throws(Refusal) {
    _ = try vault.keychain()
    readers.add(reader)
    goOn()
  }

  /// Removes a reader.
  package func leave(_ id: ObjectIdentifier) { readers.remove(id) }

  /// True when a reader waits for the end.
  var isAwaited: Bool { !readers.isEmpty }

  /// Begins the check, or continues one that a lock stopped. Called after each unlock.
  func unlocked(_ keychain: Keychain) {
    guard keychain.canVerifyAll else { return }
    switch keychain.integrity {
    case .ok, .failed: return
    case .unchecked: keychain.beginVerification()
    case .checking: break
    }
    if step(keychain, until: nil) { runner.begin(self) }
    runner.pause()
  }

  /// Begins a check, or continues the current one, for somebody who asked for it.
  ///
  /// - Parameter isHurried: true to complete it soon, even if there are requests meanwhile.
  func goOn(isHurried: Bool = false) {
    if isHurried { self.isHurried = true }
    guard let keychain = vault.openKeychain else { return }
    if case .checking = keychain.integrity {} else { keychain.beginVerification() }
    runner.begin(self)
  }

  package var share: Runner.Share { isHurried || isAwaited ? .equal : .half }

  package func run(until end: Int64) -> Runner.Next {
    // Without all keys the check continues only for readers, who want the result that is possible without them.
    guard let keychain = vault.openKeychain, case .checking = keychain.integrity else {
      // The store was closed meanwhile. No later step would tell those who wait.
      readers.end(.failure(obstacle), in: vault.waiting.turns)
      return .over
    }
    guard keychain.canVerifyAll || !readers.isEmpty else { return .over }
    return step(keychain, until: end) ? .again : .over
  }

  /// The reason why a check that is no longer in progress ends.
  private var obstacle: Refusal {
    do throws(Refusal) { _ = try vault.keychain() } catch { return error }
    return .storageFailed("the store was opened again before the check was over")
  }

  /// Checks records until the time `end`; with nil, as many records as may be checked at once. Returns false when the
  /// check is over.
  private func step(_ keychain: Keychain, until end: Int64?) -> Bool {
    do throws(VaultError) {
      repeat {
        let stride = end == nil ? Self.atOnce : Self.stride
        if let result = try keychain.continueVerification(records: stride) { return conclude(result, keychain) }
      } while end.map { vault.clock.monotonic() < $0 } ?? false
    } catch {
      problem = error
      // A rekey that waits for the check begins it again and again.
      if logged != error.text { vault.log.error("the store could not be checked: \(error.text)") }
      logged = error.text
      readers.end(.failure(Refusal(error)), in: vault.waiting.turns)
      return false
    }
    problem = nil
    readers.tell(keychain.integrity, every: Self.interval, now: vault.clock.monotonic())
    return true
  }

  /// Announces the result; true if another check begins.
  private func conclude(_ result: Verification, _ keychain: Keychain) -> Bool {
    (problem, logged) = (nil, nil)
    if !result.findings.isEmpty { tellFailure(result) }
    // The check was begun before all keys were in memory, or continued for a reader while they were not.
    if !result.unchecked.isEmpty, keychain.canVerifyAll {
      keychain.beginVerification()
      return true
    }
    if keychain.integrity == .ok {
      let before = keychain.isCopy ? "in the copy" : "written"
      vault.log.info("the store was checked: \(result.records) records, all as they were \(before)")
    }
    isHurried = false
    if result.isOK { whenOK(keychain) }
    readers.end(.success(CheckResult(result, because: reason(for: result.unchecked))), in: nil)
    return false
  }

  private func tellFailure(_ result: Verification) {
    let count = result.findings.count + result.omitted
    let cause = "the check of the store found \(Counted.text(count, "thing")) wrong"
    vault.log.error("\(cause), so nothing more is written to it; `vault verify` lists everything")
    for finding in result.findings.prefix(10) { vault.log.error("\(finding.kind.rawValue): \(finding.text)") }
    vault.hooks.announce(.integrityFailed(cause))
  }

  /// The reason why not everything in these classes could be checked; nil if there are none.
  private func reason(for unchecked: [AccessClass]) -> String? {
    if unchecked.isEmpty { return nil }
    switch vault.state.kind {
    case .unlocked: return "the hashes over the records could not be made yet"
    case .cold: return "the vault was not unlocked since the daemon started"
    case .new, .locked, .unreadable: return "the vault is locked"
    }
  }
}
