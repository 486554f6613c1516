internal import VaultCore
internal import VaultModel

/// The subjects that the audit log tells apart, so that no subject pushes out the entries of another, or its own.
/// Events beyond a subject's parts of the log are counted by item.
struct AuditSubjects {
  /// The most separate subjects; the others are merged with the strangers.
  private static let most = 4096
  /// The most kinds with an item that are counted at a time for all subjects together. Beyond this limit, each subject
  /// still has its reserved kinds.
  private static let mostKinds = 16_384
  /// The seconds without a counted event after which ``counted`` begins again. Entries older than that are not added to
  /// it.
  private static let remembered: Int64 = 30 * 86_400

  let strangers = AuditSubject(.strangers)
  /// The subject for events that nobody has asked for.
  let daemon = AuditSubject(.daemon)
  private var subjects: [String: AuditSubject] = [:]
  private var kinds = 0
  /// The number of subjects with counts.
  private var counting = 0
  /// All counts, in the short form that one record holds; nil if the short form must be made again.
  private(set) var short: AuditShortCounts?
  /// The usage from before this process, of subjects that this process has not met. Until ``take(_:passed:now:)`` is
  /// called, it may be incomplete, and may include subjects that were met.
  private var earlier: [AuditUsage.Key: AuditBudget] = [:]
  /// The number of recent events that were only counted.
  private(set) var counted: AuditUsage.Counted?
  /// The number of events among ``counted`` whose counts have entries. The next process finds the other events in the
  /// tally.
  private var told: AuditUsage.Counted?

  private var all: [AuditSubject] { [strangers, daemon] + subjects.values }

  /// The subject with that name.
  mutating func subject(_ name: AuditSubject.Name) -> AuditSubject {
    if name == .strangers { return strangers }
    if name == .daemon { return daemon }
    if let known = subjects[name.text] { return known }
    guard subjects.count < Self.most else { return strangers }
    let subject = AuditSubject(name)
    if let before = earlier.removeValue(forKey: subject.key) { subject.budget = before }
    subjects[name.text] = subject
    return subject
  }

  // MARK: Counts

  /// Notes an event beyond a subject's part; true for the first one of its sort within an hour.
  mutating func isFirst(_ subject: AuditSubject, _ action: AuditAction, _ outcome: AuditOutcome, at time: Int64) -> Bool
  {
    Self.add(AuditUsage.Counted(count: 1, since: time, last: time), to: &counted)
    return subject.counts.isFirst(action, outcome, at: time)
  }

  /// Notes that a count has an entry.
  mutating func haveTold(_ count: AuditCounts.Count) {
    Self.add(AuditUsage.Counted(count: Int64(count.count), since: count.last, last: count.last), to: &told)
  }

  /// Notes an entry of an earlier process with a count, which the stored usage does not include.
  mutating func haveFound(_ count: UInt32, at time: Int64, now: Int64) {
    guard Seconds.from(time, to: now) <= Self.remembered else { return }
    let found = AuditUsage.Counted(count: Int64(count), since: time, last: time)
    Self.add(found, to: &counted)
    Self.add(found, to: &told)
  }

  /// Adds events to a number of events, which is forgotten if the new ones are much later.
  private static func add(_ more: AuditUsage.Counted, to number: inout AuditUsage.Counted?) {
    guard let old = number, Seconds.from(old.last, to: more.last) <= remembered else {
      number = more
      return
    }
    let (count, isTooMany) = old.count.addingReportingOverflow(more.count)
    number = AuditUsage.Counted(
      count: isTooMany ? .max : count, since: min(old.since, more.since), last: max(old.last, more.last))
  }

  /// Counts an event beyond a subject's part.
  mutating func count(_ subject: AuditSubject, _ kind: AuditCounts.Kind, beyond part: AuditPart, at time: Int64) {
    let hasRoom = kinds < Self.mostKinds
    let (counted, isNew) = change(subject) { $0.count(kind, beyond: part, at: time, hasRoom: hasRoom) }
    short?.count(counted, isNew: isNew, of: subject, beyond: part, at: time)
  }

  /// Changes the counts of a subject.
  mutating func changeCounts(of subject: AuditSubject, _ change: (inout AuditCounts) -> Void) {
    short = nil
    self.change(subject, change)
  }

