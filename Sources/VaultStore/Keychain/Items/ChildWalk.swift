import VaultCore
public import VaultModel

/// A walk over the direct children of a folder: its items and its subfolders, each subfolder once.
///
/// After the walk has found a subfolder, it opens no more items in it: the tags of the subfolder lead to the rows of
/// these items, and the walk skips the rows. So a walk over ten thousand items in a hundred folders opens a hundred of
/// them. If the tags are wrong, a walk may miss a name, as a search in that folder would; the check of the store finds
/// such a fault.
public final class ChildWalk {
  /// The most names and folders that one walk is meant for.
  public static let most = 4096
  /// The most subfolders whose items are skipped. If there are more, each item in the others is opened.
  private static let mostBranches = 256
  /// The number of rows of a branch that are read at a time.
  private static let ahead = 256

  /// The rows of a subfolder, read some way ahead.
  private struct Branch {
    let tags: ClassTags
    var rows: ArraySlice<Int64> = []
  }

  /// The text with which each name must begin. The part up to its last slash is the folder.
  let prefix: String
  /// The folder; nil at the top of the vault.
  public let folder: String?
  /// The row of the last item that the walk reached.
  fileprivate(set) var place: Int64 = 0
  private var known: Set<ItemName> = []
  private var branches: [Branch] = []
  /// The branch that each of the next rows belongs to, by row.
  private var next: [Int64: Int] = [:]

  /// Begins a walk at the first item.
  ///
  /// - Parameter prefix: the text with which names must begin. If no name begins with it, the walk finds nothing.
  public init(prefix: String) {
    self.prefix = prefix
    folder = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(prefix[..<$0]) }
  }

  /// Restarts the walk at the first item, for another area, and remembers the folders that were reported already.
  public func restart() {
    (place, next) = (0, [:])
    branches = []
  }

  /// The name of the child that an item is, or lies in; the name of a folder ends in a slash. Nil when the name does
  /// not begin with the prefix, or the folder was reported already.
  fileprivate func child(of item: ItemName) -> (name: String, folder: ItemName?)? {
    let bytes = item.text.utf8
    guard bytes.starts(with: prefix.utf8) else { return nil }
    let rest = bytes.dropFirst(folder.map { $0.utf8.count + 1 } ?? 0)
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return (item.text, nil) }
    guard let folder = try? ItemName(String(item.text[..<slash])), known.insert(folder).inserted else { return nil }
    return (folder.text + "/", folder)
  }

  /// True when the item in that row lies in a folder that is known already.
  fileprivate func passes(_ row: Int64, _ rows: (ClassTags, Int64) -> [Int64]) -> Bool {
    place = row
    guard let index = next.removeValue(forKey: row) else { return false }
    advance(index, beyond: row, rows)
    return true
  }

  /// Skips the items of a folder from here on.
  fileprivate func branch(_ tags: ClassTags, _ rows: (ClassTags, Int64) -> [Int64]) {
    guard branches.count < Self.mostBranches else { return }
    branches.append(Branch(tags: tags))
    advance(branches.count - 1, beyond: place, rows)
  }

  private func advance(_ index: Int, beyond row: Int64, _ rows: (ClassTags, Int64) -> [Int64]) {
    if branches[index].rows.isEmpty { branches[index].rows = rows(branches[index].tags, row).prefix(Self.ahead) }
    if let first = branches[index].rows.popFirst() { next[first] = index }
  }

  fileprivate static var rowsAtATime: Int { ahead }
}

extension Keychain {
  /// The next names of a walk, which continues until `isTimeUp` returns true.
  ///
  /// - Parameters:
  ///   - area: the part of the vault in which the walk looks.
  ///   - decide: called with each item. A child is left out if no allowed item is that child or lies in it.
  ///   - isTimeUp: called after each item; true ends this call.
  /// - Returns: the names, and true when the walk is over.
  /// - Throws: as ``find(_:in:limit:after:now:examining:if:isPassedOver:isTimeUp:)`` does.
  public func children(
    _ walk: ChildWalk, in area: SearchArea = .everything, now: Int64, if decide: (ItemInfo) -> Decision,
    isTimeUp: () -> Bool
  ) throws(VaultError) -> (names: [String], isOver: Bool) {
    var names: [String] = []
    let rows = { [database] (tags: ClassTags, row: Int64) -> [Int64] in
      // Without these rows, the walk opens each item instead.
      (try? database.rows(tagged: tags, after: row, limit: ChildWalk.rowsAtATime)) ?? []
    }
    let (_, after) = try find(
      Query(within: walk.folder), in: area, limit: 1, after: walk.place, now: now, examining: .max
    ) { item in
      guard decide(item) == .allow, let (name, folder) = walk.child(of: item.name) else { return .refuse }
      names.append(name)
      if let folder, let tags = try? self.tags(.folder(folder.text)) { walk.branch(tags, rows) }
      return .refuse
    } isPassedOver: {
      walk.passes($0, rows)
    } isTimeUp: {
      isTimeUp()
    }
    return (names, after == nil)
  }
}
