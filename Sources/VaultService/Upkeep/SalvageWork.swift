package import VaultModel
internal import VaultStore

/// A salvage: the records of a damaged store that still authenticate are saved into a second store, of which a backup
/// is made.
package final class SalvageWork: SecretHolder, Runner.Work {
  /// The number of items saved, and the losses.
  package struct Result: Sendable {
    package let saved: Int
    package let losses: [Finding]
    /// The number of losses beyond those that are listed.
    package let omitted: Int
  }

  package typealias Progress = (done: Int, of: Int)
  package typealias Reader = VaultService.Reader<Progress, Result>

  /// The number of items between two readings of the clock. Each such step is one transaction.
  private static let stride = 8
  /// The time between two progress reports to the reader, in nanoseconds.
  private static let interval: Int64 = 100_000_000

  private unowned let upkeep: Upkeep
  private let vault: Vault
  /// The salvage; nil once its files are to be removed.
  private var salvage: Salvage?
  /// The reader who waits while the second store is filled; nil when it is complete.
  private(set) var reader: Reader?
  private var nextReport: Int64 = 0

  init(_ upkeep: Upkeep, _ salvage: Salvage, _ reader: Reader) {
    self.upkeep = upkeep
    vault = upkeep.vault
    self.salvage = salvage
    self.reader = reader
    super.init(in: vault.holders)
  }

  /// The second store; nil once its files are to be removed.
  var target: Keychain? { salvage?.target }

  package var share: Runner.Share { .half }

  package func run(until end: Int64) -> Runner.Next {
    let next: Runner.Next
    do throws(VaultError) { next = try work(until: end) } catch { return fail(error) }
    tell()
    return next
  }

  /// Continues the salvage. The error is handled after this function has returned, because its reference keeps the
  /// ``Salvage`` alive, and with it the second store open.
  private func work(until end: Int64) throws(VaultError) -> Runner.Next {
    guard let salvage, let reader else { return .over }
    repeat {
      if try salvage.step(items: Self.stride) {
        conclude(salvage, reader)
        return .over
      }
    } while vault.clock.monotonic() < end
    return .again
  }

  private func fail(_ error: VaultError) -> Runner.Next {
    vault.log.error("the store could not be salvaged: \(error.text)")
    upkeep.callOffSalvage(because: vault.refusal(error, ""))
    return .over
  }

  private func tell() {
    let now = vault.clock.monotonic()
    guard nextReport <= now, let reader, reader.isKeepingUp(), let progress = salvage?.progress else { return }
    nextReport = now + Self.interval
    reader.tell(progress)
  }

  private func conclude(_ salvage: Salvage, _ reader: Reader) {
    let result = salvage.result
    salvage.forgetNames()
    self.reader = nil
    vault.log.info("\(result.saved) items were salvaged, and \(result.losses.count + result.omitted) losses were found")
    reader.end(.success(Result(saved: result.saved, losses: result.losses, omitted: result.omitted)))
  }

  /// Ends the work, and wipes the keys of the second store.
  func stop() {
    upkeep.runner.end(self)
    reader = nil
    target?.wipe()
    salvage?.forgetNames()
  }

  /// Closes the second store, after ``stop()``: its files must not be removed while it is open, and others may still
  /// refer to this object.
  func release() { salvage = nil }

  public override func letGo(for lock: Lock) {
    if lock.cause == .stop { return upkeep.dropSalvage() }
    upkeep.callOffSalvage(because: .locked(LockState(kind: .locked, cause: lock.cause, since: vault.clock.wall())))
  }

  public override func outlives(_ lock: Lock) -> Bool {
    guard let salvage else { return false }
    return salvage.target.opensValues(of: .whenUnlocked)
      || lock.reach.contains(.names) && salvage.holdsNames
  }
}

extension Upkeep {
  private var salvageDirectory: String { vault.directory + "/salvage" }

  /// Saves the records of a damaged store that still authenticate in a second store, for a backup of it.
  package func salvage(_ reader: SalvageWork.Reader, for caller: Caller) throws(Refusal) {
    var begun: SalvageWork?
    do throws(Refusal) {
      try vault.audit.recording(.salvage, caller, nil, needs: .logUnlessFailed) { () throws(Refusal) in
        begun = try begin(reader)
      }
    } catch {
      // Nobody waits for a salvage that was refused because its entry cannot be written.
      if begun != nil { dropSalvage() }
      throw error
    }
    if let begun { runner.begin(begun) }
  }

  private func begin(_ reader: SalvageWork.Reader) throws(Refusal) -> SalvageWork {
    let keychain = try vault.keychain()
    try checkNoTransfer()
    if salvage?.reader != nil { throw .busy("the store is being salvaged already") }
    dropSalvage()
    // To a store that has failed, nothing is written. Its tally stays on the disk, and is saved as a record.
    let hasFailed = keychain.hasFailed
    let work: SalvageWork
    do throws(VaultError) {
      let audit = vault.audit
      let now = vault.clock.wall()
      let salvage = try Salvage(keychain, in: salvageDirectory, now: now, mostEarly: audit.mostEarly) { block in
        if !hasFailed { audit.fillWithCounts(&block) }
      }
      if !hasFailed { vault.audit.willCopy() }
      work = SalvageWork(self, salvage, reader)
    } catch {
      throw vault.refusal(error, "")
    }
    vault.log.info("the records that still authenticate are being salvaged")
    salvage = work
    return work
  }

  /// Removes the second store and its keys. While a backup of it is being made, only the keys are wiped.
  package func dropSalvage() {
    guard salvage != nil else { return }
    salvage?.stop()
    guard transfer?.isOfSalvage != true else { return }
    salvage?.release()
    salvage = nil
    removeSalvage()
  }

  /// Removes a second store that nothing uses. A failure to remove it disturbs only the next salvage, which reports the
  /// reason.
  func removeSalvage() { try? Salvage.remove(salvageDirectory) }

  /// Ends a salvage because the keys that it needs are wiped, or because the slots that it has copied have changed;
  /// removes what was saved.
  func callOffSalvage(because refusal: Refusal) {
    let reader = salvage?.reader
    dropSalvage()
    reader?.end(.failure(refusal))
  }
}