  private mutating func change<R>(_ subject: AuditSubject, _ change: (inout AuditCounts) -> R) -> R {
    let (wasEmpty, named) = (subject.counts.isEmpty, subject.counts.named)
    defer {
      kinds += subject.counts.named - named
      if wasEmpty != subject.counts.isEmpty { counting += wasEmpty ? 1 : -1 }
    }
    return change(&subject.counts)
  }

  /// All counts, in the short form that one record holds.
  ///
  /// - Parameter log: the size of the whole log in bytes, and the time in `CLOCK_BOOTTIME` nanoseconds.
  mutating func shortCounts(hasNames: Bool, in log: (size: Int64, now: Int64)) -> AuditShortCounts {
    if let short, short.hasNames == hasNames { return short }
    let new = AuditShortCounts(countedSubjects, strangers: strangers, hasNames: hasNames, in: log)
    short = new
    return new
  }

  /// True when there are counts that are not written.
  var isCounting: Bool { counting > 0 }

  /// The subjects with counts.
  var countedSubjects: [AuditSubject] {
    isCounting ? all.filter { !$0.counts.isEmpty }.sorted { $0.name.text < $1.name.text } : []
  }

  /// True when counts contain names of items.
  var mayHoldNames: Bool { kinds > 0 }

  /// Removes the names of items from the counts.
  mutating func forgetNames() {
    for subject in countedSubjects {
      changeCounts(of: subject) { counts in for part in AuditPart.allCases { counts.forgetNames(part) } }
    }
  }

  /// Removes all counts, because they were written.
  mutating func haveToldAll() {
    for subject in countedSubjects {
      for part in AuditPart.allCases { for (_, count) in subject.counts.untold(part) { haveTold(count) } }
      changeCounts(of: subject) { $0.haveToldAll() }
    }
  }

  /// The entries with repetitions, in the order of their numbers.
  var repeated: [AuditRepeats.Seen] { all.flatMap(\.repeats.repeated).sorted { $0.entry < $1.entry } }

  /// Returns the entries with repetitions, in the order of their numbers, and ends the counting.
  func takeRepeats() -> [AuditRepeats.Seen] { all.flatMap { $0.repeats.take() }.sorted { $0.entry < $1.entry } }

  /// Forgets the repetitions of the entries from the number `entry` on, which were lost.
  ///
  /// - Returns: the number of repetitions that were forgotten.
  func forgetRepeats(from entry: Int64) -> Int { all.reduce(0) { $0 + $1.repeats.forget(from: entry) } }

  // MARK: Over restarts

  /// The present usage, to be stored.
  ///
  /// - Parameters:
  ///   - size: the size of the whole log in bytes.
  ///   - time: the time in Unix seconds.
  ///   - now: the time in `CLOCK_BOOTTIME` nanoseconds.
  func usage(_ size: Int64, at time: Int64, now: Int64) -> AuditUsage {
    var usage = AuditUsage(time: time, counted: told)
    for (key, budget) in earlier { usage.subjects[key] = budget.bytes(size, now: now) }
    for subject in all { usage.subjects[subject.key] = subject.budget.bytes(size, now: now) }
    usage.subjects = usage.subjects.filter { $0.value.contains { $0 > 0 } }
    return usage
  }

  /// Counts an entry that an earlier process has written, for ``take(_:passed:now:)``.
  mutating func charge(_ bytes: Int, to part: AuditPart, of key: AuditUsage.Key, now: Int64) {
    earlier[key, default: AuditBudget()].charge(bytes, to: part, now: now)
  }

  /// Takes over the usage from before this process, together with everything that was charged since.
  ///
  /// - Parameter passed: the seconds since the usage was stored.
  mutating func take(_ usage: AuditUsage, passed: Int64, now: Int64) {
    short = nil
    let time = now - passed * 1_000_000_000
    for (key, used) in usage.subjects { earlier[key, default: AuditBudget()].add(AuditBudget(used, now: time)) }
    for subject in all {
      guard let before = earlier.removeValue(forKey: subject.key) else { continue }
      subject.budget.add(before)
    }
    guard let before = usage.counted else { return }
    // The stored number is the older one, so it is the one that may be forgotten.
    for number in [\AuditSubjects.counted, \.told] {
      var sum: AuditUsage.Counted? = before
      if let own = self[keyPath: number] { Self.add(own, to: &sum) }
      self[keyPath: number] = sum
    }
  }
}
