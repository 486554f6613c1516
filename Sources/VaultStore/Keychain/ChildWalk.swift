import VaultCore
public import VaultModel

/// A walk over what stands directly in a folder: its items, and the folders within it, each of those once.
///
/// Once a folder within is known, its items are not opened any more: its tags lead to their rows, which are passed over.
/// So a walk over ten thousand items in a hundred folders opens a hundred of them. Where the tags are wrong, a walk may
/// miss a name, as a search by that folder would; the check of the store finds that.
public final class ChildWalk {
  /// The most names and folders that one walk is for.
  public static let most = 4096
  /// The most folders whose items are passed over; beyond these each item is opened.
  private static let mostBranches = 256
  /// The rows of a branch that are read at a time.
  private static let ahead = 256

  /// The rows of a folder within, read some way ahead.
  private struct Branch {
    let tags: ClassTags
    var rows: ArraySlice<Int64> = []
  }

  /// The text with which each name begins; up to its last slash it is the folder.
  let prefix: String
  /// The folder; nil at the top.
  public let folder: String?
  /// The row of the last item that was looked at.
  fileprivate(set) var place: Int64 = 0
  private var known: Set<ItemName> = []
  private var branches: [Branch] = []
  /// The branch that each row to come belongs to.
  private var next: [Int64: Int] = [:]

  /// - Parameter prefix: what the names begin with; text that no name begins with finds none.
  public init(prefix: String) {
    self.prefix = prefix
    folder = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(prefix[..<$0]) }
  }

  /// Begins with the first item again, for another area, and remembers what was told.
  public func restart() {
    (place, next) = (0, [:])
    branches = []
  }

  /// The name of a child that an item is, or is in: that of a folder ends in a slash. Nil when it does not begin with the
  /// prefix, or is a folder that was told already.
  fileprivate func child(of item: ItemName) -> (name: String, folder: ItemName?)? {
    let bytes = item.text.utf8
    guard bytes.starts(with: prefix.utf8) else { return nil }
    let rest = bytes.dropFirst(folder.map { $0.utf8.count + 1 } ?? 0)
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return (item.text, nil) }
    guard let folder = try? ItemName(String(item.text[..<slash])), known.insert(folder).inserted else { return nil }
    return (folder.text + "/", folder)
  }

  /// True when the item in that row is in a folder that is known.
  fileprivate func passes(_ row: Int64, _ rows: (ClassTags, Int64) -> [Int64]) -> Bool {
    place = row
    guard let index = next.removeValue(forKey: row) else { return false }
    advance(index, beyond: row, rows)
    return true
  }

  /// Has the items of a folder passed over from here on.
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
  /// The next names of a walk, which goes on until `isTimeUp` says so.
  ///
  /// - Parameters:
  ///   - area: where the walk looks.
  ///   - decide: called with items; a child that no allowed item is, or is in, is left out.
  ///   - isTimeUp: asked after each item.
  /// - Returns: the names, and whether there are more.
  /// - Throws: as ``find(_:limit:after:now:examining:if:isPassedOver:isTimeUp:)`` does.
  public func children(
    _ walk: ChildWalk, in area: SearchArea = .everything, now: Int64, if decide: (ItemInfo) -> Decision,
    isTimeUp: () -> Bool
  ) throws(VaultError) -> (names: [String], isOver: Bool) {
    var names: [String] = []
    let rows = { [database] (tags: ClassTags, row: Int64) -> [Int64] in
      // A walk that learns of no rows opens each item.
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
