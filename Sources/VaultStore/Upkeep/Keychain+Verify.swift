import VaultCore
import VaultModel

// Checking all records, a step at a time.
extension Keychain {
  /// Begins a check of the whole store, in place of one that is under way.
  ///
  /// It goes as far as the keys in memory allow, and a key that is wiped meanwhile counts as one that never was there.
  /// Items are served and changed meanwhile.
  public func beginVerification() {
    var expected: Int64 = 0
    for accessible in AccessClass.allCases { expected += (try? classRecord(accessible))?.sets.count ?? 0 }
    pass?.thaw()
    let pages = ((try? database.size()) ?? 0) / DatabaseHeader.pageSize
    pass = VerifyPass(expecting: Int(clamping: expected), pages: pages)
    // The files that are checked are not those that the next start would find.
    if let error = database.lostFile { notice(error) }
  }

  /// Continues the check over at most `records` records, a long value counting as several.
  ///
  /// When it comes to its end with all keys, ``integrity`` shows the result; a check without all of them shows only
  /// faults. A store in which a fault was met is not written to from then on and stays failed until it is opened again:
  /// a later check that finds nothing reports that fault.
  /// - Returns: the result at the end; nil before it, within a transaction, and when no check is under way.
  /// - Throws: ``VaultError/storage(_:)`` when the system failed to read; the check is then given up. Anything
  ///   corrupt is a finding.
  public func continueVerification(records: Int) throws(VaultError) -> Verification? {
    guard case .none = transaction.state, var current = pass.take() else { return nil }
    // The check is over, or was given up, and must no longer keep the main file as it is.
    defer { if pass == nil { current.thaw() } }
    do throws(VaultError) {
      guard try current.step(self, records: max(1, records)) else {
        // At once, because reading the rest may take as long as the maker of the file wants.
        current.verification.findings.forEach(fail)
        pass = current
        return nil
      }
    } catch .corrupt(let reason) {
      current.note(Finding(.damaged, reason))
    }
    for finding in verdict.doubts { current.note(finding) }
    verdict.doubts = []
    current.verification.findings.forEach(fail)
    if current.verification.findings.isEmpty, let failure = verdict.failure { current.note(failure.asFoundEarlier) }
    let result = current.verification
    if result.isOK { verdict.lastCheck = .ok }
    return result
  }

  /// True when a check that begins now can cover all records.
  public var canVerifyAll: Bool { AccessClass.allCases.allSatisfy(holdsIntegrityKey) }

  /// True when the last check that came to its end found everything as it was written and no fault was met since, even
  /// while another check is under way.
  public var isVerified: Bool { lastResult == .ok }
  /// True when a check found a fault, or one was met outside of a check.
  public var hasFailed: Bool { lastResult == .failed }

  // MARK: Faults met outside of a check

  /// Makes ``integrity`` fail, unless the error says nothing about the store: from then on nothing is written.
  func notice(_ error: VaultError) {
    // A refusal because of an earlier finding is not a finding.
    guard error != Self.failed, let finding = Finding(error) else { return }
    meet(finding)
    // A check that has passed the place must not say that all is well; one that begins later finds the fault by itself.
    if pass != nil { doubt(finding) }
  }

  /// Makes ``integrity`` fail for a fault that the next check can no longer find, and has that check report it.
  func notice(_ finding: Finding) {
    meet(finding)
    doubt(finding)
  }

  /// Makes ``integrity`` fail, and tells the owner of the store, unless it has failed before.
  private func meet(_ finding: Finding) {
    if verdict.failure == nil { whenMet(finding.text) }
    fail(finding)
  }

  /// Makes ``integrity`` fail for as long as the store is open: what was met once may have been served or copied
  /// before, and a later check that does not meet it again cannot tell why. The files stay as they are even when they
  /// are closed, for whoever examines what happened to them, unless the only fault is that the log lost its name: then
  /// what was written is there, and would be lost if closing did not fold it in.
  private func fail(_ finding: Finding) {
    if finding != Finding(Database.lostLog) { database.distrust() }
    if verdict.met.count < Verdict.mostMet { verdict.met.insert(finding.text) }
    guard verdict.failure == nil else { return }
    verdict.failure = finding
    // A name may no longer be told after a lock.
    verdict.failure?.name = nil
  }

  private func doubt(_ finding: Finding) { if verdict.doubts.count < 16 { verdict.doubts.append(finding) } }

  /// Runs a piece of work, and notices when its error says that the store is corrupt.
  func noticing<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      notice(error)
      throw error
    }
  }

  /// Checks the whole store at once; see ``beginVerification()``.
  public func verify() throws(VaultError) -> Verification {
    beginVerification()
    while true {
      if let result = try continueVerification(records: 1 << 20) { return result }
    }
  }
}
