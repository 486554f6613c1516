internal import VaultCore
internal import VaultModel
internal import VaultStore

// From where to where the log goes: the part before an unlock, the oldest entries, and the settings for them.
extension Audit {
  /// The number of rows of the log before an unlock that are looked at before it is answered; the others soon after.
  private static let joinedAtOnce = 256
  /// The times that something is taken out of it at once.
  private static let cutsAtOnce = 2

  /// Looks at what was written before the unlock, and vouches for it when it is whole.
  func join(_ keychain: Keychain) {
    endMinute(keychain)
    do throws(VaultError) {
      guard let faults = try keychain.joinAudit(rows: Self.joinedAtOnce, charge) else {
        _ = timer.after(1_000_000) { [weak self, weak keychain] in
          if let self, let keychain, self.keychain() === keychain { join(keychain) }
        }
        return
      }
      takeEarlierUsage(of: keychain)
      for fault in faults { record(.audit, .failed, nil, item: fault) }
      if let note = keychain.auditNote {
        record(.audit, .failed, nil, item: note)
        log.error("the audit log: \(note)")
      }
      cut(keychain)
      write(anchored: true)
    } catch { if error != .locked { log.error("the audit log could not be looked at: \(error.text)") } }
  }

  /// Ends the minute before the next record begins another chain in any case.
  func endMinute(_ keychain: Keychain) {
    countRepeats()
    if writing.staysInChain { seal(keychain) }
  }

  /// Takes the oldest entries out, where that is due.
  func cut(_ keychain: Keychain) {
    // What stays of them is written behind what is in the block, and has other numbers there.
    countRepeats()
    guard seal(keychain) else { return }
    var carried = writing.carried
    do throws(VaultError) {
      let now = clock.wall()
      let gone = try keychain.cutAudit(
        toBytes: settings.size, olderThan: settings.age, now: now, steps: Self.cutsAtOnce, usage: usage
      ) { entries, bytes in
        // What came before it is done.
        writing.carried = carried
        return stays(of: entries, ofBytes: bytes, now: now, keychain, &carried)
      } tell: { gone in
        if settings.mode == .off { return nil }
        var entry = AuditEntry(
          time: now, action: .audit, outcome: .ok, item: "\(gone) entries were taken out", detail: settings.text)
        entry.subject = subjects.daemon.key
        return entry
      } then: {
        // It takes the place of the tally, so that there is another one behind it in the same transaction.
        _ = sealTally(keychain)
      }
      writing.carried = gone == 0 ? AuditCarry.Done() : carried
      if gone > 0 {
        haveWritten()
        // There may be more.
        _ = timer.after(1_000_000) { [weak self, weak keychain] in
          if let self, let keychain, self.keychain() === keychain { cut(keychain) }
        }
      }
    } catch {
      if subjects.isCounting { tallyLater() }
      if error != .locked { log.error("the audit log could not be cut: \(error.text)") }
    }
  }

  /// The entries that stay of those that are to go because the log is too long, of those who fill least of it: they are
  /// written again at its end.
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

  // MARK: What was used before

  /// Takes note of an entry that was written after the last word on what was used, by a process that has ended since.
  private func charge(_ number: Int64, _ entry: AuditEntry) {
    guard !hasJoined, number < writing.start ?? .max else { return }
    // What is counted after an entry was taken with that.
    if entry.repeats?.of != nil { return }
    subjects.charge(entry.charge, to: AuditPart(of: entry), of: subject(of: entry), now: clock.boot())
  }

  /// The subject whose part an entry took. One who was let in as a member of a group is a stranger in entries that do
  /// not say so, which are those from before anybody could read the grants, and those of the first programs: so no
  /// group pays for what others did.
  private func subject(of entry: AuditEntry) -> AuditEntry.Subject {
    entry.subject ?? entry.caller.map { AuditEntry.Subject(of: toldName($0).text) } ?? subjects.daemon.key
  }

  /// Takes in what was used up to the last word on that, once.
  private func takeEarlierUsage(of keychain: Keychain) {
    guard !hasJoined else { return }
    hasJoined = true
    var usage: AuditUsage?
    do throws(VaultError) { usage = try keychain.auditUsage() } catch { log.error("the audit log: \(error.text)") }
    let known = usage ?? AuditUsage(time: clock.wall())
    // A clock that jumps makes no part free.
    let passed = min(max(0, Seconds.from(known.time, to: clock.wall())), AuditChain.longestStep)
    subjects.take(known, passed: passed, now: clock.boot())
  }

  // MARK: Settings

  /// Takes the settings of the daemon's start.
  func configure(_ settings: AuditSettings) { self.settings = settings }

  /// Takes new settings over; that is an entry of its own where it is another one than before.
  func reconfigure(_ new: AuditSettings) {
    guard new != settings else { return }
    let old = settings
    if old.mode == .off { settings.mode = .on }
    record(.audit, .ok, nil, item: new.text, detail: "before: \(old.text)")
    write(anchored: true)
    settings = new
    if let keychain = keychain() { cut(keychain) }
  }

  /// Writes what is in memory before the store is closed, also what was counted, which is not about the next one.
  func willClose() {
    countAll()
    if subjects.isCounting { tallyLater() }
    write(isLast: true)
    subjects.haveToldAll()
  }
}
