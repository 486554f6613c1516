import VaultCore
import VaultModel

// Checking all records, a step at a time.
extension Keychain {
  /// Begins a check of the whole store, in place of one that is under way.
  ///
  /// It goes as far as the keys in memory allow. Items are served and changed meanwhile.
  public func beginVerification() {
    var expected: Int64 = 0
    for accessible in AccessClass.allCases { expected += (try? storedHashes(accessible))?.count ?? 0 }
    pass = VerifyPass(expecting: Int(clamping: expected))
    beforePass = integrity
    integrity = pass?.state ?? .unchecked
  }

  /// Goes on with the check over at most so many records.
  ///
  /// When it comes to its end with all keys, ``integrity`` tells the result; a check without all of them tells only of
  /// what is wrong.
  /// - Returns: the result at the end, nil before it and when none is under way.
  /// - Throws: ``VaultError/storage(_:)`` when the system failed to read; the check is then given up.
  public func continueVerification(records: Int) throws(VaultError) -> Verification? {
    guard var current = pass, case .none = transaction else { return nil }
    do throws(VaultError) {
      let isDone = try current.step(self, records: max(1, records))
      pass = current
      guard isDone else {
        integrity = current.state
        return nil
      }
    } catch {
      pass = nil
      integrity = beforePass
      throw error
    }
    let result = current.verification
    pass = nil
    integrity = result.isOK ? .ok : result.findings.isEmpty ? beforePass : .failed
    return result
  }

  /// Whether the last check that came to its end found something, also while another is under way.
  var hasFailed: Bool { (pass == nil ? integrity : beforePass) == .failed }

  /// Checks the whole store at once; see ``beginVerification()``.
  public func verify() throws(VaultError) -> Verification {
    beginVerification()
    while true {
      if let result = try continueVerification(records: 1 << 20) { return result }
    }
  }
}
