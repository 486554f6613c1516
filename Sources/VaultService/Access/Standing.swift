internal import VaultCore
internal import VaultModel

/// What one caller is to the vault, for as long as the grants stay what they are.
final class Standing {
  /// The state of the grants that it was made from.
  let revision: Int
  let isAdministrator: Bool
  /// True in a user's vault for one of the user's processes that has its grants alone.
  let isConfined: Bool
  /// The caller's grants for items of each class; nil for a class whose grants nobody can read now.
  let grants: [AccessClass: GrantIndex?]
  /// The areas that were found last for a right, and the time from and until which they are the same, Unix seconds.
  private var known: [Right: (areas: [SearchArea], from: Int64, until: Int64)] = [:]
  /// The subject as which the caller asks for what it has no grant for, once that was looked up.
  var subject: Subject??

  init(revision: Int, isAdministrator: Bool, isConfined: Bool, grants: [AccessClass: GrantIndex?]) {
    self.revision = revision
    self.isAdministrator = isAdministrator
    self.isConfined = isConfined
    self.grants = grants
  }

  /// True when there may be grants that nobody can read now.
  var isUndecided: Bool { !isAdministrator && grants.values.contains { $0 == nil } }

  /// True when the caller has any right to anything.
  var hasAny: Bool { isAdministrator || grants.values.contains { $0?.isEmpty == false } }

  /// True when the caller has that right to anything.
  func has(_ right: Right, now: Int64) -> Bool {
    isAdministrator
      || grants.values.contains { index in
        index?.entries.contains { $0.grant.rights.contains(right) && $0.grant.counts(at: now) } == true
      }
  }

  /// Takes note that the caller makes use, for as long as it watches, of each grant that lets it.
  func noteWatch(now: Int64) {
    for index in grants.values { index?.noteUse(of: .watch, now: now) }
  }

  /// The areas in which the caller may have a right. They are looked up once, and again when a grant among them has ended.
  func areas(_ right: Right, now: Int64) -> [SearchArea] {
    if let known = known[right], known.from <= now, now < known.until { return known.areas }
    var (areas, ids, until): ([SearchArea], Set<ItemID>, Int64) = ([], [], .max)
    for index in grants.values {
      for entry in index?.entries ?? [] where entry.grant.rights.contains(right) && entry.grant.counts(at: now) {
        // The same grant is there for items of each class.
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

/// The grants of one caller for the items of one class, by where those can be.
///
/// A pattern with a folder is looked at for names in that folder alone, so that a caller with a thousand grants costs little more than
/// one with a few.
final class GrantIndex {
  /// A grant that counts, and when it was last seen to be used.
  final class Entry {
    let id: ItemID
    let grant: Grant
    var used: Int64?

    init(_ id: ItemID, _ grant: Grant) {
      (self.id, self.grant) = (id, grant)
      used = grant.used
    }
  }

  /// Seconds within which another use is not noted.
  static let usePrecision: Int64 = 86_400
  private var folders: [String: [Entry]] = [:]
  private let noteUse: (ItemID, Int64) -> Void

  /// - Parameter noteUse: called with a grant that was needed, and when; once within ``usePrecision``.
  init(_ entries: [Entry], noteUse: @escaping (ItemID, Int64) -> Void) {
    self.noteUse = noteUse
    for entry in entries { folders[entry.grant.pattern.folder ?? "", default: []].append(entry) }
  }

  var isEmpty: Bool { folders.isEmpty }

  var entries: [Entry] { folders.values.flatMap { $0 } }

  /// The rights that the grants for a name give together.
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

  /// Takes note that all grants of a right that count were needed now, whichever items there are.
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
