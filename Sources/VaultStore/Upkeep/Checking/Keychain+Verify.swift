import VaultCore
import VaultModel

// The check of all records, one step at a time.
extension Keychain {
  /// Begins a check of the whole store. It replaces a check in progress.
  ///
  /// The check covers what the keys in memory allow, and a key that is wiped meanwhile counts as if it had never been
  /// there. Items are served and changed during the check.
  public func beginVerification() {
    var expected: Int64 = 0
    for accessible in AccessClass.allCases { expected += (try? classRecord(accessible))?.sets.count ?? 0 }
    pass?.thaw()
    let pages = ((try? database.size()) ?? 0) / DatabaseHeader.pageSize
    pass = VerifyPass(expecting: Int(clamping: expected), pages: pages)
    guard let error = database.lostFile else { return }
    // The files that this check reads are not the files that the next start would find, or nobody knows whether they
    // are.
    notice(error)
    if Finding(error) == nil { pass?.obstacle = error }
  }

  /// Continues the check over at most `records` records, of which a long value counts as several.
  ///
  /// If the check ends with all keys in memory, ``integrity`` shows the result; a check without all keys shows only
  /// faults. After a fault was found, nothing is written to the store, and the store stays failed until it is opened
  /// again: a later check that finds nothing reports the earlier fault.
  /// - Returns: the result, at the end. Nil before the end, within a transaction, and when there is no check in
  ///   progress.
  /// - Throws: ``VaultError/storage(_:)`` when the system failed to read, or did not let this process look at the
  ///   files' names when the check began; the check is then abandoned. Corrupt data is not thrown: it becomes a
  ///   finding.
  public func continueVerification(records: Int) throws(VaultError) -> Verification? {
    guard case .none = transaction.state, var current = pass.take() else { return nil }
    // A check that is over, or was abandoned, must no longer keep the main file as it is.
    defer { if pass == nil { current.thaw() } }
    if let obstacle = current.obstacle { throw obstacle }
    do throws(VaultError) {
      guard try current.step(self, records: max(1, records)) else {
        // The findings take effect at once, because reading the rest may take as long as the maker of the file wants.
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

  /// The error, with advice, when the files that this keychain has open are no longer those that the next opening would
  /// find; ``VaultError/storage(_:)`` when that is not known; nil otherwise. This only looks at the files, and notes no
  /// fault.
  public var lostFile: VaultError? { database.lostFile }

  /// True when a check that begins now can cover all records.
  public var canVerifyAll: Bool { AccessClass.allCases.allSatisfy(holdsIntegrityKey) }

  /// True when the last completed check found everything as it was written, and no fault was found since. Another check
  /// may be in progress.
  public var isVerified: Bool { lastResult == .ok }
  /// True when a fault was found, in a check or outside of one.
  public var hasFailed: Bool { lastResult == .failed }
  /// The first fault that was found since the store was opened, in a check or outside of one, in words that contain no
  /// names; nil for none.
  public var firstFault: String? { verdict.failure?.text }

  // MARK: Faults found outside of a check

  /// Makes ``integrity`` fail, after which nothing is written, unless the error says nothing about the store.
  func notice(_ error: VaultError) {
    // A refusal because of an earlier finding is not a new finding.
    guard error != Self.failed, let finding = Finding(error) else { return }
    if verdict.failure == nil, case .distrusted = error { verdict.loss = error }
    meet(finding)
    // A check that has passed this place already must not report that all is well. A check that begins later finds the
    // fault by itself.
    if pass != nil { doubt(finding) }
  }

  /// Makes ``integrity`` fail for a fault that the next check can no longer find, and makes that check report the
  /// fault.
  func notice(_ finding: Finding) {
    meet(finding)
    doubt(finding)
  }

  /// Makes ``integrity`` fail and, unless it has failed before, informs the owner of the store.
  private func meet(_ finding: Finding) {
    if verdict.failure == nil { whenMet(finding.text) }
    fail(finding)
  }

  /// Makes ``integrity`` fail as long as the store is open. The faulty data may have been served or copied already, and
  /// a later check that does not find the fault again cannot tell why. The files stay as they are, even after closing,
  /// for whoever examines what happened to them. There is one exception: if the only fault is that the log lost its
  /// name, closing folds the log in, because what was written would otherwise be lost.
  private func fail(_ finding: Finding) {
    if finding != Finding(Database.lostLog) { database.distrust() }
    if verdict.met.count < Verdict.mostMet { verdict.met.insert(finding.text) }
    guard verdict.failure == nil else { return }
    verdict.failure = finding
    // The name may not be shown any more after a lock.
    verdict.failure?.name = nil
  }

  private func doubt(_ finding: Finding) {
    if verdict.doubts.count < 16, !verdict.doubts.contains(finding) { verdict.doubts.append(finding) }
  }

  /// Runs `body`, and notes the error if it says that the store is corrupt.
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
