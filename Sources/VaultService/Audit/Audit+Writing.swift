internal import VaultCore
internal import VaultModel
internal import VaultStore

// From the block to the disk.
extension Audit {
  struct Writing {
    /// The longest time that an entry is in memory alone, in nanoseconds.
    fileprivate static let interval: Int64 = 1_000_000_000
    /// The longest time between two vouchings for the log while the vault is unlocked, in nanoseconds.
    fileprivate static let anchorInterval: Int64 = 60 * 1_000_000_000
    /// The number of entries, and the nanoseconds, after which the journal is told where the log is.
    fileprivate static let (headEntries, headInterval): (Int64, Int64) = (1000, 3600 * 1_000_000_000)

    fileprivate var commit: Timer.Cancel?
    /// The time at which the next commit was put off, `CLOCK_BOOTTIME` nanoseconds: the present one to a second.
    fileprivate(set) var began: Int64 = 0
    /// The number of the first entry in the block.
    var first: Int64 = 1
    /// True when the block has a count of what is equal to an entry before it, in whose chain it belongs.
    var staysInChain = false
    /// True when there is something on the disk that followers were not told of.
    fileprivate var hasNews = false
    /// The time of the last anchor, and of the last word to the journal, `CLOCK_BOOTTIME` nanoseconds.
    fileprivate var anchored: Int64?
    fileprivate var told: (time: Int64, entry: Int64)?
    /// The work of the cuts that follow each other now.
    var carried = AuditCarry.Done()
    /// The number of the first entry of this process.
    fileprivate(set) var start: Int64?
    /// The bytes of the log that nobody has vouched for, where this process has not joined them yet.
    fileprivate var unjoined: Int64?
    fileprivate(set) var lost = 0
    fileprivate(set) var problem: String?
    /// Told when there are new entries.
    fileprivate var followers: [ObjectIdentifier: () -> Void] = [:]

    /// True when an entry of that part, or a count of what is beyond it, may be written.
    ///
    /// Before the first unlock nobody can tell what a subject has used, so that all of them together, over all
    /// processes since the last unlock, have an eighth of the log. A quarter of that is for rights alone, and what is
    /// counted has room that no entry takes.
    ///
    /// - Parameter waiting: the bytes in the block.
    func mayTake(_ part: AuditPart, for use: AuditPart.Use, _ settings: AuditSettings, _ waiting: Int) -> Bool {
      guard let unjoined else { return true }
      let eighths: Int64 =
        switch (part, use) {
        case (.rights, _): 8
        case (.calls, .entry): 3
        case (.values, .entry): 4
        case (.calls, .count), (.calls, .lastCount), (.values, .count): 5
        case (.values, .lastCount): 6
        }
      return unjoined + Int64(waiting) < settings.size / 64 * eighths
    }
  }

  func commitLater() {
    guard writing.commit == nil else { return }
    writing.began = clock.boot()
    writing.commit = timer.after(Writing.interval) { [weak self] in
      self?.writing.commit = nil
      self?.write()
    }
  }

  /// True when there is a store for an entry: what is in the block already has one.
  ///
  /// At the daemon's end no chain is begun any more: the keys are gone that would vouch for it.
  var isReady: Bool {
    if block.count > 0 { return true }
    guard let keychain = keychain(), !keychain.isGone else { return false }
    return !isEnding || keychain.hasAuditChain
  }

  /// True when the block has room for an entry, in a store that is there.
  func hasRoom() -> Bool { block.count > 0 && !block.isFull || endBlock() }

  /// Seals what is in the block, so that the next entry is its first one; false where there is no store.
  @discardableResult
  func endBlock() -> Bool {
    guard let keychain = keychain() else { return false }
    seal(keychain)
    storeIfLong(keychain)
    writing.first = keychain.nextAuditEntry
    if writing.start == nil { writing.start = writing.first }
    writing.unjoined = keychain.unjoinedAuditBytes
    return true
  }

  /// Seals what is in the block; false where it cannot be sealed, and is lost and counted.
  @discardableResult
  func seal(_ keychain: Keychain) -> Bool {
    guard block.count > 0 else { return true }
    if !writing.staysInChain { countRepeats(beforeChainOf: keychain, at: writing.first) }
    let (count, staysInChain) = (block.count, writing.staysInChain)
    writing.staysInChain = false
    do throws(VaultError) {
      try keychain.sealAudit(&block, now: clock.wall(), staysInChain: staysInChain)
      return true
    } catch {
      writing.lost += count + forgetCounts(from: writing.first)
      block.empty()
      note(error)
      return false
    }
  }

  /// The use of the parts, to be kept with the anchor.
  var usage: AuditUsage? {
    hasJoined ? subjects.usage(settings.size, at: clock.wall(), now: clock.boot()) : nil
  }

