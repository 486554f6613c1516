internal import VaultCore
internal import VaultModel
internal import VaultStore

// Events that are counted instead of having entries. Events that are equal except for their times are counted for a
// minute. Events beyond a subject's parts of the log are counted for a time that grows from a minute to an hour.
extension Audit {
  struct Counting {
    /// The shortest and the longest time for which events beyond a part are counted before their counts are written, in
    /// nanoseconds.
    fileprivate static let spans: ClosedRange<Int64> = 60 * 1_000_000_000...3600 * 1_000_000_000
    /// The time since which repeated events are counted, in Unix seconds; nil while there is no entry that they could
    /// repeat.
    fileprivate var began: Int64?
    /// The number of entries whose repetitions are counted, and the number of the first of these entries in the log.
    fileprivate var entries = 0
    fileprivate var first: Int64 = 0
    fileprivate var end: Timer.Cancel?
    fileprivate var endBeyond: Timer.Cancel?
    /// The time for which the present counts are collected, in nanoseconds.
    fileprivate var span = spans.lowerBound
    /// True when an event was beyond a part since the counts were written last.
    fileprivate var isBeyond = false
    /// The most counts that are written in one turn, and the number of a subject's counts that may fail to fit before
    /// the next subject is tried.
    fileprivate static let (mostAtOnce, mostMisses) = (256, 8)
    /// The most counts that are written by name where somebody waits: at a lock that hides names, and at a rekey.
    static let mostAtLock = 4096
    /// True when events were counted since the tally was made.
    var hasNews = false
    /// True when the tally must be written with the next commit, even if there is nothing else to write.
    var isTallyDue = false

    /// True when the repetitions of one more entry can be counted.
    var hasRoom: Bool { entries < AuditRepeats.mostOfAll }

    /// True while the repetitions of an entry before the entry `number` are counted.
    func isOfEntry(before number: Int64) -> Bool { began != nil && first < number }
  }

  /// The number of recent events that were only counted, and their times.
  var counted: AuditUsage.Counted? { subjects.counted }

  /// Counts an event if an equal one has an entry within the minute; false if the event needs an entry of its own.
  ///
  /// - Parameter time: the time of the event in Unix seconds.
  func count(_ key: UInt, of subject: AuditSubject, at time: Int64) -> Bool {
    guard let began = counting.began else { return false }
    // The clock of the log decides. It continues during a sleep, which the timer does not notice. If the clock was set
    // back, no event counts as equal.
    guard time >= began, time - began < AuditRepeats.span else {
      countRepeats()
      return false
    }
    guard subject.repeats.count(key, at: time) else { return false }
    // The timer is armed only when there is a count, so that events without repetitions wake nobody.
    if counting.end == nil {
      counting.end = timer.after((began + AuditRepeats.span - time) * 1_000_000_000) { [weak self] in
        self?.countRepeats()
      }
    }
    return true
  }

  /// Begins to count the repetitions of an entry.
  func begin(
    _ key: UInt, _ action: AuditAction, _ outcome: AuditOutcome, of subject: AuditSubject, as entry: Int64,
    at time: Int64
  ) {
    if counting.began == nil { (counting.began, counting.first) = (time, entry) }
    counting.entries += 1
    subject.repeats.begin(key, action, outcome, as: entry, at: time)
  }

  /// Counts an event beyond a subject's part of the log. The first event of each sort has an entry at once, so that a
  /// daemon that is killed soon after has recorded that there were more events.
  ///
  /// - Parameter caller: the caller; nil for the daemon itself.
  func count(
    beyond part: AuditPart, of subject: AuditSubject, _ action: AuditAction, _ outcome: AuditOutcome,
    by caller: Caller?, _ item: String, _ id: ItemID?, detail: String, at time: Int64
  ) {
    counting.isBeyond = true
    // While names must not be in memory, none is kept in a count.
    let item = item.isEmpty || sealsAtOnce ? nil : item
    let detail = part != .rights || detail.isEmpty || sealsAtOnce ? nil : detail
    let kind = AuditCounts.Kind(
      action: action, outcome: outcome, door: caller?.door.rawValue, uid: caller?.uid ?? 0, item: item,
      id: item == nil ? nil : id, detail: detail)
    let isFirst = subjects.isFirst(subject, action, outcome, at: time)
    let isTold = isFirst && tell(kind, AuditCounts.Count(count: 1, last: time), of: subject, part, for: .count)
    if !isTold {
      subjects.count(subject, kind, beyond: part, at: time)
      counting.hasNews = true
      // If the first event cannot have an entry, it goes into the tally.
      if isFirst { tallyLater() }
    }
    countLater()
  }

  /// A snapshot of subjects' usage and counts from before the entries of a transaction, which are taken back if the
  /// transaction fails.
  struct Usage {
    fileprivate let all: AuditSubjects
    fileprivate let own: [(subject: AuditSubject, budget: AuditBudget, counts: AuditCounts)]
    fileprivate let hasNews: Bool
    fileprivate let isTallyDue: Bool
  }

  /// Takes a snapshot before entries of these subjects.
  func usage(of own: [AuditSubject]) -> Usage {
    Usage(
      all: subjects, own: own.map { ($0, $0.budget, $0.counts) }, hasNews: counting.hasNews,
      isTallyDue: counting.isTallyDue)
  }

  /// Restores the usage and the counts from before entries whose transaction has failed, because the store has none of
  /// these entries.
  func putBack(_ before: Usage) {
    subjects = before.all
    for (subject, budget, counts) in before.own { (subject.budget, subject.counts) = (budget, counts) }
    (counting.hasNews, counting.isTallyDue) = (before.hasNews, before.isTallyDue)
  }

