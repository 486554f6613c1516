internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultStore

// The writing of entries from the block to the disk.
extension Audit {
  struct Writing {
    /// The longest time for which an entry is only in memory, in nanoseconds.
    fileprivate static let interval: Int64 = 1_000_000_000
    /// The longest time between two anchors of the log while the vault is unlocked, in nanoseconds.
    fileprivate static let anchorInterval: Int64 = 60 * 1_000_000_000
    /// The number of entries, and the time in nanoseconds, after which the journal is told the head of the log.
    fileprivate static let (headEntries, headInterval): (Int64, Int64) = (1000, 3600 * 1_000_000_000)

    fileprivate var commit: Timer.Cancel?
    /// The time at which the next commit was scheduled, in `CLOCK_BOOTTIME` nanoseconds. While a commit is scheduled,
    /// this is the present time to within a second.
    fileprivate(set) var began: Int64 = 0
    /// The number of the first entry in the block.
    var first: Int64 = 1
    /// True when the block has repetitions of an entry from before the block, so that it must be sealed into that
    /// entry's chain.
    var staysInChain = false
    /// True when there are entries on the disk of which followers were not told.
    fileprivate var hasNews = false
    /// The time of the last anchor, in `CLOCK_BOOTTIME` nanoseconds.
    fileprivate var anchored: Int64?
    /// The time of the last message to the journal, in `CLOCK_BOOTTIME` nanoseconds, and the entry in the message.
    fileprivate var told: (time: Int64, entry: Int64)?
    /// The work done by the present series of cuts.
    var carried = AuditCarry.Done()
    /// The number of the first entry written by this process.
    var start: Int64?
    /// The bytes of the log that nobody has vouched for; nil once this process has joined the log.
    fileprivate var unjoined: Int64?
    fileprivate(set) var lost = 0
    fileprivate(set) var problem: String?
    /// The closures to call when there are new entries.
    fileprivate var followers: [ObjectIdentifier: () -> Void] = [:]

    /// True when an entry of a part, or a count of events beyond it, may be written.
    ///
    /// Before the first unlock nobody can tell how much a subject has used. So all subjects together, over all
    /// processes since the last unlock, have an eighth of the log. A quarter of that is for rights alone, and counts
    /// have room that no entry takes.
    ///
    /// - Parameter waiting: the bytes in the block.
    func mayTake(
      _ part: AuditPart, for use: AuditPart.Use, _ settings: AuditSettings, _ waiting: Int
    ) -> Bool {
      guard let unjoined else { return true }
      return unjoined + Int64(waiting) < settings.size / 64 * part.eighths(for: use)
    }
  }

  /// True when an entry of a part, or a count of events beyond it, may be written, or may wait if nothing can be
  /// written.
  func mayTake(_ part: AuditPart, for use: AuditPart.Use) -> Bool {
    guard writing.mayTake(part, for: use, settings, block.size) else { return false }
    guard let keychain = keychain(), isStuck(keychain) else { return true }
    // All subjects share the room for waiting records. Whatever finds no room in it is counted.
    let room = Int64(Keychain.mostUnwrittenAudit) / 8 * part.eighths(for: use)
    return Int64(keychain.unwrittenAuditBytes + block.size) < room
  }

  func commitLater() {
    guard writing.commit == nil else { return }
    writing.began = clock.boot()
    writing.commit = timer.after(Writing.interval) { [weak self] in
      self?.writing.commit = nil
      self?.write()
    }
  }

  /// True when there is a store for an entry; a block with entries has one already.
  ///
  /// When the daemon ends, no new chain is begun, because the keys that would vouch for it are gone.
  var isReady: Bool {
    if block.count > 0 { return true }
    guard let keychain = keychain(), !keychain.isGone else { return false }
    return !isEnding || keychain.hasAuditChain
  }

  /// True when the block has room for an entry, and there is a store.
  func hasRoom() -> Bool { block.count > 0 && !block.isFull || endBlock() }

  /// Seals the entries in the block, so that the next entry is its first; false if there is no store.
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

