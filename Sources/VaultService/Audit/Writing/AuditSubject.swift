internal import VaultCore
internal import VaultModel

/// A subject in the audit log: the usage of its share of the log, and the counts of its events.
final class AuditSubject {
  /// The identity of a subject.
  struct Name: Hashable {
    /// The subject in the text form of grants.
    let text: String
    /// The unit and the program, if a grant has named them.
    var unit: String?
    var executable: String?

    /// All callers without any right in this vault, together.
    static let strangers = Name(text: "strangers")
    /// The callers whose rights cannot be determined before the vault is unlocked.
    static let undecided = Name(text: "undecided")
    /// The daemon, for events that nobody has asked for.
    static let daemon = Name(text: "vaultd")
  }

  /// The approximate bytes of an entry without its texts, including its repetitions.
  static let entrySize = 48

  let name: Name
  let key: AuditEntry.Subject
  var repeats = AuditRepeats()
  var counts = AuditCounts()
  var budget: AuditBudget
  /// True when the uid of an entry's caller determines the subject.
  private let isUser: Bool

  init(_ name: Name, _ budget: AuditBudget = AuditBudget()) {
    (self.name, self.budget) = (name, budget)
    key = AuditEntry.Subject(of: name.text)
    isUser = name == .strangers || name == .undecided || name.isUser
  }

  /// The subject as its entries contain it; nil if the rest of an entry determines it.
  ///
  /// - Parameter hasCaller: false for events of the daemon on behalf of the subject.
  func told(besideCaller hasCaller: Bool) -> AuditEntry.Subject? {
    if hasCaller { return isUser ? nil : key }
    return name == .daemon ? nil : key
  }

  /// Takes bytes of a part for an entry; false if the part is full.
  ///
  /// - Parameters:
  ///   - bytes: the size of the entry's texts, and of what must be written before it.
  ///   - use: the use of the part: a count may fill it further than an entry.
  ///   - now: the time in `CLOCK_BOOTTIME` nanoseconds.
  func take(
    _ bytes: Int, of part: AuditPart, for use: AuditPart.Use = .entry, _ settings: AuditSettings, now: Int64
  ) -> Bool {
    budget.take(Self.entrySize + bytes, of: part, for: use, settings.size, now: now)
  }
}

/// The audit log's notes on a caller for as long as it is connected.
struct AuditMemory {
  /// The caller's subject, and the revision of the grants by which it was determined.
  var subject: (AuditSubject, revision: Int)?
  /// The description of the caller in the entries of a second, and the time of the first of them, in `CLOCK_BOOTTIME`
  /// nanoseconds.
  var told: (time: Int64, caller: AuditEntry.Caller)?
  /// The place of the caller in the block, and the number of the block's filling.
  var place: (filling: Int, place: UInt16)?
}

extension AuditPart {
  /// The part toward which an entry in the log counts.
  init(of entry: AuditEntry) {
    self.init(of: entry.action, entry.outcome, isDaemon: entry.caller == nil && entry.subject == nil)
  }
}

extension AuditEntry {
  /// The bytes of a subject's part that the entry takes, including its caller.
  var charge: Int {
    let texts = (item?.utf8.count ?? 0) + (detail?.utf8.count ?? 0) + (purpose?.utf8.count ?? 0)
    return AuditSubject.entrySize + texts + (caller.map { AuditBlock.size(of: $0) } ?? 0)
  }
}
