import VaultCore
import VaultModel

// Checking all records, a step at a time.
extension Keychain {
  /// Begins a check of the whole store, in place of one that is under way.
  ///
  /// It goes as far as the keys in memory allow, and a key that is wiped meanwhile counts as one that never was there. Items are served and changed meanwhile.
  public func beginVerification() {
    var expected: Int64 = 0
    for accessible in AccessClass.allCases { expected += (try? classRecord(accessible))?.sets.count ?? 0 }
    pass?.thaw()
    let pages = ((try? database.size()) ?? 0) / DatabaseHeader.pageSize
    pass = VerifyPass(expecting: Int(clamping: expected), pages: pages)
    // What is checked is not what the next start would find.
    if let error = database.connection.lostFile { notice(error) }
  }

  /// Goes on with the check over at most so many records, where a long value counts for several.
  ///
  /// When it comes to its end with all keys, ``integrity`` tells the result; a check without all of them tells only of
  /// what is wrong. A store in which anything wrong was met is not written to from then on and stays failed until it is opened
  /// anew: a check that finds nothing then tells of that.
  /// - Returns: the result at the end, nil before it and when none is under way.
  /// - Throws: ``VaultError/storage(_:)`` when the system failed to read; the check is then given up. Whatever is corrupt is
  ///   a finding.
  public func continueVerification(records: Int) throws(VaultError) -> Verification? {
    guard case .none = transaction, var current = pass.take() else { return nil }
    // It is over, or was given up: nothing may hold the main file as it is.
    defer { if pass == nil { current.thaw() } }
    do throws(VaultError) {
      guard try current.step(self, records: max(1, records)) else {
        // At once: what is left to read may last as long as somebody has made the file.
        current.verification.findings.forEach(fail)
        pass = current
        return nil
      }
    } catch .corrupt(let reason) {
      current.note(Finding(.damaged, reason))
    }
    for finding in doubts { current.note(finding) }
    doubts = []
    current.verification.findings.forEach(fail)
    if current.verification.findings.isEmpty, let failure { current.note(failure.asFoundEarlier) }
    let result = current.verification
    if result.isOK { lastCheck = .ok }
    return result
  }

  /// Whether a check that begins now can tell of all records.
  public var canVerifyAll: Bool { AccessClass.allCases.allSatisfy(holdsIntegrityKey) }

  /// Whether the last check that came to its end found all as it was written, also while another is under way.
  public var isVerified: Bool { lastResult == .ok }
  /// Whether it found something wrong, or something wrong was met since.
  var hasFailed: Bool { lastResult == .failed }

  // MARK: What is met outside a check

  /// Has ``integrity`` fail, unless the error says nothing of the store: from then on nothing is written.
  func notice(_ error: VaultError) {
    // What is refused because of an earlier finding is none.
    guard error != Self.failed, let finding = Finding(error) else { return }
    meet(finding)
    // A check that has passed the place may not say that all is well; one that begins later finds it by itself.
    if pass != nil { doubt(finding) }
  }

  /// Has ``integrity`` fail for what the next check cannot find any more, and has that check tell it.
  func notice(_ finding: Finding) {
    meet(finding)
    doubt(finding)
  }

  /// Has ``integrity`` fail, and tells whoever owns the store, unless it has failed before.
  private func meet(_ finding: Finding) {
    if failure == nil { whenMet(finding.text) }
    fail(finding)
  }

  /// Has ``integrity`` fail for as long as the store is open: what was met once may have been served or copied before, and
  /// a later check that does not meet it again cannot tell why. Its files stay as they are also when it is closed, for
  /// whoever looks what happened to them, unless all that happened is that the log lost its name: then what was written is
  /// there, and would be gone without closing's folding it in.
  private func fail(_ finding: Finding) {
    if finding != Finding(Connection.lostLog) { database.distrust() }
    guard failure == nil else { return }
    failure = finding
    // A name may not be told after a lock.
    failure?.name = nil
  }

  private func doubt(_ finding: Finding) { if doubts.count < 16 { doubts.append(finding) } }

  /// Runs a piece of work, and notices when it finds the store corrupt.
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