  /// Writes what is sealed, if it is much: a second may have more than is kept while a disk is full. It takes the place of
  /// the tally, so that there is another one behind it.
  private func storeIfLong(_ keychain: Keychain) {
    if keychain.hasLongUnwrittenAudit, problem == nil, sealTally(keychain) { _ = store(keychain, anchored: false) }
  }

  /// Writes what there is, and waits until it is on the disk; false when that cannot be.
  ///
  /// - Parameters:
  ///   - isForced: true to vouch for all of it now, where that can be.
  ///   - isSynced: false to leave the wait for the disk to ``sync(_:)``.
  ///   - isLast: true where nothing is to be recorded after it, as a cut does.
  @discardableResult
  func write(anchored isForced: Bool = false, isSynced: Bool = true, isLast: Bool = false) -> Bool {
    guard let keychain = keychain() else { return true }
    tellOfLost()
    let isNew = block.count > 0 || keychain.hasUnwrittenAudit || writing.hasNews || isTallyDue
    guard seal(keychain) else {
      // What was sealed before is written with the next one.
      commitLater()
      return false
    }
    guard isNew || isForced || problem != nil else { return true }
    guard sealTally(keychain) else {
      commitLater()
      return false
    }
    let now = clock.boot()
    let isAnchored = isForced || writing.anchored.map { now - $0 >= Writing.anchorInterval } ?? true
    guard store(keychain, anchored: isAnchored, isSynced: isSynced) else {
      // Where the disk is full it is tried again, so that nothing waits until somebody asks for something.
      commitLater()
      return false
    }
    if isAnchored {
      writing.anchored = now
      // A record of that would wait for keys that go now; the next unlock does it.
      if !isLast, keychain.auditFacts.bytes > settings.size { cut(keychain) }
    }
    writing.hasNews = false
    tellJournal(keychain, isForced: isForced)
    for follower in writing.followers.values { follower() }
    return true
  }

  /// Waits until what was written is on the disk.
  func sync(_ keychain: Keychain) {
    do throws(VaultError) { try keychain.syncLog() } catch { note(error) }
  }

  private func store(_ keychain: Keychain, anchored: Bool, isSynced: Bool = true) -> Bool {
    let usage = anchored ? usage : nil
    do throws(VaultError) { try keychain.writeAudit(anchored: anchored, usage: usage, isSynced: isSynced) } catch {
      note(error)
      return false
    }
    writing.problem = nil
    writing.hasNews = true
    return true
  }

  func note(_ error: VaultError) { note(error.text) }

  /// Takes note of the reason why it cannot be written.
  func note(_ problem: String) {
    if self.problem == nil { log.error("the audit log cannot be written: \(problem)") }
    writing.problem = problem
  }

  private func tellOfLost() {
    guard lost > 0, problem == nil else { return }
    let text = "\(lost) entries are lost"
    writing.lost = 0
    add(.audit, .failed, item: text)
  }

  /// Tells the journal where the log is, so that somebody who compares them sees when it is cut.
  private func tellJournal(_ keychain: Keychain, isForced: Bool) {
    let (now, facts) = (clock.boot(), keychain.auditFacts)
    if let told = writing.told, !isForced || told.entry == facts.entries {
      guard
        facts.entries - told.entry >= Writing.headEntries
          || facts.entries > told.entry && now - told.time >= Writing.headInterval
      else { return }
    }
    writing.told = (now, facts.entries)
    log.info("audit entry \(facts.entries) \(facts.link.array.hex)")
  }

  // MARK: A rekey

  /// Fills the record with which the log of a vault with a new key ends.
  func fillWithRekey(_ block: inout AuditBlock) {
    guard settings.mode != .off else { return }
    block.add(
      .rekey, .ok, time: clock.wall(), caller: nil, item: "done", detail: Keychain.rekeyedWithLog)
  }

  /// Takes note of a record that was written by somebody else.
  func haveWritten() {
    writing.hasNews = true
    commitLater()
  }

  // MARK: Before an answer

  /// True when an entry has to be on the disk before its answer.
  package var isRequired: Bool { settings.mode == .required }

  /// Has everything that was recorded be on the disk now, where that is required, be it an entry or a count in the
  /// tally.
  ///
  /// - Throws: the refusal of what is asked where it cannot be, and of anything once the store has failed, to which
  ///   nothing is written.
  func settle() throws(Refusal) {
    guard isRequired else { return }
    let hasFailed = keychain()?.hasFailed == true
    guard hasFailed || !write() else { return }
    let reason = hasFailed ? "the store has failed its check" : problem ?? ""
    throw .storageFailed("the audit log, which is required, cannot be written: \(reason)")
  }

  // MARK: Readers

  /// Has somebody told of new entries.
  func follow(_ id: ObjectIdentifier, _ tell: @escaping () -> Void) { writing.followers[id] = tell }

  /// Has somebody told no more.
  func unfollow(_ id: ObjectIdentifier) { writing.followers[id] = nil }
}
