internal import VaultModel
internal import VaultStore

// What is counted: gets that are equal in all but time, for a minute, and what is beyond a subject's part of the log, for an
// hour.
extension Audit {
  struct Counting {
    /// The time since which gets are counted, Unix seconds; nil while there is nothing to be equal to.
    fileprivate var began: Int64?
    /// The number of entries after which gets are counted.
    fileprivate var entries = 0
    fileprivate var end: Timer.Cancel?
    fileprivate var endBeyond: Timer.Cancel?

    /// True when what is equal to one more entry can be counted.
    var hasRoom: Bool { entries < AuditRepeats.mostOfAll }
  }

  /// Counts a get, if one that is equal was met within the minute; false when it is to be an entry.
  ///
  /// - Parameter time: Unix seconds.
  func count(_ key: UInt, of subject: AuditSubject, at time: Int64) -> Bool {
    guard let began = counting.began else { return false }
    // The log's own clock: it goes on in a sleep, which the timer does not notice, and where it is set back nothing is equal.
    guard time >= began, time - began < AuditRepeats.span else {
      countGets()
      return false
    }
    guard subject.repeats.count(key, at: time) else { return false }
    // Not before there is a count: what nobody repeats wakes nobody.
    if counting.end == nil {
      counting.end = timer.after((began + AuditRepeats.span - time) * 1_000_000_000) { [weak self] in
        self?.countGets()
      }
    }
    return true
  }

  /// Has gets that are equal to that entry be counted from now on.
  func begin(_ key: UInt, _ outcome: AuditOutcome, of subject: AuditSubject, as entry: Int64, at time: Int64) {
    if counting.began == nil { counting.began = time }
    counting.entries += 1
    subject.repeats.begin(key, outcome, as: entry, at: time)
  }

  /// Counts what is beyond a subject's part of the log. The first of an hour is told at once, so that a daemon that is killed
  /// before the hour's end has left word that there was more.
  func count(beyond subject: AuditSubject, _ action: AuditAction, _ outcome: AuditOutcome) {
    if !subjects.count(subject, action, outcome) {
      add(action, outcome, item: subject.name, repeats: AuditEntry.Repeats(of: nil, count: 1))
    }
    if counting.endBeyond == nil {
      counting.endBeyond = timer.after(AuditSubjects.span) { [weak self] in self?.countBeyond() }
    }
  }

  /// Forgets what was counted after entries that were lost, from that number on.
  ///
  /// - Returns: how much that was.
  func forgetCounts(from entry: Int64) -> Int { subjects.forgetRepeats(from: entry) }

  /// Writes down all that was counted.
  func countAll() {
    countGets()
    countBeyond()
  }

  /// Ends the minute: writes down how often there was what is equal to an entry.
  private func countGets() {
    counting.end?()
    (counting.began, counting.entries, counting.end) = (nil, 0, nil)
    let seen = subjects.takeRepeats()
    for one in seen {
      add(.get, one.outcome, one.last, repeats: AuditEntry.Repeats(of: one.entry, count: one.count))
    }
  }

  private func countBeyond() {
    counting.endBeyond?()
    counting.endBeyond = nil
    let counts = subjects.takeCounts()
    for one in counts {
      add(one.action, one.outcome, item: one.subject, repeats: AuditEntry.Repeats(of: nil, count: one.count))
    }
  }
}
