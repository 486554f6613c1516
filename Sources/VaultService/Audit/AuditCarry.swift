internal import VaultModel

/// The choice of what stays of the oldest entries where the log is too long: who fills it loses first.
enum AuditCarry {
  private struct Group {
    let part: AuditPart
    var bytes: Int64 = 0
    var indices: [Int] = []
  }

  /// The entries to keep, in their order: changes of rights before values, and of each those of the subjects that have
  /// fewest. Searches and what was refused go.
  ///
  /// - Parameters:
  ///   - room: the bytes that they may take.
  ///   - since: the time of the oldest, Unix seconds.
  ///   - subject: the subject of an entry.
  static func kept(
    of found: [(number: Int64, entry: AuditEntry)], room: Int64, since oldest: Int64,
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
        let size = Int64(entries[index].charge)
        guard size <= room else { break }
        room -= size
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
      entry.subject = first.subject
      entry.caller?.pid = 0
      entry.repeats = AuditEntry.Repeats(of: nil, count: repeats.count)
      return entry
    }
  }
}
