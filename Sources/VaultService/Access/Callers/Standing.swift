internal import VaultCore
internal import VaultModel

/// The rights of one caller, or of several with the same grants, in this vault. They are valid for as long as the
/// grants stay the same.
final class Standing {
  /// The revision of the grants from which the standing was made.
  let revision: Int
  let isAdministrator: Bool
  /// True, in a user's vault, for a process of the user that is confined to its grants.
  let isConfined: Bool
  /// The caller's grants for items of each class; nil for a class whose grants nobody can read now.
  let grants: [AccessClass: GrantIndex?]
  /// The areas that were found last for a right, and the time from which and the time until which they stay the same,
  /// in Unix seconds.
  private var known: [Right: (areas: [SearchArea], from: Int64, until: Int64)] = [:]

  init(revision: Int, isAdministrator: Bool, isConfined: Bool, grants: [AccessClass: GrantIndex?]) {
    self.revision = revision
    self.isAdministrator = isAdministrator
    self.isConfined = isConfined
    self.grants = grants
  }

  /// True when there may be grants that nobody can read now.
  var isUndecided: Bool { !isAdministrator && grants.values.contains { $0 == nil } }

  /// True when grants name the caller, whether or not they have ended.
  var hasGrants: Bool { isAdministrator || grants.values.contains { $0?.isEmpty == false } }

  /// True when the caller has any right to anything now.
  func hasAny(now: @autoclosure () -> Int64) -> Bool {
    if isAdministrator { return true }
    let now = now()
    return grants.values.contains { $0?.countsAny(at: now) == true }
  }

  /// True when the caller has that right to anything.
  func has(_ right: Right, now: Int64) -> Bool {
    isAdministrator
      || grants.values.contains { index in
        index?.entries.contains { $0.grant.rights.contains(right) && $0.grant.counts(at: now) } == true
      }
  }

  /// Notes a use, now, of each grant that lets the caller watch.
  func noteWatch(now: Int64) {
    for index in grants.values { index?.noteUse(of: .watch, now: now) }
  }

  /// The areas in which the caller may have a right. They are looked up once, and again when one of their grants has
  /// ended.
  func areas(_ right: Right, now: Int64) -> [SearchArea] {
    if let known = known[right], known.from <= now, now < known.until { return known.areas }
    var (areas, ids, until): ([SearchArea], Set<ItemID>, Int64) = ([], [], .max)
    for index in grants.values {
      for entry in index?.entries ?? [] where entry.grant.rights.contains(right) && entry.grant.counts(at: now) {
        // A grant is in the index of each class.
        guard ids.insert(entry.id).inserted else { continue }
        areas.append(SearchArea(of: entry.grant.pattern))
        until = min(until, entry.grant.until ?? .max)
      }
    }
    let disjoint = SearchArea.disjoint(areas)
    known[right] = (disjoint, now, until)
    return disjoint
  }

  func permit(on name: ItemName, now: Int64) -> Permit {
    if isAdministrator { return .administrator }
    var permit = Permit(isUndecided: isUndecided)
    for (accessible, index) in grants { permit[accessible] = index?.rights(on: name, now: now) ?? [] }
    return permit
  }
}

/// The grants of one caller for the items of one class, by the folders of their patterns.
///
/// A pattern with a folder is compared only with names in that folder, so that a caller with a thousand grants costs
/// little more than a caller with a few. An index has only references to its grants, in one array, because a lock that
/// hides names frees the indexes of all callers before it is done.
final class GrantIndex {
  /// A grant that counts, for all callers whom it concerns, and the time at which it was last used.
  final class Entry {
    let id: ItemID
    let grant: Grant
    /// The folder of the grant's pattern; empty for a pattern without one.
    let folder: String
    var used: Int64?

    init(_ id: ItemID, _ grant: Grant) {
      (self.id, self.grant) = (id, grant)
      folder = grant.pattern.folder ?? ""
      used = grant.used
    }
  }

  /// The seconds after a noted use within which another use is not noted.
  static let usePrecision: Int64 = 86_400
  /// The grants, in the order of their folders.
  let entries: [Entry]
  private let noteUse: ((ItemID, Int64) -> Void)?

  /// - Parameter noteUse: called with a grant that was used, and the time; once within ``usePrecision``. Without it,
  ///   nothing counts as a use.
  init(_ entries: [Entry], noteUse: ((ItemID, Int64) -> Void)?) {
    self.noteUse = noteUse
    self.entries = entries.sorted { $0.folder < $1.folder }
  }

  var isEmpty: Bool { entries.isEmpty }

  /// True when some grant counts at a time, in Unix seconds.
  func countsAny(at now: Int64) -> Bool {
    entries.contains { $0.grant.counts(at: now) }
  }

  /// The union of the rights that the grants give on a name.
  func rights(on name: ItemName, now: Int64) -> Rights {
    var rights: Rights = []
    guard let last = entries.last else { return rights }
    collect("", name, now, &rights)
    guard !last.folder.isEmpty else { return rights }
    let text = name.text.utf8
    for slash in text.indices where text[slash] == UInt8(ascii: "/") {
      collect(String(name.text[..<slash]), name, now, &rights)
    }
    return rights
  }

  /// Adds the rights that the grants with this folder give on a name.
  private func collect(_ folder: String, _ name: ItemName, _ now: Int64, _ rights: inout Rights) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].folder < folder { low = middle + 1 } else { high = middle }
    }
    while low < entries.count, entries[low].folder == folder {
      let entry = entries[low]
      low += 1
      guard entry.grant.counts(at: now), entry.grant.pattern.matches(name) else { continue }
      rights.formUnion(entry.grant.rights)
      noteUse(of: entry, now)
    }
  }

  /// Notes a use, now, of every grant that counts and gives a right, regardless of which items exist.
  func noteUse(of right: Right, now: Int64) {
    for entry in entries where entry.grant.rights.contains(right) && entry.grant.counts(at: now) {
      noteUse(of: entry, now)
    }
  }

  private func noteUse(of entry: Entry, _ now: Int64) {
    guard let noteUse, entry.used.map({ Seconds.from($0, to: now) >= Self.usePrecision }) ?? true else { return }
    entry.used = now
    noteUse(entry.id, now)
  }
}