  /// Seals the entries in the block; false if they cannot be sealed. Such entries are lost, and counted as lost.
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
      // The reason why nothing can be written is known already if too much waits.
      if problem == nil { note(error) }
      return false
    }
  }

  /// The usage of the parts, to be stored with the anchor.
  var usage: AuditUsage? {
    hasJoined ? subjects.usage(settings.size, at: clock.wall(), now: clock.boot()) : nil
  }

  /// Writes the sealed records at once if they are long, because one second may bring more bytes than the memory for
  /// waiting records holds. The records replace the tally, so a new tally is written after them.
  private func storeIfLong(_ keychain: Keychain) {
    if keychain.hasLongUnwrittenAudit, problem == nil, sealTally(keychain) { _ = store(keychain, anchored: false) }
  }

  /// Writes the waiting entries right before an unlock gets the keys. The joining of the log counts the entries from
  /// before a first unlock toward their limit. It recognizes them only on the disk, in chains begun without the keys.
  func willUnlock() {
    guard let keychain = keychain() else { return }
    countRepeats()
    guard seal(keychain), keychain.hasUnwrittenAudit, sealTally(keychain) else { return }
    _ = store(keychain, anchored: false)
  }

  /// Writes everything that is waiting, and waits until it is on the disk; false if that is not possible.
  ///
  /// - Parameters:
  ///   - isForced: true to vouch for all of it now, if possible.
  ///   - isSynced: false to leave the wait for the disk to ``sync(_:)``.
  ///   - isLast: true if nothing may be recorded afterward. No cut is made then, because a cut records an entry. If
  ///     the disk is full, the spare room is used.
  ///   - isCopied: true to use the spare room on a full disk because the store is about to be copied.
  @discardableResult
  func write(
    anchored isForced: Bool = false, isSynced: Bool = true, isLast: Bool = false, isCopied: Bool = false
  ) -> Bool {
    guard let keychain = keychain() else { return true }
    tellOfLost()
    let isNew = block.count > 0 || keychain.hasUnwrittenAudit || writing.hasNews || isTallyDue
    guard seal(keychain) else {
      // The records that were sealed before are written with the next ones.
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
    guard store(keychain, anchored: isAnchored, isSynced: isSynced, makesRoom: isLast || isCopied) else {
      // A full disk is tried again later, so that nothing waits for the next request.
      commitLater()
      return false
    }
    if isAnchored {
      writing.anchored = now
      // The record of a cut would wait for keys that are being wiped now, so the cut is left to the next unlock.
      if !isLast, keychain.auditFacts.bytes > settings.size { cut(keychain) }
    }
    writing.hasNews = false
    tellJournal(keychain, isForced: isForced)
    for follower in writing.followers.values { follower() }
    return true
  }

  /// Waits until the written records are on the disk.
  func sync(_ keychain: Keychain) {
    do throws(VaultError) { try keychain.syncLog() } catch { note(error) }
  }

  private func store(
    _ keychain: Keychain, anchored: Bool, isSynced: Bool = true, makesRoom: Bool = false
  ) -> Bool {
    let usage = anchored ? usage : nil
    func write() throws(VaultError) { try keychain.writeAudit(anchored: anchored, usage: usage, isSynced: isSynced) }
    do throws(VaultError) { if makesRoom { try makingRoom(keychain, write) } else { try write() } } catch {
      note(error)
      return false
    }
    let isOver = problem != nil
    writing.problem = nil
    writing.hasNews = true
    if isOver { problemChanged() }
    return true
  }

  func note(_ error: VaultError) { note(error.text) }

  /// Notes the reason why the log cannot be written.
  func note(_ problem: String) {
    let isNew = self.problem == nil
    writing.problem = problem
    guard isNew else { return }
    log.error("the audit log cannot be written: \(problem)")
    problemChanged()
  }

  private func tellOfLost() {
    guard lost > 0, problem == nil else { return }
    let text = "\(Counted.text(lost, "entry")) \(lost == 1 ? "is" : "are") lost"
    writing.lost = 0
    add(.audit, .failed, item: text)
  }

  /// Writes the head of the log to the journal, so that a comparison reveals a log that was cut off.
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

  /// Notes a record that other code has written.
  func haveWritten() {
    writing.hasNews = true
    commitLater()
  }

  // MARK: The wait before an answer

  /// True when an entry has to be on the disk before its answer.
  package var isRequired: Bool { settings.mode == .required }

  /// True while nothing can be written: nothing is written to a store that has failed its check, even before an attempt
  /// to write has noted that, and otherwise the last attempt decides.
  private func isStuck(_ keychain: Keychain) -> Bool { problem != nil || keychain.hasFailed }

  /// True while an entry is required and none can be written.
  var isBlocking: Bool {
    guard isRequired, let keychain = keychain() else { return false }
    return isStuck(keychain)
  }

  /// Writes everything recorded to the disk now, if that is required, as entries or as counts in the tally.
  ///
  /// - Throws: the refusal of the call if nothing can be written, and of every call after the store has failed its
  ///   check, because nothing is written to such a store.
  func settle() throws(Refusal) {
    guard isRequired else { return }
    let hasFailed = keychain()?.hasFailed == true
    guard hasFailed || !write() else { return }
    throw .unrecorded(hasFailed ? StoreProblem.unrecordedInFailed : StoreProblem.unrecorded(problem ?? ""))
  }

  // MARK: Readers

  /// Registers a closure to be called when there are new entries.
  func follow(_ id: ObjectIdentifier, _ tell: @escaping () -> Void) { writing.followers[id] = tell }

  /// Removes the closure of a follower.
  func unfollow(_ id: ObjectIdentifier) { writing.followers[id] = nil }
}
