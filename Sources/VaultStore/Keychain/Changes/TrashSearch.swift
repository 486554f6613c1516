import VaultCore
public import VaultModel

/// A search for the most recently deleted item of one name, made in steps. Any number of items in the trash may have
/// had that name, and only an opened head tells when its item was deleted.
///
/// Between the steps, the keychain tells the search of each item of that name that goes into the trash. So nobody who
/// deletes such items meanwhile makes the search begin again. The search holds nothing in the clear.
public final class TrashSearch {
  /// The most items that one step opens.
  public static let mostItems = 256

  /// An item in the trash: its row, and when it was deleted.
  struct Deletion: Equatable {
    let row: Int64
    let trashed: Trashed
  }

  /// A deletion, with the tag that the item's name has in the trash.
  struct NamedDeletion {
    let tag: Tag
    let accessible: AccessClass
    let deletion: Deletion
  }

  /// The tags of the name, and the identity of the keys that made them; nil before the first step.
  private var basis: (tags: ClassTags, keys: KeyIdentity)?
  /// The row of the last item that was opened.
  fileprivate var place: Int64 = 0
  /// True at the end of the walk over the items of that name.
  fileprivate var isOver = false
  /// The last deletion so far; nil for none.
  fileprivate var last: Deletion?

  /// Describes a search that has not begun.
  public init() {}

  /// Makes the search begin again with its next step.
  fileprivate func restart() { (basis, place, isOver, last) = (nil, 0, false, nil) }

  /// Makes the search begin again if it was begun with other tags or keys; true if it begins again.
  fileprivate func begin(_ tags: ClassTags, _ keys: KeyIdentity) -> Bool {
    if let basis, basis.keys === keys, basis.tags == tags { return false }
    restart()
    basis = (tags, keys)
    return true
  }

  /// Takes note of an item in the trash. Earlier versions of the program did not number deletions: of two deletions
  /// without a number, the later one counts, and of two in the same second, the one in the higher row.
  fileprivate func meet(_ deletion: Deletion) {
    func order(_ deletion: Deletion) -> (Int64, Int64, Int64) {
      (deletion.trashed.number, deletion.trashed.time, deletion.row)
    }
    if let last, order(deletion) < order(last) { return }
    last = deletion
  }

  /// Takes note of a deletion, if the search is for the name of its item.
  fileprivate func meet(_ named: NamedDeletion) {
    if basis?.tags[named.accessible] == named.tag { meet(named.deletion) }
  }
}

/// The searches that are told of deletions.
struct TrashSearches {
  private struct Member {
    weak var search: TrashSearch?
  }

  private var members: [Member] = []

  fileprivate mutating func join(_ search: TrashSearch) {
    members.removeAll { $0.search == nil || $0.search === search }
    members.append(Member(search: search))
  }

  fileprivate var live: [TrashSearch] { members.compactMap(\.search) }
}

extension Keychain {
  /// Continues a search for the most recently deleted item of this name; true at its end, as long as that item stays in
  /// the trash.
  ///
  /// A step opens at most ``TrashSearch/mostItems`` items, and fewer if these have many attributes.
  /// - Parameter search: the search; the same one in each step, and always for the same name.
  /// - Throws: ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func searchTrash(_ name: ItemName, _ search: TrashSearch) throws(VaultError) -> Bool {
    try noticing { () throws(VaultError) in try step(name, search) }
  }

  /// The most recently deleted item of this name; nil for none. A search that is not at its end continues to the end.
  func findTrashed(
    _ name: ItemName, _ search: TrashSearch, marking: Bool = false
  ) throws(VaultError) -> FoundItem? {
    while try !step(name, search) {}
    guard let last = search.last else { return nil }
    return try trashed(name, last, marking: marking)
  }

  /// Notes an item that the open transaction puts into the trash, if there are searches.
  func note(_ item: ItemInfo, _ trashed: Trashed, _ columns: HeadColumns) {
    let accessible = columns.accessible
    guard !bound.trashSearches.live.isEmpty, let tag = tag(.trashedName(item.name), accessible) else { return }
    let deletion = TrashSearch.Deletion(row: columns.row, trashed: trashed)
    changes.deletions.append(TrashSearch.NamedDeletion(tag: tag, accessible: accessible, deletion: deletion))
  }

  /// Tells the searches of the items that a transaction has put into the trash.
  func tellSearches() {
    guard !changes.deletions.isEmpty else { return }
    for search in bound.trashSearches.live { changes.deletions.forEach(search.meet) }
  }

  private func step(_ name: ItemName, _ search: TrashSearch) throws(VaultError) -> Bool {
    // A class gets its tag even if it has no items yet, so that its first item does not make the search begin again.
    let fact = Fact.trashedName(name)
    let tags = ClassTags(
      whenUnlocked: tag(fact, .whenUnlocked), afterFirstUnlock: tag(fact, .afterFirstUnlock),
      always: tag(fact, .always))
    if search.begin(tags, bound.identity) { bound.trashSearches.join(search) }
    if !search.isOver { try walk(name, search) }
    guard search.isOver else { return false }
    guard let last = search.last, try trashed(name, last) == nil else { return true }
    search.restart()
    return false
  }

  private func walk(_ name: ItemName, _ search: TrashSearch) throws(VaultError) {
    var (left, bytes, isOver) = (TrashSearch.mostItems, 0, true)
    try eachTrashed(.trashedName(name), after: search.place, marking: false) { found in
      guard left > 0, bytes < Self.pageBytes else {
        isOver = false
        return false
      }
      let item = found.head.item
      (left, bytes) = (left - 1, bytes + Self.pageBytes(of: item))
      search.place = found.columns.row
      if let trashed = item.trashed { search.meet(TrashSearch.Deletion(row: found.columns.row, trashed: trashed)) }
      return true
    }
    search.isOver = isOver
  }

  /// The item of a deletion; nil if it has left the trash since.
  private func trashed(
    _ name: ItemName, _ deletion: TrashSearch.Deletion, marking: Bool = false
  ) throws(VaultError) -> FoundItem? {
    var item: FoundItem?
    try eachTrashed(.trashedName(name), after: deletion.row - 1, marking: marking) { found in
      if found.columns.row == deletion.row, found.head.item.trashed == deletion.trashed { item = found }
      return false
    }
    return item
  }
}
