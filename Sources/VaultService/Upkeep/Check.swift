package import VaultModel
internal import VaultStore

/// The result of a check of all records.
package struct CheckResult: Sendable {
  package var findings: [Finding]
  package let records: Int
  package let unharmed: Int
  package let harmed: Int
  /// The findings beside those that are listed, at least.
  package let omitted: Int
  /// The classes of which not everything could be checked, and the reason why.
  package let unchecked: [AccessClass]
  package let reason: String?
  /// The classes whose records are, taken together, not those that were written last.
  package let changed: [AccessClass]

  fileprivate init(_ result: Verification, because reason: String?) {
    findings = result.findings
    (records, unharmed, harmed, omitted) = (result.records, result.unharmed, result.harmed, result.omitted)
    (unchecked, changed) = (result.unchecked, result.changed)
    self.reason = reason
  }
}

/// The check of all records, which the first unlock begins: in slices between requests, so that nobody waits for it.
package final class Check: Runner.Work {
  package typealias Reader = VaultService.Reader<IntegrityState, CheckResult>

  /// The number of records between two looks at the clock.
  private static let stride = 16
  /// The number of records that are checked before an unlock is answered, so that of a small vault nothing is ever
  /// unverified.
  private static let atOnce = 1024
  /// The time between two words to a reader about its progress, in nanoseconds.
  private static let interval: Int64 = 100_000_000

  private let vault: Vault
  private let runner: Runner
  /// The error with which the last check was given up; nil when one went on since.
  private(set) var problem: VaultError?
  private let readers = Readers<IntegrityState, CheckResult>()
  /// True when a rekey waits for its end.
  private var isHurried = false
  /// Told when the store was found to be as it was written last.
  var whenOK: (Keychain) -> Void = { _ in }

  init(_ vault: Vault, _ runner: Runner) {
    self.vault = vault
    self.runner = runner
  }

  /// Has somebody told how far a check is and what it finds: of the one that is under way, or of a new one.
  package func wait(_ reader: Reader) throws(Refusal) {
    _ = try vault.keychain()
    readers.add(reader)
    goOn()
  }

  /// Has somebody told no more.
  package func leave(_ id: ObjectIdentifier) { readers.remove(id) }

  /// True when somebody waits for the end.
  var isAwaited: Bool { !readers.isEmpty }

  /// Begins the check, or goes on with one that a lock stopped. For after each unlock.
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

  /// Begins a check for whoever asks for one, or has it go on.
  ///
  /// - Parameter isHurried: true to have it end soon, whoever asks for something meanwhile.
  func goOn(isHurried: Bool = false) {
    if isHurried { self.isHurried = true }
    guard let keychain = vault.openKeychain else { return }
    if case .checking = keychain.integrity {} else { keychain.beginVerification() }
    runner.begin(self)
  }

  package var share: Runner.Share { isHurried || isAwaited ? .equal : .half }

  package func run(until end: Int64) -> Runner.Next {
    // Without all keys it goes on only for those who want to know what can be told without them.
    guard let keychain = vault.openKeychain, case .checking = keychain.integrity,
      keychain.canVerifyAll || !readers.isEmpty
    else { return .over }
    return step(keychain, until: end) ? .again : .over
  }

  /// Checks until that time, or, with nil, so many records as may be checked at once; false when it is over.
  private func step(_ keychain: Keychain, until end: Int64?) -> Bool {
    do throws(VaultError) {
      repeat {
        let stride = end == nil ? Self.atOnce : Self.stride
        if let result = try keychain.continueVerification(records: stride) { return conclude(result, keychain) }
      } while end.map { vault.clock.monotonic() < $0 } ?? false
    } catch {
      problem = error
      vault.log.error("the store could not be checked: \(error.text)")
      readers.end(.failure(Refusal(error)), in: vault.waiting.turns)
      return false
    }
    problem = nil
    readers.tell(keychain.integrity, every: Self.interval, now: vault.clock.monotonic())
    return true
  }

  /// Tells what came of it; true where another one begins.
  private func conclude(_ result: Verification, _ keychain: Keychain) -> Bool {
    problem = nil
    if !result.findings.isEmpty { tellFailure(result) }
    // Begun before all keys were there, or gone on with for somebody while they were not.
    if !result.unchecked.isEmpty, keychain.canVerifyAll {
      keychain.beginVerification()
      return true
    }
    if keychain.integrity == .ok {
      vault.log.info(
        "the store was checked: \(result.records) records, all as \(keychain.isCopy ? "of the copy" : "written")")
    }
    isHurried = false
    if result.isOK { whenOK(keychain) }
    readers.end(.success(CheckResult(result, because: reason(for: result.unchecked))), in: nil)
    return false
  }

  private func tellFailure(_ result: Verification) {
    let count = result.findings.count + result.omitted
    let cause = "the check of the store found \(Counted.text(count, "thing")) wrong"
    vault.log.error("\(cause), so nothing is written to it; `vault verify` names all of it")
    for finding in result.findings.prefix(10) { vault.log.error("\(finding.kind.rawValue): \(finding.text)") }
    vault.hooks.announce(.integrityFailed(cause))
  }

  /// The reason why not everything of some classes could be checked.
  private func reason(for unchecked: [AccessClass]) -> String? {
    if unchecked.isEmpty { return nil }
    switch vault.state.kind {
    case .unlocked: return "the hashes over the records could not be made yet"
    case .cold: return "the vault was not unlocked since the daemon started"
    default: return "the vault is locked"
    }
  }
}
