internal import VaultCore
internal import VaultModel
internal import VaultStore

// The extent of the log: the entries from before an unlock, the removal of the oldest entries, and the settings for
// both.
extension Audit {
  /// The number of rows from before an unlock that are checked before the unlock is answered; the others are checked
  /// soon after.
  private static let joinedAtOnce = 256
  /// The time until entries from before an unlock are looked at again, in nanoseconds, if that was not possible.
  private static let retryInterval: Int64 = 1_000_000_000
  /// The fewest bytes that are removed from within the log: each start of the daemon writes a little, and the number of
  /// gaps is limited.
  private static let leastGap: Int64 = 64 << 10
  /// The number of steps of a cut that are done at once.
  private static let cutsAtOnce = 2

  /// Checks the entries that were written before the unlock, and vouches for them if all are whole.
  ///
  /// - Parameter isRetry: true after an attempt that failed, of which the journal was told.
  func join(_ keychain: Keychain, isRetry: Bool = false) {
    endMinute(keychain)
    do throws(VaultError) {
      var isWithinLimit = try dropExcess(keychain)
      if !isWithinLimit, write() { isWithinLimit = try dropExcess(keychain) }
      guard isWithinLimit else { return join(keychain, after: Self.retryInterval, isRetry: isRetry) }
      guard let faults = try keychain.joinAudit(rows: Self.joinedAtOnce, charge) else {
        return join(keychain, after: 1_000_000, isRetry: isRetry)
      }
      takeEarlierUsage(of: keychain)
      for fault in faults { record(.audit, .failed, nil, item: fault) }
      if let note = keychain.auditNote {
        record(.audit, .failed, nil, item: note)
        log.error("the audit log: \(note)")
      }
      cut(keychain)
      write(anchored: true)
    } catch {
      if error != .locked, !isRetry { log.error("the audit log could not be checked: \(error.text)") }
      if case .storage = error { join(keychain, after: Self.retryInterval, isRetry: true) }
    }
  }

  private func join(_ keychain: Keychain, after nanoseconds: Int64, isRetry: Bool) {
    _ = timer.after(nanoseconds) { [weak self, weak keychain] in
      if let self, let keychain, self.keychain() === keychain { join(keychain, isRetry: isRetry) }
    }
  }

  /// The most bytes that a daemon writes before an unlock. An entry, and what each start of the daemon itself writes,
  /// may go beyond the limit of ``Writing/mayTake(_:for:_:_:)``.
  var mostEarly: Int64 { settings.size / 8 + max(settings.size / 64, 128 << 10) }

  /// Removes entries from before the unlock, the oldest first, if there are more than ``mostEarly``, for which
  /// other entries would have to go. False if entries wait to be written, which come after them.
  private func dropExcess(_ keychain: Keychain) throws(VaultError) -> Bool {
    let now = clock.wall()
    return try keychain.dropExcessAudit(beyond: mostEarly, atLeast: Self.leastGap, now: now) { gone in
      let text = "\(Counted.text(gone, "entry")) \(gone == 1 ? "was" : "were") removed:"
      let reason = "\(text) more were written before an unlock than have room in the log"
      log.error("the audit log: \(reason)")
      var entry = AuditEntry(time: now, action: .audit, outcome: .failed, item: reason, detail: settings.text)
      entry.subject = subjects.daemon.key
      return entry
    }
  }

  /// Ends the minute of repetitions (``countRepeats()``) before the next record, which begins another chain in any
  /// case.
  func endMinute(_ keychain: Keychain) {
    countRepeats()
    if writing.staysInChain { seal(keychain) }
  }

  /// Removes the oldest entries if that is due.
  func cut(_ keychain: Keychain) {
    // The entries that stay are written again after those in the block and get other numbers, so their repetitions are
    // written first.
    countRepeats()
    guard seal(keychain) else { return }
    var carried = writing.carried
    do throws(VaultError) {
      let now = clock.wall()
      let gone = try keychain.cutAudit(
        toBytes: settings.size, olderThan: settings.age, now: now, steps: Self.cutsAtOnce, usage: usage
      ) { entries, bytes in
        // The steps before this one are done.
        writing.carried = carried
        return stays(of: entries, ofBytes: bytes, now: now, keychain, &carried)
      } tell: { gone in
        if settings.mode == .off { return nil }
        let text = "\(Counted.text(gone, "entry")) \(gone == 1 ? "was" : "were") removed"
        var entry = AuditEntry(time: now, action: .audit, outcome: .ok, item: text, detail: settings.text)
        entry.subject = subjects.daemon.key
        return entry
      } then: {
        // The record of the cut replaces the tally, so a new tally is written after it in the same transaction.
        _ = sealTally(keychain)
      }
      writing.carried = gone == 0 ? AuditCarry.Done() : carried
      if gone > 0 {
        haveWritten()
        // There may be more to remove.
        _ = timer.after(1_000_000) { [weak self, weak keychain] in
          if let self, let keychain, self.keychain() === keychain { cut(keychain) }
        }
      }
    } catch {
      if subjects.isCounting { tallyLater() }
      if error != .locked { log.error("the audit log could not be cut: \(error.text)") }
    }
  }

