internal import VaultModel

/// The subjects that the audit log tells apart, so that nobody pushes out the entries of another, or his own: what is beyond
/// a subject's part of the log is counted and told no further.
struct AuditSubjects {
  /// The time for which that is counted, so that counts fill no log either, in nanoseconds.
  static let span: Int64 = 3600 * 1_000_000_000
  /// The most subjects that are told apart; the others are one with the strangers.
  private static let most = 4096

  private struct Kind: Hashable {
    let subject: String
    let action: AuditAction
    let outcome: AuditOutcome
  }

  /// All callers who may do nothing here, together.
  let strangers = AuditSubject("strangers")
  private var subjects: [String: AuditSubject] = [:]
  private var counts: [Kind: UInt32] = [:]

  /// The subject of that name.
  mutating func subject(_ name: String) -> AuditSubject {
    if let known = subjects[name] { return known }
    guard subjects.count < Self.most else { return strangers }
    let subject = AuditSubject(name)
    subjects[name] = subject
    return subject
  }

  // MARK: Counts

  /// Counts what is beyond a subject's part.
  ///
  /// - Returns: false for the first one of its kind, of which the count begins: it is told at once.
  mutating func count(_ subject: AuditSubject, _ action: AuditAction, _ outcome: AuditOutcome) -> Bool {
    let kind = Kind(subject: subject.name, action: action, outcome: outcome)
    guard let count = counts[kind] else {
      counts[kind] = 0
      return false
    }
    counts[kind] = count &+ 1
    return true
  }

  /// What was counted of it, which is counted no more.
  mutating func takeCounts() -> [(subject: String, action: AuditAction, outcome: AuditOutcome, count: UInt32)] {
    defer { counts = [:] }
    return counts.filter { $0.value > 0 }.map { ($0.key.subject, $0.key.action, $0.key.outcome, $0.value) }
      .sorted { ($0.0, $0.1.rawValue, $0.2.rawValue) < ($1.0, $1.1.rawValue, $1.2.rawValue) }
  }

  /// The gets that were counted after an entry, in the order of these, which are counted no more.
  func takeRepeats() -> [AuditRepeats.Seen] {
    var seen = strangers.repeats.take()
    for subject in subjects.values { seen += subject.repeats.take() }
    return seen.sorted { $0.entry < $1.entry }
  }

  /// Forgets what was counted after entries that were lost, from that number on.
  ///
  /// - Returns: how much that was.
  func forgetRepeats(from entry: Int64) -> Int {
    subjects.values.reduce(strangers.repeats.forget(from: entry)) { $0 + $1.repeats.forget(from: entry) }
  }
}
