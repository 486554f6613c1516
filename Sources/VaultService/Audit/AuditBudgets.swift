internal import VaultModel

/// The part of the audit log that each subject may fill, so that nobody pushes out the entries of another, or his own: what
/// comes beyond it is counted and told no further.
///
/// A part fills up again in the time after which entries are taken out.
struct AuditBudgets {
  /// The budget that all callers have together who may do nothing here.
  static let strangers = "strangers"
  /// The number of parts of the log.
  static let parts: Int64 = 16
  /// The most subjects that are told apart; the others have one part together.
  private static let most = 4096
  /// The bytes that an entry takes beside its texts, roughly.
  private static let entrySize = 48

  private struct Budget {
    /// The bytes that are left.
    var left: Double
    var time: Int64
  }

  private struct Kind: Hashable {
    let subject: String
    let action: AuditAction
    let outcome: AuditOutcome
  }

  private var budgets: [String: Budget] = [:]
  private var counts: [Kind: UInt32] = [:]
  /// The time since which they are counted.
  private var counting: Int64?

  var hasCounts: Bool { !counts.isEmpty }

  static func size(_ item: String?, _ detail: String?, _ purpose: String?) -> Int {
    entrySize + (item?.utf8.count ?? 0) + (detail?.utf8.count ?? 0) + (purpose?.utf8.count ?? 0)
  }

  /// Takes so many bytes of a subject's part; false when it is used up.
  ///
  /// - Parameter now: `CLOCK_BOOTTIME` nanoseconds.
  mutating func take(_ subject: String, _ bytes: Int, _ settings: AuditSettings, now: Int64) -> Bool {
    let subject = budgets[subject] == nil && budgets.count >= Self.most ? Self.strangers : subject
    let whole = Double(settings.size / Self.parts)
    var budget = budgets[subject] ?? Budget(left: whole, time: now)
    if let age = settings.age {
      budget.left = min(whole, budget.left + whole * Double(now - budget.time) / (Double(age) * 1e9))
    }
    budget.time = now
    let isEnough = budget.left >= Double(bytes)
    if isEnough { budget.left -= Double(bytes) }
    budgets[subject] = budget
    return isEnough
  }

  /// The time for which they are counted, so that counts fill no log either, in nanoseconds.
  private static let span: Int64 = 3600 * 1_000_000_000

  /// Counts what is beyond a budget.
  mutating func count(_ subject: String, _ action: AuditAction, _ outcome: AuditOutcome, now: Int64) {
    if counting == nil { counting = now }
    counts[Kind(subject: subject, action: action, outcome: outcome), default: 0] &+= 1
  }

  /// What was counted, when that was for an hour; at the time that never comes, in any case.
  mutating func takeCounts(
    now: Int64
  ) -> [(subject: String, action: AuditAction, outcome: AuditOutcome, count: UInt32)] {
    guard let since = counting, now == .max || now - since >= Self.span else { return [] }
    defer { (counts, counting) = ([:], nil) }
    return counts.map { ($0.key.subject, $0.key.action, $0.key.outcome, $0.value) }
      .sorted { ($0.0, $0.1.rawValue, $0.2.rawValue) < ($1.0, $1.1.rawValue, $1.2.rawValue) }
  }
}
