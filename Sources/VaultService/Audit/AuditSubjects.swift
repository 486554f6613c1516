internal import VaultCore
internal import VaultModel

/// The subjects that the audit log tells apart, so that nobody pushes out the entries of another, or his own: what is beyond
/// a subject's parts of the log is counted by item.
struct AuditSubjects {
  /// The most subjects that are told apart; the others are one with the strangers.
  private static let most = 4096
  /// The most kinds with an item that are counted at a time, of all subjects, beside those that each may have anyway.
  private static let mostKinds = 16_384
  /// The seconds after which what was counted is told by ``counted`` no more.
  private static let remembered: Int64 = 30 * 86_400

  let strangers = AuditSubject(.strangers)
  /// The subject for what nobody has asked for.
  let daemon = AuditSubject(.daemon)
  private var subjects: [String: AuditSubject] = [:]
  private var kinds = 0
  /// The number of subjects of whom something is counted.
  private var counting = 0
  /// All counts, as one record holds them; nil where they are to be made of the counts anew.
  private(set) var short: AuditShortCounts?
  /// The use of subjects before this process, of whom nothing was met since, or which is not all of it yet.
  private var earlier: [AuditUsage.Key: AuditBudget] = [:]
  /// The number of events of late that were only counted.
  private(set) var counted: AuditUsage.Counted?

  private var all: [AuditSubject] { [strangers, daemon] + subjects.values }

  /// The subject of that name.
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

  /// Takes note that something is beyond a subject's part; true for the first one of its sort within an hour.
  mutating func isFirst(_ subject: AuditSubject, _ action: AuditAction, _ outcome: AuditOutcome, at time: Int64) -> Bool
  {
    var counted =
      counted.flatMap { time - $0.last > Self.remembered ? nil : $0 }
      ?? AuditUsage.Counted(count: 0, since: time, last: time)
    counted.count += 1
    counted.last = max(counted.last, time)
    self.counted = counted
    return subject.counts.isFirst(action, outcome, at: time)
  }

  /// Counts what is beyond a subject's part.
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

  /// All counts, as one record holds them.
  mutating func shortCounts(hasNames: Bool) -> AuditShortCounts {
    if let short, short.hasNames == hasNames { return short }
    let new = AuditShortCounts(countedSubjects, strangers: strangers, hasNames: hasNames)
    short = new
    return new
  }

  /// True when something is counted that is not written down.
  var isCounting: Bool { counting > 0 }

  /// The subjects of whom something is counted.
  var countedSubjects: [AuditSubject] {
    isCounting ? all.filter { !$0.counts.isEmpty }.sorted { $0.name.text < $1.name.text } : []
  }

  /// True when counts name items.
  var mayHoldNames: Bool { kinds > 0 }

  /// Counts on without the names of items.
  mutating func forgetNames() {
    for subject in countedSubjects {
      changeCounts(of: subject) { counts in for part in AuditPart.allCases { counts.forgetNames(part) } }
    }
  }

  /// Forgets all counts, which were written down.
  mutating func haveToldAll() {
    for subject in countedSubjects { changeCounts(of: subject) { $0.haveToldAll() } }
  }

  /// The counts of what repeated entries, in the order of these.
  var repeated: [AuditRepeats.Seen] { all.flatMap(\.repeats.repeated).sorted { $0.entry < $1.entry } }

  /// The same, which is counted no more.
  func takeRepeats() -> [AuditRepeats.Seen] { all.flatMap { $0.repeats.take() }.sorted { $0.entry < $1.entry } }

  /// Forgets what was counted after entries that were lost, from that number on.
  ///
  /// - Returns: how much that was.
  func forgetRepeats(from entry: Int64) -> Int { all.reduce(0) { $0 + $1.repeats.forget(from: entry) } }

  // MARK: Over restarts

  /// The present use, to be kept.
  ///
  /// - Parameters:
  ///   - size: that of the whole log.
  ///   - time: Unix seconds.
  ///   - now: `CLOCK_BOOTTIME` nanoseconds.
  func usage(_ size: Int64, at time: Int64, now: Int64) -> AuditUsage {
    var usage = AuditUsage(time: time, counted: counted)
    for (key, budget) in earlier { usage.subjects[key] = budget.bytes(size, now: now) }
    for subject in all { usage.subjects[subject.key] = subject.budget.bytes(size, now: now) }
    usage.subjects = usage.subjects.filter { $0.value.contains { $0 > 0 } }
    return usage
  }

  /// Takes note of an entry that an earlier process has written, for ``take(_:passed:now:)``.
  mutating func charge(_ bytes: Int, to part: AuditPart, of key: AuditUsage.Key, now: Int64) {
    earlier[key, default: AuditBudget()].charge(bytes, to: part, now: now)
  }

  /// Takes in what was used before this process, with all that was charged meanwhile.
  ///
  /// - Parameters:
  ///   - passed: the seconds since then.
  mutating func take(_ usage: AuditUsage, passed: Int64, now: Int64) {
    let time = now - passed * 1_000_000_000
    for (key, used) in usage.subjects { earlier[key, default: AuditBudget()].add(AuditBudget(used, now: time)) }
    for subject in all {
      guard let before = earlier.removeValue(forKey: subject.key) else { continue }
      subject.budget.add(before)
    }
    guard let before = usage.counted else { return }
    counted = AuditUsage.Counted(
      count: before.count + (counted?.count ?? 0), since: min(before.since, counted?.since ?? before.since),
      last: max(before.last, counted?.last ?? before.last))
  }
}
