import VaultCore
import VaultModel

// Checking all records, a step at a time.
extension Keychain {
  /// Begins a check of the whole store, in place of one that is under way.
  ///
  /// It goes as far as the keys in memory allow, and a key that is wiped meanwhile counts as one that never was there. Items are served and changed meanwhile.
  public func beginVerification() {
    var expected: Int64 = 0
    for accessible in AccessClass.allCases { expected += (try? storedHashes(accessible))?.count ?? 0 }
    if pass == nil { beforePass = integrity }
    pass = VerifyPass(expecting: Int(clamping: expected))
    integrity = pass?.state ?? .unchecked
  }

  /// Goes on with the check over at most so many records, where a long value counts for several.
  ///
  /// When it comes to its end with all keys, ``integrity`` tells the result; a check without all of them tells only of
  /// what is wrong.
  /// - Returns: the result at the end, nil before it and when none is under way.
  /// - Throws: ``VaultError/storage(_:)`` when the system failed to read; the check is then given up.
  public func continueVerification(records: Int) throws(VaultError) -> Verification? {
    guard case .none = transaction, var current = pass.take() else { return nil }
    do throws(VaultError) {
      guard try current.step(self, records: max(1, records)) else {
        integrity = current.state
        pass = current
        return nil
      }
    } catch {
      integrity = beforePass
      throw error
    }
    let result = current.verification
    integrity = result.isOK ? .ok : result.findings.isEmpty ? beforePass : .failed
    return result
  }

  /// Whether a check that begins now can tell of all records.
  public var canVerifyAll: Bool { hasHashes && AccessClass.allCases.allSatisfy(holdsIntegrityKey) }

  /// Whether the last check that came to its end found all as it was written, also while another is under way.
  public var isVerified: Bool { lastResult == .ok }
  /// Whether it found something wrong.
  var hasFailed: Bool { lastResult == .failed }
  private var lastResult: IntegrityState { pass == nil ? integrity : beforePass }

  /// Checks the whole store at once; see ``beginVerification()``.
  public func verify() throws(VaultError) -> Verification {
    beginVerification()
    while true {
      if let result = try continueVerification(records: 1 << 20) { return result }
    }
  }
}
