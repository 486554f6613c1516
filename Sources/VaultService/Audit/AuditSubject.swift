internal import VaultCore
internal import VaultModel

/// A subject as the audit log knows it: what it has used of its share of the log, and what is counted of what it did.
final class AuditSubject {
  /// The identity of a subject.
  struct Name: Hashable {
    /// The subject, as grants name it.
    let text: String
    /// The unit, and the program, where a grant has named them.
    var unit: String?
    var executable: String?

    /// All callers who may do nothing here, together.
    static let strangers = Name(text: "strangers")
    /// Those of whom nobody can tell what they may do before the vault is unlocked.
    static let undecided = Name(text: "undecided")
    /// The daemon, for what nobody has asked it for.
    static let daemon = Name(text: "vaultd")
  }

  /// The bytes that an entry takes beside its texts, and what is counted after it, roughly.
  static let entrySize = 48

  let name: Name
  let key: AuditEntry.Subject
  var repeats = AuditRepeats()
  var counts = AuditCounts()
  var budget: AuditBudget
  /// True when an entry's caller tells of it by its uid.
  private let isUser: Bool

  init(_ name: Name, _ budget: AuditBudget = AuditBudget()) {
    (self.name, self.budget) = (name, budget)
    key = AuditEntry.Subject(of: name.text)
    isUser = name == .strangers || name == .undecided || name.isUser
  }

  /// The subject as its entries tell it, where nothing else in them does.
  ///
  /// - Parameter hasCaller: false for what the daemon does for it.
  func told(besideCaller hasCaller: Bool) -> AuditEntry.Subject? {
    if hasCaller { return isUser ? nil : key }
    return name == .daemon ? nil : key
  }

  /// Takes an entry of a part; false when that is used up.
  ///
  /// - Parameters:
  ///   - bytes: the size of its texts, and of what has to be written before it.
  ///   - use: what it is: a count goes further than an entry.
  ///   - now: `CLOCK_BOOTTIME` nanoseconds.
  func take(
    _ bytes: Int, of part: AuditPart, for use: AuditPart.Use = .entry, _ settings: AuditSettings, now: Int64
  ) -> Bool {
    budget.take(Self.entrySize + bytes, of: part, for: use, settings.size, now: now)
  }
}

/// What the audit log keeps of a caller for as long as it is connected.
struct AuditMemory {
  /// The subject that it is, and the state of the grants by which that was told.
  var subject: (AuditSubject, revision: Int)?
  /// What the entries of a second tell of it, and the time of the first of them, `CLOCK_BOOTTIME` nanoseconds.
  var told: (time: Int64, caller: AuditEntry.Caller)?
  /// Its place among the callers of a filling of the block.
  var place: (filling: Int, place: UInt16)?
}

extension AuditPart {
  /// The part that an entry in the log took.
  init(of entry: AuditEntry) {
    self.init(of: entry.action, entry.outcome, isDaemon: entry.caller == nil && entry.subject == nil)
  }
}

extension AuditEntry {
  /// The bytes that it takes of a subject's part, its caller included.
  var charge: Int {
    let texts = (item?.utf8.count ?? 0) + (detail?.utf8.count ?? 0) + (purpose?.utf8.count ?? 0)
    return AuditSubject.entrySize + texts + (caller.map { AuditBlock.size(of: $0) } ?? 0)
  }
}
