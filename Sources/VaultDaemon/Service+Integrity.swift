internal import Logging
internal import VaultAPI
internal import VaultStore

/// The check of all records, which the first unlock begins: in slices between requests, so that nobody waits for it.
extension Service {
  /// True when all records are known to be those that were written last.
  var isVerified: Bool {
    guard case .open(let keychain) = vault.content else { return false }
    return keychain.isVerified
  }

  /// Begins the check, or goes on with one that a lock stopped. For after each unlock.
  func checkStore() {
    guard case .open(let keychain) = vault.content, keychain.canVerifyAll else { return }
    switch keychain.integrity {
    case .ok, .failed: return
    case .unchecked: keychain.beginVerification()
    case .checking: break
    }
    checkOn(keychain, until: nil)
  }

  /// Begins a check for whoever asks for one, or has it go on.
  func goOnChecking() {
    guard case .open(let keychain) = vault.content else { return }
    if case .checking = keychain.integrity {} else { keychain.beginVerification() }
    nextSlice()
  }

  /// A check without all keys goes on only for those who want to know what can be told without them.
  private func mayCheckOn(_ keychain: Keychain) -> Bool { keychain.canVerifyAll || !check.readers.isEmpty }

  private func nextSlice() {
    guard !check.isScheduled else { return }
    do throws(SystemError) {
      if check.turns == nil { check.turns = try LoopTurns(on: loop) { [unowned self] in slice() } }
      check.isScheduled = true
      check.turns?.next()
    } catch {
      // What was checked stays checked; the next unlock goes on.
      log.warning("the check of the store cannot go on: \(error)")
    }
  }

  private func slice() {
    check.isScheduled = false
    guard case .open(let keychain) = vault.content, case .checking = keychain.integrity, mayCheckOn(keychain) else {
      return
    }
    let now = clock.monotonic()
    checkOn(keychain, until: now + check.slice(now: now))
  }

  /// Checks until that time, or, with nil, so many records as may be checked at once.
  private func checkOn(_ keychain: Keychain, until end: Int64?) {
    do throws(VaultError) {
      repeat {
        let stride = end == nil ? IntegrityCheck.atOnce : IntegrityCheck.stride
        if let result = try keychain.continueVerification(records: stride) { return conclude(result, keychain) }
      } while end.map { clock.monotonic() < $0 } ?? false
    } catch {
      check.problem = error
      log.error("the store could not be checked: \(error.text)")
      return endReaders(with: Fault(error))
    }
    check.problem = nil
    tellProgress(keychain)
    check.paused = clock.monotonic()
    nextSlice()
  }

  private func conclude(_ result: Verification, _ keychain: Keychain) {
    check.problem = nil
    if !result.findings.isEmpty { tellFailure(result) }
    // Begun before all keys were there, or gone on with for somebody while they were not.
    if !result.unchecked.isEmpty, keychain.canVerifyAll {
      keychain.beginVerification()
      return nextSlice()
    }
    if keychain.integrity == .ok { log.info("the store was checked: \(result.records) records, all as written") }
    if result.isOK { dropUnnamedKeys(keychain) }
    deliver(result, keychain)
  }

  private func tellFailure(_ result: Verification) {
    let count = result.findings.count + result.omitted
    let cause = "the check of the store found \(count) \(count == 1 ? "thing" : "things") wrong"
    log.error("\(cause), so nothing is written to it; `vault verify` names all of it")
    for finding in result.findings.prefix(10) { log.error("\(finding.kind.rawValue): \(finding.text)") }
    events.announce(Wire.Event(event: "integrity", time: clock.wall(), state: "failed", cause: cause))
  }
}