  /// The entries that stay, of those to be removed because the log is too long: entries of the subjects that use the
  /// least of the log. They are written again at the end of the log.
  private func stays(
    of found: [(number: Int64, entry: AuditEntry)], ofBytes bytes: Int64, now: Int64, _ keychain: Keychain,
    _ carried: inout AuditCarry.Done
  ) -> [AuditEntry] {
    let oldest = settings.age.map { Seconds.from($0, to: now) } ?? .min
    carried.gone += bytes
    let left = max(0, keychain.auditFacts.bytes - settings.size - bytes)
    let room = carried.room(ofBytes: bytes, left: left, size: settings.size)
    let kept = AuditCarry.kept(of: found, room: room, since: oldest, subject: subject)
    for entry in kept { carried.add(entry) }
    return kept
  }

  // MARK: Earlier usage

  /// Counts an entry that an earlier process wrote after the last record of the usage.
  ///
  /// - Parameter isEarly: true for an entry from before a first unlock. Somebody else may have made it in the name of
  ///   any subject, and such entries have room of their own, so no subject pays for them.
  private func charge(_ number: Int64, _ entry: AuditEntry, isEarly: Bool) {
    guard !hasJoined, number < writing.start ?? .max else { return }
    // The size of an entry includes its repetitions.
    if entry.repeats?.of != nil { return }
    if !isEarly { subjects.charge(entry.charge, to: AuditPart(of: entry), of: subject(of: entry), now: clock.boot()) }
    if let repeats = entry.repeats { subjects.haveFound(repeats.count, at: entry.time, now: clock.wall()) }
  }

  /// The subject toward whose share of the log an entry counts. A caller who was let in as a member of a group counts
  /// as a stranger in entries that do not name the group. Those are the entries from before the grants could be read,
  /// and the entries of the first versions of the program. So no group pays for the entries of others.
  private func subject(of entry: AuditEntry) -> AuditEntry.Subject {
    entry.subject ?? entry.caller.map { AuditEntry.Subject(of: toldName($0).text) } ?? subjects.daemon.key
  }

  /// Takes over the usage that an earlier process stored last. Only the first call has an effect.
  private func takeEarlierUsage(of keychain: Keychain) {
    guard !hasJoined else { return }
    hasJoined = true
    var usage: AuditUsage?
    do throws(VaultError) { usage = try keychain.auditUsage() } catch { log.error("the audit log: \(error.text)") }
    let known = usage ?? AuditUsage(time: clock.wall())
    // A clock that jumps must not free whole parts, so at most a day counts.
    let passed = min(max(0, Seconds.from(known.time, to: clock.wall())), AuditChain.longestStep)
    subjects.take(known, passed: passed, now: clock.boot())
  }

  // MARK: Settings

  /// Applies the settings of the daemon's start.
  func configure(_ settings: AuditSettings) { self.settings = settings }

  /// Applies new settings, and records a change of the audit settings as an entry.
  func reconfigure(_ new: AuditSettings) {
    guard new != settings else { return }
    let old = settings
    if old.mode == .off { settings.mode = .on }
    record(.audit, .ok, nil, item: new.text, detail: "before: \(old.text)")
    write(anchored: true)
    settings = new
    if let keychain = keychain() { cut(keychain) }
  }

  /// Writes everything in memory before the store is closed, including the counts, which do not belong to the next
  /// store. The journal tells of entries that cannot be written.
  func willClose() {
    countAll()
    if subjects.isCounting { tallyLater() }
    write(isLast: true)
    subjects.haveToldAll()
    let unwritten = lost + Int(keychain()?.unwrittenAuditEntries ?? 0)
    if unwritten > 0, let problem {
      log.error("the audit log has lost \(Counted.text(unwritten, "entry")): \(problem)")
    }
  }
}
