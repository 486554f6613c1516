internal import VaultModel

/// The entries whose repetitions may follow, for one reading of the log; only entries that the reader may see.
///
/// A repetition comes within about a minute of the entry that it repeats, and in the same chain.
struct AuditFirsts {
  /// The parts of an entry that its repetition leaves out.
  private struct First {
    let caller: AuditEntry.Caller?
    let item, detail, purpose: String?
    let id: ItemID?
  }

  /// The entries by their numbers: the newest ones, and those before them. Each of the two can hold the entries of a
  /// whole minute.
  private var known: [Int64: First] = [:]
  private var earlier: [Int64: First] = [:]
  /// The time of the first of the newest entries, in Unix seconds.
  private var began: Int64 = 0
  /// The number of the first entry that was read at all.
  private var start: Int64?

  var isEmpty: Bool { known.isEmpty && earlier.isEmpty }

  /// Notes that all entries from the number `entry` on are read; only the first call counts.
  mutating func begin(_ entry: Int64) { if start == nil { start = entry } }

  mutating func add(_ entry: AuditEntry, _ number: Int64) {
    let isOld = known.count >= AuditRepeats.most && Seconds.from(began, to: entry.time) > AuditRepeats.span
    if isOld || known.count >= AuditRepeats.mostOfAll { (earlier, known) = (known, [:]) }
    if known.isEmpty { began = entry.time }
    known[number] = First(
      caller: entry.caller, item: entry.item, detail: entry.detail, purpose: entry.purpose, id: entry.id)
  }

  /// Completes a repetition from the entry that it repeats, unless that entry was removed from the log; false if this
  /// reader may not see that entry.
  func fill(_ entry: inout AuditEntry, of number: Int64) -> Bool {
    guard let first = known[number] ?? earlier[number] else { return start.map { number < $0 } ?? true }
    (entry.caller, entry.item, entry.detail) = (first.caller, first.item, first.detail)
    (entry.purpose, entry.id) = (first.purpose, first.id)
    return true
  }

  /// The entry of a repetition that is not written yet; nil if this reader may not see the entry that it repeats.
  func entry(of seen: AuditRepeats.Seen) -> AuditEntry? {
    var entry = AuditEntry(
      time: seen.last, action: seen.action, outcome: seen.outcome,
      repeats: AuditEntry.Repeats(of: seen.entry, count: seen.count))
    return fill(&entry, of: seen.entry) ? entry : nil
  }
}
