internal import VaultCore
internal import VaultModel
internal import VaultStore

// What is counted: what is equal in all but time, for a minute, and what is beyond a subject's parts of the log, for a
// while that grows from a minute to an hour.
extension Audit {
  struct Counting {
    /// The shortest and the longest time for which is counted what is beyond a part, in nanoseconds.
    fileprivate static let spans: ClosedRange<Int64> = 60 * 1_000_000_000...3600 * 1_000_000_000
    /// The time since which what is equal is counted, Unix seconds; nil while there is nothing to be equal to.
    fileprivate var began: Int64?
    /// The number of entries after which it is counted, and that of the first of them.
    fileprivate var entries = 0
    fileprivate var first: Int64 = 0
    fileprivate var end: Timer.Cancel?
    fileprivate var endBeyond: Timer.Cancel?
    /// The time for which the present counts are counted.
    fileprivate var span = spans.lowerBound
    /// True when something was beyond a part within it.
    fileprivate var isBeyond = false
    /// The most counts that are written down in one turn, and that find no room of a subject before the others are
    /// tried.
    fileprivate static let (mostAtOnce, mostMisses) = (256, 8)
    /// True when something was counted since the tally was made.
    var hasNews = false
    /// True when the tally is to be written with the next commit, also where nothing else is.
    var isTallyDue = false

    /// True when what is equal to one more entry can be counted.
    var hasRoom: Bool { entries < AuditRepeats.mostOfAll }

    /// True while what is equal to an entry before that one is counted.
    func isOfEntry(before number: Int64) -> Bool { began != nil && first < number }
  }

  /// The number of events of late that were only counted, and their times.
  var counted: AuditUsage.Counted? { subjects.counted }

  /// Counts something, if what is equal was met within the minute; false when it is to be an entry.
  ///
  /// - Parameter time: Unix seconds.
  func count(_ key: UInt, of subject: AuditSubject, at time: Int64) -> Bool {
    guard let began = counting.began else { return false }
    // The log's own clock: it goes on in a sleep, which the timer does not notice, and where it is set back nothing is equal.
    guard time >= began, time - began < AuditRepeats.span else {
      countRepeats()
      return false
    }
    guard subject.repeats.count(key, at: time) else { return false }
    // Not before there is a count: what nobody repeats wakes nobody.
    if counting.end == nil {
      counting.end = timer.after((began + AuditRepeats.span - time) * 1_000_000_000) { [weak self] in
        self?.countRepeats()
      }
    }
    return true
  }

  /// Has what is equal to that entry be counted from now on.
  func begin(
    _ key: UInt, _ action: AuditAction, _ outcome: AuditOutcome, of subject: AuditSubject, as entry: Int64,
    at time: Int64
  ) {
    if counting.began == nil { (counting.began, counting.first) = (time, entry) }
    counting.entries += 1
    subject.repeats.begin(key, action, outcome, as: entry, at: time)
  }

  /// Counts what is beyond a subject's part of the log. The first of each sort is told at once, so that a daemon that
  /// is killed soon after has left word that there was more.
  ///
  /// - Parameter caller: nil for the daemon itself.
  func count(
    beyond part: AuditPart, of subject: AuditSubject, _ action: AuditAction, _ outcome: AuditOutcome,
    by caller: Caller?, _ item: String, _ id: ItemID?, detail: String, at time: Int64
  ) {
    counting.isBeyond = true
    // While names must not be in memory, none waits there.
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
      // The tally has it if it cannot be an entry.
      if isFirst { tallyLater() }
    }
    countLater()
  }

  private func countLater() {
    guard counting.endBeyond == nil else { return }
    counting.endBeyond = timer.after(counting.span) { [weak self] in
      guard let self else { return }
      let spans = Counting.spans
      let goesOn = counting.isBeyond
      // The next count is told as soon as the first one if nothing more came; what waits for room does so for long.
      counting.span =
        if goesOn { min(2 * counting.span, spans.upperBound) } else {
          subjects.isCounting ? spans.upperBound : spans.lowerBound
        }
      countBeyond()
      if goesOn { countLater() }
    }
  }

  /// Forgets what was counted after entries that were lost, from that number on.
  ///
  /// - Returns: how much that was.
  func forgetCounts(from entry: Int64) -> Int { subjects.forgetRepeats(from: entry) }

  /// Writes down all that was counted, also what could wait for room; the tally has the rest, and nothing is counted
  /// any more once that is written.
  func countAll() {
    countRepeats()
    endBeyond()
    _ = tellCounts(for: .lastCount)
  }

  /// Ends the minute: adds entries of how often there was what is equal to an entry.
  ///
  /// They are sealed in the chain of the entries that they tell more of, so that a cut, which takes out whole chains,
  /// takes both or none: the minute ends before another chain is begun, and before entries get other numbers.
  func countRepeats() {
    counting.end?()
    (counting.began, counting.entries, counting.end) = (nil, 0, nil)
    let seen = subjects.takeRepeats()
    for one in seen {
      // Of what is in the block itself the next chain may be too. A block that is full is sealed before that.
      if one.entry < writing.first { writing.staysInChain = true }
      guard hasRoom() else { return }
      if one.entry < writing.first { writing.staysInChain = true }
      add(one.action, one.outcome, one.last, repeats: AuditEntry.Repeats(of: one.entry, count: one.count))
    }
  }

  /// Ends the minute where the next record begins another chain.
  ///
  /// - Parameter first: the number of the first entry that this record will have.
  func countRepeats(beforeChainOf keychain: Keychain, at first: Int64) {
    guard counting.isOfEntry(before: first), keychain.beginsAuditChain(now: clock.wall()) else { return }
    countRepeats()
  }

  /// Writes down what was counted beyond subjects' parts, as far as there is room for it: what has none waits, and so
  /// does what is more than one turn writes.
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

  /// Writes down counts for which there is room: changes of rights before values, and these before what was refused.
  ///
  /// - Returns: true where there may be more than that many.
  func tellCounts(for use: AuditPart.Use, most: Int = .max) -> Bool {
    var left = most
    for part in AuditPart.allCases {
      for subject in subjects.countedSubjects where subject.counts.has(part) {
        // Short ones may have room where a long one had none.
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

  /// Adds an entry of a count; false where there is no room for it, and nothing was written.
  private func tell(
    _ kind: AuditCounts.Kind, _ count: AuditCounts.Count, of subject: AuditSubject, _ part: AuditPart,
    for use: AuditPart.Use
  ) -> Bool {
    guard hasRoom(), writing.mayTake(part, for: use, settings, block.size) else { return false }
    let entry = kind.entry(count, of: subject)
    commitLater()
    guard subject.take(entry.charge - AuditSubject.entrySize, of: part, for: use, settings, now: writing.began) else {
      return false
    }
    add(entry)
    return true
  }
}

extension AuditCounts.Kind {
  /// An entry that tells of a count.
  func entry(_ count: AuditCounts.Count, of subject: AuditSubject) -> AuditEntry {
    let caller = caller(of: subject)
    var entry = AuditEntry(
      time: count.last, action: action, outcome: outcome, caller: caller, item: item, detail: detail,
      repeats: AuditEntry.Repeats(of: nil, count: count.count))
    entry.subject = subject.told(besideCaller: caller != nil)
    entry.id = id
    return entry
  }

  /// The words of the log on who that was.
  func caller(of subject: AuditSubject) -> AuditEntry.Caller? {
    door.map {
      AuditEntry.Caller(door: $0, uid: uid, pid: 0, unit: subject.name.unit, executable: subject.name.executable)
    }
  }
}
