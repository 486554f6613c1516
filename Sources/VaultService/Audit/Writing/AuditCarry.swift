internal import VaultCore
internal import VaultModel

/// Chooses which of the oldest entries stay when the log is too long. Subjects that fill the log lose entries first.
enum AuditCarry {
  /// The bytes available for the entries to keep.
  struct Room {
    var all: Int64
    var rights: Int64
    var values: Int64

    /// Takes room for an entry of a part; false if not enough is left.
    mutating func take(_ size: Int64, _ part: AuditPart) -> Bool {
      guard size <= all else { return false }
      switch part {
      case .rights:
        guard size <= rights else { return false }
        rights -= size
      case .values:
        guard size <= values else { return false }
        values -= size
      case .calls: return false
      }
      all -= size
      return true
    }
  }

  /// The bytes of the entries that were removed since the log was last short enough, and of those among them that were
  /// written again.
  struct Done {
    var gone: Int64 = 0
    private var rights: Int64 = 0
    private var values: Int64 = 0

    mutating func add(_ entry: AuditEntry) {
      switch AuditPart(of: entry) {
      case .rights: rights += Int64(entry.charge)
      case .values: values += Int64(entry.charge)
      case .calls: break
      }
    }

    /// The room in the next step.
    ///
    /// The room is a quarter of the bytes that are removed, minus the beginning of a record and of a chain, so that the
    /// log becomes shorter each time. It is also at most a quarter of the size that the log is to have; otherwise, if
    /// much is removed, older entries would push out the newest ones. A fourth of that quarter is available to changes
    /// of rights from the first step on. The rest becomes available as the steps continue, twice as much for rights as
    /// for values, so that late entries among the removed ones find room, too.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that this step removes, which ``gone`` includes already.
    ///   - left: the bytes that are still to be removed after it.
    ///   - size: the size that the log is to have, in bytes.
    func room(ofBytes bytes: Int64, left: Int64, size: Int64) -> Room {
      let quarter = size / 4
      let share = Int64(Double(quarter / 4) * Double(gone) / Double(max(1, gone + left)))
      return Room(
        all: min(bytes / 4, quarter - rights - values) - Int64(AuditBlock.overhead + AuditChain.encodedCount),
        rights: quarter / 4 + 2 * share - rights, values: share - values)
    }
  }

  private struct Group {
    let part: AuditPart
    var bytes: Int64 = 0
    var indices: [Int] = []
  }

  /// The entries to keep, in their order: first changes of rights, then values, and of each kind first those of the
  /// subjects with the fewest bytes. Searches and refused calls are not kept.
  ///
  /// - Parameters:
  ///   - room: the bytes that the entries may take in all, and those of each part.
  ///   - since: the time of the oldest entry to keep, in Unix seconds.
  ///   - subject: returns the subject of an entry.
  static func kept(
    of found: [(number: Int64, entry: AuditEntry)], room: Room, since oldest: Int64,
    subject: (AuditEntry) -> AuditEntry.Subject
  ) -> [AuditEntry] {
    let entries = whole(found)
    var groups: [AuditEntry.Subject: [AuditPart: Group]] = [:]
    for (index, entry) in entries.enumerated() where entry.time >= oldest {
      let part = AuditPart(of: entry)
      switch part {
      case .calls: continue
      case .rights, .values:
        let subject = subject(entry)
        groups[subject, default: [:]][part, default: Group(part: part)].bytes += Int64(entry.charge)
        groups[subject, default: [:]][part, default: Group(part: part)].indices.append(index)
      }
    }
    var room = room
    var kept: [Int] = []
    let smallestFirst = groups.values.flatMap(\.values).sorted {
      ($0.part.rawValue, $0.bytes, $0.indices[0]) < ($1.part.rawValue, $1.bytes, $1.indices[0])
    }
    for group in smallestFirst {
      // If not all entries of a group stay, the newest do.
      for index in group.indices.reversed() {
        guard room.take(Int64(entries[index].charge), group.part) else { break }
        kept.append(index)
      }
    }
    return kept.sorted().map { entries[$0] }
  }

  /// The found entries, in which each repetition gets the content of the entry that it repeats, because the number of
  /// that entry changes. A repetition is left out if that entry is gone.
  private static func whole(_ found: [(number: Int64, entry: AuditEntry)]) -> [AuditEntry] {
    var counted: [Int64: AuditEntry] = [:]
    return found.compactMap { number, entry in
      var entry = entry
      if entry.isCounted { counted[number] = entry }
      entry.isCounted = false
      guard let repeats = entry.repeats, let of = repeats.of else { return entry }
      // The entry that it repeats was removed before.
      guard let first = counted[of] else { return nil }
      (entry.caller, entry.item, entry.detail, entry.purpose) = (first.caller, first.item, first.detail, first.purpose)
      (entry.subject, entry.id) = (first.subject, first.id)
      entry.caller?.pid = 0
      entry.repeats = AuditEntry.Repeats(of: nil, count: repeats.count)
      return entry
    }
  }
}
