internal import VaultModel

/// The times for which the audit log cannot tell what happened, among those that a reader asks about: the times before
/// the log begins, those in which it was off, those between a backup and its restore, and those of which entries were
/// lost, or removed from within the log.
///
/// They are found from the daemon's own entries, which are met in the order of the log.
package struct AuditGaps: Sendable {
  /// The time between the last entry of a backup and the entry of its restore, in Unix seconds: the log of the backup
  /// has nothing of it.
  package struct Restore: Equatable, Sendable {
    /// Nil if the backup has no entry.
    package let since: Int64?
    package let until: Int64
  }

  private let since: Int64
  private let until: Int64
  /// The time before which entries were removed, in Unix seconds, if the reader asks about earlier times; nil
  /// otherwise.
  package private(set) var begin: Int64?
  /// True if the log was off at some time.
  package private(set) var wereOff = false
  /// The latest of these restores, in the order of the log.
  package private(set) var restores: [Restore] = []
  /// True if entries were lost, set aside, or removed from within the log, so that they cannot be read.
  package private(set) var haveLost = false
  /// The most restores to report. Nobody restores so often.
  private static let mostRestores = 16
  /// The time of the latest entry so far.
  private var latest = Int64.min
  /// The time at which the log was turned off, if no entry so far is from after that.
  private var offSince: Int64?

  /// - Parameters:
  ///   - since: the first of the times that the reader asks about, in Unix seconds; nil for all earlier ones.
  ///   - until: the last of them; nil for all later ones.
  init(since: Int64?, until: Int64?) { (self.since, self.until) = (since ?? .min, until ?? .max) }

  package var isEmpty: Bool { begin == nil && !wereOff && !haveLost && restores.isEmpty }

  /// Meets the next entry of the log.
  mutating func meet(_ entry: AuditEntry) {
    let before = latest
    latest = max(latest, entry.time)
    // A count, and an entry that a cut has kept, are written later than they were made, also while the log is off. Any
    // other entry shows that the log was on.
    let isPresent = entry.repeats == nil && entry.time >= before
    if isPresent, let start = offSince {
      noteOff(start, entry.time)
      offSince = nil
    }
    if entry.isOfRestore { noteRestore(before, entry.time) }
    // The entry does not tell when the lost ones were made.
    if entry.isOfLoss { noteLost(.min, entry.time) }
    guard entry.action == .audit, entry.caller == nil, let item = entry.item else { return }
    let earlier = entry.detail.flatMap(AuditSettings.before)
    if AuditSettings.areOff(item) {
      // Without the settings before it, the entry is about a daemon that was started so, some time earlier.
      noteOff(earlier == nil ? min(before, entry.time) : entry.time, entry.time)
      if isPresent { offSince = entry.time }
    } else if earlier.map(AuditSettings.areOff) == true {
      noteOff(entry.time, entry.time)
    }
  }

  /// Adds what the log's entries do not tell, after all of them were met.
  ///
  /// - Parameters:
  ///   - begin: the time before which entries were removed, in Unix seconds; nil for none.
  ///   - areOff: true if the log is off now.
  ///   - haveLost: true if entries were lost that no entry reports yet, or cannot be read.
  mutating func conclude(begin: Int64?, areOff: Bool, haveLost: Bool) {
    if let begin, begin > since { self.begin = begin }
    // With a daemon that was started with the log on, the log was on again before the entries that come next.
    if areOff || offSince != nil { noteOff(offSince ?? latest, .max) }
    if haveLost { self.haveLost = true }
  }

  private mutating func noteOff(_ start: Int64, _ end: Int64) {
    if end >= since, start <= until { wereOff = true }
  }

  private mutating func noteLost(_ start: Int64, _ end: Int64) {
    if end >= since, start <= until { haveLost = true }
  }

  private mutating func noteRestore(_ start: Int64, _ end: Int64) {
    guard end >= since, start <= until else { return }
    if restores.count == Self.mostRestores { restores.removeFirst() }
    restores.append(Restore(since: start == .min ? nil : start, until: end))
  }
}

extension AuditEntry {
  /// True for an entry about a restore of a backup. The log of that backup has nothing of what happened after it.
  fileprivate var isOfRestore: Bool { action == .restore && outcome == .ok }

  /// True for the daemon's entry that others were lost, that they were removed from within the log, or that they were
  /// set aside because nobody can read them; and for a count without words, which may stand for such entries.
  fileprivate var isOfLoss: Bool {
    guard caller == nil, action == .audit || action == .salvage else { return false }
    guard let item else { return repeats != nil }
    return outcome == .failed && (item.hasSuffix(" lost") || item.contains(" removed: more were written before "))
      || outcome == .ok && item.hasSuffix(": set aside")
  }
}