  private func countLater() {
    guard counting.endBeyond == nil else { return }
    counting.endBeyond = timer.after(counting.span) { [weak self] in
      guard let self else { return }
      let spans = Counting.spans
      let goesOn = counting.isBeyond
      // If no more events came, the time begins again at its shortest. Counts that still wait for room are tried again
      // after the longest time.
      counting.span =
        if goesOn { min(2 * counting.span, spans.upperBound) } else {
          subjects.isCounting ? spans.upperBound : spans.lowerBound
        }
      countBeyond()
      if goesOn { countLater() }
    }
  }

  /// Forgets the repetitions of the entries from the number `entry` on, which were lost.
  ///
  /// - Returns: the number of repetitions that were forgotten.
  func forgetCounts(from entry: Int64) -> Int { subjects.forgetRepeats(from: entry) }

  /// Writes all counts before the daemon ends or the store is closed. For these counts the parts of the log may be
  /// filled further than usual. The counts that still do not fit stay for the tally.
  func countAll() {
    countRepeats()
    endBeyond()
    _ = tellCounts(for: .lastCount)
  }

  /// Ends the minute: adds entries with the numbers of repetitions.
  ///
  /// They are sealed in the chain of the entries that were repeated, so that a cut, which removes whole chains, removes
  /// both or neither. So the minute ends before another chain is begun, and before entries get other numbers.
  func countRepeats() {
    counting.end?()
    (counting.began, counting.entries, counting.end) = (nil, 0, nil)
    let seen = subjects.takeRepeats()
    for one in seen {
      // Repetitions of an entry before the block must go into that entry's chain. Repetitions of an entry in the block
      // go wherever the block goes. `hasRoom()` seals a full block, after which its entries are before the block, so
      // the comparison is made again.
      if one.entry < writing.first { writing.staysInChain = true }
      guard hasRoom() else { return }
      if one.entry < writing.first { writing.staysInChain = true }
      // These entries contain no names, so they may wait in the block together, even while names must not be in memory.
      // So they do not need a row each.
      commitLater()
      block.add(
        AuditEntry(
          time: one.last, action: one.action, outcome: one.outcome,
          repeats: AuditEntry.Repeats(of: one.entry, count: one.count)))
    }
    if sealsAtOnce, !seen.isEmpty { endBlock() }
  }

  /// Ends the minute if the next record begins another chain.
  ///
  /// - Parameter first: the number of the first entry of that record.
  func countRepeats(beforeChainOf keychain: Keychain, at first: Int64) {
    guard counting.isOfEntry(before: first), keychain.beginsAuditChain(now: clock.wall()) else { return }
    countRepeats()
  }

  /// Writes the counts of events beyond subjects' parts, as far as there is room. Counts without room wait, and so do
  /// counts beyond the limit of one turn.
  private func countBeyond() {
    endBeyond()
    counting.isBeyond = false
    if tellCounts(for: .count, most: Counting.mostAtOnce) {
      counting.endBeyond = timer.after(1_000_000) { [weak self] in self?.countBeyond() }
    } else if subjects.isCounting {
      tallyLater()
      countLater()
    }
  }

  private func endBeyond() {
    counting.endBeyond?()
    counting.endBeyond = nil
  }

  /// Writes the counts for which there is room: first changes of rights, then values, then searches and refused calls.
  ///
  /// - Returns: true if there may be more than `most` counts.
  func tellCounts(for use: AuditPart.Use, most: Int = .max) -> Bool {
    var left = most
    for part in AuditPart.allCases {
      for subject in subjects.countedSubjects where subject.counts.has(part) {
        // Short counts may fit when a long one does not.
        var misses = 0
        for (kind, count) in subject.counts.untold(part) where misses < Counting.mostMisses {
          guard left > 0 else { return true }
          guard tell(kind, count, of: subject, part, for: use) else {
            misses += 1
            continue
          }
          subjects.changeCounts(of: subject) { $0.haveTold(kind, part) }
          left -= 1
        }
      }
    }
    return false
  }

  /// Adds the entry of a count; false if there is no room for it, so that nothing was written.
  private func tell(
    _ kind: AuditCounts.Kind, _ count: AuditCounts.Count, of subject: AuditSubject, _ part: AuditPart,
    for use: AuditPart.Use
  ) -> Bool {
    guard hasRoom(), mayTake(part, for: use) else { return false }
    let entry = kind.entry(count, of: subject)
    commitLater()
    guard subject.take(entry.charge - AuditSubject.entrySize, of: part, for: use, settings, now: writing.began) else {
      return false
    }
    add(entry)
    subjects.haveTold(count)
    return true
  }
}

extension AuditCounts.Kind {
  /// The entry of a count.
  func entry(_ count: AuditCounts.Count, of subject: AuditSubject) -> AuditEntry {
    let caller = caller(of: subject)
    var entry = AuditEntry(
      time: count.last, action: action, outcome: outcome, caller: caller, item: item, detail: detail,
      repeats: AuditEntry.Repeats(of: nil, count: count.count))
    entry.subject = subject.told(besideCaller: caller != nil)
    entry.id = id
    return entry
  }

  /// The caller in the words of the log; nil for the daemon.
  func caller(of subject: AuditSubject) -> AuditEntry.Caller? {
    door.map {
      AuditEntry.Caller(door: $0, uid: uid, pid: 0, unit: subject.name.unit, executable: subject.name.executable)
    }
  }
}
