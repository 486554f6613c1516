internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The grants of a locked vault that hides names. They are sealed in memory, grouped by one part of their subjects.
///
/// To know a caller's rights, only the records for that caller are opened. So a caller without a grant costs nothing,
/// and no name of an item is in memory in the clear.
struct HiddenGrants {
  /// A sealed record of one class, which stands for its copies in weaker classes, too, because a grant is stored in all
  /// classes.
  private struct Entry {
    let id: ItemID
    let sealed: SealedGrant
    let accessible: AccessClass
    var copies: [AccessClass] = []
  }

  /// The sets of the records that were stored last, in the classes that could be read. While they stay the same, so do
  /// the records.
  private let sets: [AccessClass: RecordSet]
  /// The classes that could be read, each with the reason why its grants do not count; nil if its records are those
  /// that were stored last.
  private var problems: [AccessClass: VaultError?] = [:]
  /// The records that concern every caller.
  private var common: [Entry] = []
  /// The other records, by the part of the subject by which ``GrantBook`` finds them.
  private var byPart: [Subject.Part: [Entry]] = [:]
  /// All parts that subjects of grants have.
  private(set) var named: Set<Subject.Part> = []

  /// Reads the records of all classes whose keys are in memory.
  ///
  /// - Parameter warn: called with each class whose records do not count, and the reason.
  init(_ keychain: Keychain, warn: (AccessClass, VaultError) -> Void) {
    sets = Self.sets(keychain)
    let read = keychain.readGrants(of: AccessClass.allCases, keepsSealed: true)
    var places: [GrantRecord: Int] = [:]
    var entries: [Entry] = []
    // From the strongest class to the weakest.
    for accessible in AccessClass.allCases {
      guard let read = read[accessible] else { continue }
      for (record, sealed) in zip(read.records, read.sealed) {
        if case .denied = record.content {
          // A denial decides who may ask, and nobody can be asked before the unlock.
        } else if let place = places[record] {
          entries[place].copies.append(accessible)
        } else {
          places[record] = entries.count
          entries.append(Entry(id: record.id, sealed: sealed, accessible: accessible))
        }
      }
      problems[accessible] = .some(nil)
      do throws(VaultError) { _ = try keychain.grants(of: accessible, among: [accessible: read]) } catch {
        warn(accessible, error)
        problems[accessible] = error
      }
    }
    for (record, place) in places {
      switch record.content {
      case .grant(let grant):
        byPart[GrantBook.key(grant.subject), default: []].append(entries[place])
        named.formUnion(grant.subject.parts)
      case .confined, .unconfirmed, .denied: common.append(entries[place])
      }
    }
  }

  private static func sets(_ keychain: Keychain) -> [AccessClass: RecordSet] {
    var sets: [AccessClass: RecordSet] = [:]
    for accessible in AccessClass.allCases where keychain.opensGrants(of: accessible) {
      sets[accessible] = try? keychain.grantSet(of: accessible)
    }
    return sets
  }

  /// True while the store has the same records, and the same classes can be read.
  func isCurrent(_ keychain: Keychain) -> Bool {
    // A disk that could not be read may be read later.
    !problems.values.contains { if case .storage? = $0 { true } else { false } }
      && problems.keys.allSatisfy(keychain.opensGrants)
      && AccessClass.allCases.count(where: keychain.opensGrants) == problems.count && sets == Self.sets(keychain)
  }

  /// Opens the records that concern a caller with these parts, each once. A class whose records cannot be opened is
  /// left out.
  func records(for parts: CallerParts, _ keychain: Keychain) -> [AccessClass: GrantBook.Loaded] {
    var records = problems.mapValues { _ in [GrantRecord]() }
    let entries = common + parts.keys.flatMap { byPart[$0] ?? [] }
    for (accessible, entries) in Dictionary(grouping: entries, by: \.accessible) {
      let opened = try? keychain.open(entries.map(\.sealed), of: accessible)
      let known = opened.map { Dictionary($0.map { ($0.id, $0) }) { first, _ in first } }
      for entry in entries {
        for one in [accessible] + entry.copies {
          if let known { known[entry.id].map { records[one]?.append($0) } } else { records[one] = nil }
        }
      }
    }
    return records.reduce(into: [:]) { loaded, read in
      loaded[read.key] = problems[read.key]?.map { .changed(read.value, because: $0) } ?? .stored(read.value)
    }
  }
}
