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
/// little more than a caller with a few.
final class GrantIndex {
  /// A grant that counts, and the time at which it was last used.
  final class Entry {
    let id: ItemID
    let grant: Grant
    var used: Int64?

    init(_ id: ItemID, _ grant: Grant) {
      (self.id, self.grant) = (id, grant)
      used = grant.used
    }
  }

  /// The seconds after a noted use within which another use is not noted.
  static let usePrecision: Int64 = 86_400
  private var folders: [String: [Entry]] = [:]
  private let noteUse: (ItemID, Int64) -> Void

  /// - Parameter noteUse: called with a grant that was used, and the time; once within ``usePrecision``.
  init(_ entries: [Entry], noteUse: @escaping (ItemID, Int64) -> Void) {
    self.noteUse = noteUse
    for entry in entries { folders[entry.grant.pattern.folder ?? "", default: []].append(entry) }
  }

  var isEmpty: Bool { folders.isEmpty }

  /// True when some grant counts at a time, in Unix seconds.
  func countsAny(at now: Int64) -> Bool {
    folders.values.contains { $0.contains { $0.grant.counts(at: now) } }
  }

  var entries: [Entry] { folders.values.flatMap { $0 } }

  /// The union of the rights that the grants give on a name.
  func rights(on name: ItemName, now: Int64) -> Rights {
    var rights: Rights = []
    if let entries = folders[""] { collect(entries, name, now, &rights) }
    guard folders.count > 1 || folders[""] == nil else { return rights }
    let text = name.text.utf8
    for slash in text.indices where text[slash] == UInt8(ascii: "/") {
      if let entries = folders[String(name.text[..<slash])] { collect(entries, name, now, &rights) }
    }
    return rights
  }

  private func collect(_ entries: [Entry], _ name: ItemName, _ now: Int64, _ rights: inout Rights) {
    for entry in entries where entry.grant.counts(at: now) && entry.grant.pattern.matches(name) {
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
    guard entry.used.map({ now - $0 >= Self.usePrecision }) ?? true else { return }
    entry.used = now
    noteUse(entry.id, now)
  }
}
