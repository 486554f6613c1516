internal import VaultModel

/// The stage of a reading of the audit log. A reading makes as many walks as it needs. The first walk covers everything
/// that is there at the beginning. Further walks cover the entries that were written meanwhile, which may include
/// counts of earlier entries. If only the last entries are wanted, a final walk reads them again, because the earlier
/// walks have found but not kept them.
struct AuditStage {
  private enum Aim {
    /// Returns all entries.
    case all
    /// Finds out where the last entries begin.
    case search(LastEntries)
    /// Returns the last entries, after skipping this many.
    case last(skip: Int)
  }

  private var aim: Aim
  /// The number of the first entry that did not exist when the reading began, once that is reached.
  private var firstLater: Int64?
  /// The number of walks over later entries that are still to be made, so that no count is missed that was written
  /// during the reading.
  private var laterWalks = 3
  /// The number of the first entry that no walk had met when the last entries began to be returned. The counts that
  /// waited at that time are returned with the last entries, so the entries that these counts get later are left out.
  private var end: Int64?

  /// - Parameter last: the number of entries that are wanted, if only the last ones are.
  init(last: Int?) { aim = last.map { .search(LastEntries($0)) } ?? .all }

  /// True once every entry of the reading has been met, and only the last ones are met again.
  var isAtLast: Bool { if case .last = aim { true } else { false } }

  /// True when an entry belongs to the reading. Of later entries, only counts of earlier ones do.
  func includes(_ number: Int64, _ entry: AuditEntry) -> Bool {
    if let end, number >= end { return false }
    guard let firstLater, number >= firstLater else { return true }
    return entry.repeats.map { $0.of ?? 0 < firstLater } ?? false
  }

  /// Notes an entry that was found. True if it is to be returned now.
  mutating func finds(_ number: Int64) -> Bool {
    switch aim {
    case .all, .last(skip: 0): return true
    case .last(let skip): aim = .last(skip: skip - 1)
    case .search(var last):
      // `aim` lets go of `last` before the change, so that the marks are changed in place and not copied.
      aim = .all
      last.add(number)
      aim = .search(last)
    }
    return false
  }

  /// Notes that entries were removed from the log while the last entries are read. The entry at which to begin may be
  /// among them, so no more entries are skipped.
  mutating func hasLost() { if isAtLast { aim = .last(skip: 0) } }

  /// Begins a walk over later entries; false if enough such walks were made.
  mutating func beginLater(at number: Int64) -> Bool {
    guard laterWalks > 0, !isAtLast else { return false }
    laterWalks -= 1
    firstLater = firstLater ?? number
    return true
  }

  /// The result of ``beginLast(at:)``.
  enum Last {
    /// The reading is over. It has returned the entries as it found them.
    case isOver
    /// No entry was found.
    case isEmpty
    /// A walk is to begin at this entry. `hasOlder` is true if entries were found that come before the last ones.
    case begins(Int64, hasOlder: Bool)
  }

  /// Begins to return the last entries, after all were found.
  ///
  /// - Parameter number: the number after the last entry that was met.
  mutating func beginLast(at number: Int64) -> Last {
    guard case .search(let last) = aim else { return .isOver }
    (firstLater, end) = (firstLater ?? number, number)
    let start = last.start
    aim = .last(skip: start?.skip ?? 0)
    return start.map { .begins($0.entry, hasOlder: last.hasOlder) } ?? .isEmpty
  }
}
