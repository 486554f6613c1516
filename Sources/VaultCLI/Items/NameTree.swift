internal import VaultModel

/// Item names as a tree of folders.
struct NameTree {
  /// One line of the tree.
  struct Row: Equatable {
    let text: String
    /// The index of the item in the list of names; nil for a folder.
    let item: Int?
  }

  /// The most nested folders that a name may have. Below that depth, the rest of a name is not split.
  private static let depth = 32
  private static let slash = UInt8(ascii: "/")

  private let names: [[UInt8]]
  private(set) var rows: [Row] = []

  /// - Parameter names: the names, sorted by their bytes, so that the names of a folder stand together.
  init(_ names: [String]) {
    self.names = names.map { Array($0.utf8) }
    add(names.indices, from: 0, lead: "", depth: 0)
  }

  /// Adds the content of one folder.
  ///
  /// - Parameter start: the number of bytes of the folder's name, with which each of the names begins.
  private mutating func add(_ range: Range<Int>, from start: Int, lead: String, depth: Int) {
    var rest = range
    while let first = rest.first {
      let name = names[first]
      let slash = depth < Self.depth - 1 ? name[start...].firstIndex(of: Self.slash) : nil
      let end = slash.map { $0 + 1 } ?? name.count
      let folder = name[start..<end]
      let next = slash == nil ? first + 1 : rest.first { !names[$0][start...].starts(with: folder) } ?? rest.upperBound
      rest = next..<rest.upperBound
      let isLast = rest.isEmpty
      let branch = depth == 0 ? "" : isLast ? "└── " : "├── "
      rows.append(
        Row(
          text: lead + branch + Printable.whole(String(decoding: folder, as: UTF8.self)),
          item: slash == nil ? first : nil))
      guard slash != nil else { continue }
      add(first..<next, from: end, lead: lead + (depth == 0 ? "" : isLast ? "    " : "│   "), depth: depth + 1)
    }
  }
}
