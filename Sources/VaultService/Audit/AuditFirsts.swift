internal import VaultModel

/// The entries that later ones may tell more of, for one who reads the log: those that the reader is to be told.
///
/// A later entry comes within about a minute of the one that it tells more of, and in the same chain.
struct AuditFirsts {
  /// The parts of an entry that a later one leaves out.
  private struct First {
    let caller: AuditEntry.Caller?
    let item, detail, purpose: String?
    let id: ItemID?
  }

  /// By their numbers: the newest ones, and those that were met before these. Of a minute there are no more than either
  /// has.
  private var known: [Int64: First] = [:]
  private var earlier: [Int64: First] = [:]
  /// The time of the first one of the newest, Unix seconds.
  private var began: Int64 = 0
  /// The number of the first entry that was met at all.
  private var start: Int64?

  var isEmpty: Bool { known.isEmpty && earlier.isEmpty }

  /// Takes note that all are met from that one on.
  mutating func begin(_ entry: Int64) { if start == nil { start = entry } }

  mutating func add(_ entry: AuditEntry, _ number: Int64) {
    let isOld = known.count >= AuditRepeats.most && entry.time - began > AuditRepeats.span
    if isOld || known.count >= AuditRepeats.mostOfAll { (earlier, known) = (known, [:]) }
    if known.isEmpty { began = entry.time }
    known[number] = First(
      caller: entry.caller, item: entry.item, detail: entry.detail, purpose: entry.purpose, id: entry.id)
  }

  /// Fills in what a later entry leaves out, unless the first one was taken out of the log; false where the first one is
  /// not for this reader.
  func fill(_ entry: inout AuditEntry, of number: Int64) -> Bool {
    guard let first = known[number] ?? earlier[number] else { return start.map { number < $0 } ?? true }
    (entry.caller, entry.item, entry.detail) = (first.caller, first.item, first.detail)
    (entry.purpose, entry.id) = (first.purpose, first.id)
    return true
  }

  /// The entry of a count that is not written down yet; nil where the entry that it is of is not for this reader.
  func entry(of seen: AuditRepeats.Seen) -> AuditEntry? {
    var entry = AuditEntry(
      time: seen.last, action: seen.action, outcome: seen.outcome,
      repeats: AuditEntry.Repeats(of: seen.entry, count: seen.count))
    return fill(&entry, of: seen.entry) ? entry : nil
  }
}
