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
    /// The number of entries after which it is counted.
    fileprivate var entries = 0
    fileprivate var end: Timer.Cancel?
    fileprivate var endBeyond: Timer.Cancel?
    /// The time for which the present counts are counted.
    fileprivate var span = spans.lowerBound
    /// True when something was beyond a part within it.
    fileprivate var isBeyond = false

    /// True when what is equal to one more entry can be counted.
    var hasRoom: Bool { entries < AuditRepeats.mostOfAll }
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
    if counting.began == nil { counting.began = time }
    counting.entries += 1
    subject.repeats.begin(key, action, outcome, as: entry, at: time)
  }

  /// Counts what is beyond a subject's part of the log. The first of each sort is told at once, so that a daemon that
  /// is killed soon after has left word that there was more.
  ///
  /// - Parameter caller: nil for the daemon itself.
  func count(
    beyond part: AuditPart, of subject: AuditSubject, _ action: AuditAction, _ outcome: AuditOutcome,
    by caller: Caller?, _ item: String, at time: Int64
  ) {
    counting.isBeyond = true
    // While names must not be in memory, none waits there.
    let item = item.isEmpty || sealsAtOnce ? nil : item
    let kind = AuditCounts.Kind(
      action: action, outcome: outcome, door: caller?.door.rawValue, uid: caller?.uid ?? 0, item: item)
    if subjects.count(subject, kind, beyond: part, at: time) {
      let first = AuditCounts.Count(count: 1, last: time)
      if !tell(kind, first, of: subject) {
        var kind = kind
        kind.item = nil
        _ = tell(kind, first, of: subject)
      }
    }
    countLater()
  }

  private func countLater() {
    guard counting.endBeyond == nil else { return }
    counting.endBeyond = timer.after(counting.span) { [weak self] in
      guard let self else { return }
      // Where nothing more came, the next count is told as soon as the first one.
      let spans = Counting.spans
      counting.span = counting.isBeyond ? min(2 * counting.span, spans.upperBound) : spans.lowerBound
      let goesOn = counting.isBeyond
      countBeyond()
      if goesOn { countLater() }
    }
  }

  /// Forgets what was counted after entries that were lost, from that number on.
  ///
  /// - Returns: how much that was.
  func forgetCounts(from entry: Int64) -> Int { subjects.forgetRepeats(from: entry) }

  /// Writes down all that was counted.
  func countAll() {
    countRepeats()
    countBeyond()
  }

  /// Ends the minute: writes down how often there was what is equal to an entry.
  private func countRepeats() {
    counting.end?()
    (counting.began, counting.entries, counting.end) = (nil, 0, nil)
    let seen = subjects.takeRepeats()
    for one in seen {
      add(one.action, one.outcome, one.last, repeats: AuditEntry.Repeats(of: one.entry, count: one.count))
    }
  }

  /// Writes down what was counted beyond subjects' parts.
  func countBeyond() {
    counting.endBeyond?()
    counting.endBeyond = nil
    // Before the first unlock counts fill no more of the log than entries.
    if isReady, hasRoom(), !writing.mayTake(.rights, settings, block.size) { return countLater() }
    counting.isBeyond = false
    let found = subjects.takeCounts()
    for (subject, counts) in found {
      var nameless = AuditCounts()
      for (kind, count) in counts where !tell(kind, count, of: subject) { nameless.addNameless(kind, count) }
      for (kind, count) in nameless.take() { _ = tell(kind, count, of: subject) }
    }
  }

  /// Adds an entry of a count; false for one with an item, where the subject has no room for it. Those without are few.
  private func tell(_ kind: AuditCounts.Kind, _ count: AuditCounts.Count, of subject: AuditSubject) -> Bool {
    let caller = kind.door.map {
      AuditEntry.Caller(
        door: $0, uid: kind.uid, pid: 0, unit: subject.name.unit, executable: subject.name.executable)
    }
    guard hasRoom(), writing.mayTake(.rights, settings, block.size) else { return true }
    commitLater()
    if let item = kind.item {
      let size = item.utf8.count + (caller.map { AuditBlock.size(of: $0) } ?? 0)
      guard
        writing.mayTake(.counts, settings, block.size),
        subject.take(size, of: .counts, settings, now: writing.began)
      else { return false }
    }
    add(
      kind.action, kind.outcome, count.last, by: caller, item: kind.item,
      repeats: AuditEntry.Repeats(of: nil, count: count.count))
    return true
  }
}
