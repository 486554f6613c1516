internal import VaultCore
internal import VaultModel

/// The choice of what stays of the oldest entries where the log is too long: who fills it loses first.
enum AuditCarry {
  /// The bytes that entries which stay may take.
  struct Room {
    var all: Int64
    var rights: Int64
    var values: Int64

    /// Takes some of it for an entry of a part; false where there is not as much left.
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

  /// The bytes that went, and those of entries that stayed, since the log was short enough.
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
    /// A quarter of what goes, with what a record and a chain begin with: the log becomes shorter each time. Of all that
    /// is to stay it is a quarter as well, or older entries would push out the newest ones where much goes: of that
    /// quarter a fourth is for changes of rights at once, and of the rest, as the steps go on, twice as much for these
    /// as for values, so that what comes late in what goes finds room too.
    ///
    /// - Parameters:
    ///   - bytes: the size of what goes in the step, which ``gone`` counts already.
    ///   - left: the size of what is to go after it.
    ///   - size: the size that the log is to have.
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

  /// The entries to keep, in their order: changes of rights before values, and of each those of the subjects that have
  /// fewest. Searches and what was refused go.
  ///
  /// - Parameters:
  ///   - room: the bytes that they may take, and those of one part.
  ///   - since: the time of the oldest, Unix seconds.
  ///   - subject: the subject of an entry.
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
      // The newest of those that do not all stay.
      for index in group.indices.reversed() {
        guard room.take(Int64(entries[index].charge), group.part) else { break }
        kept.append(index)
      }
    }
    return kept.sorted().map { entries[$0] }
  }

  /// The entries, of which those that tell more of another say all of it by themselves: that one has another number
  /// then.
  private static func whole(_ found: [(number: Int64, entry: AuditEntry)]) -> [AuditEntry] {
    var counted: [Int64: AuditEntry] = [:]
    return found.compactMap { number, entry in
      var entry = entry
      if entry.isCounted { counted[number] = entry }
      entry.isCounted = false
      guard let repeats = entry.repeats, let of = repeats.of else { return entry }
      // What it tells of was taken out before.
      guard let first = counted[of] else { return nil }
      (entry.caller, entry.item, entry.detail, entry.purpose) = (first.caller, first.item, first.detail, first.purpose)
      (entry.subject, entry.id) = (first.subject, first.id)
      entry.caller?.pid = 0
      entry.repeats = AuditEntry.Repeats(of: nil, count: repeats.count)
      return entry
    }
  }
}
