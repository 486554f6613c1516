/// Names of items as the tree of their folders.
struct NameTree {
  /// A line of the tree.
  struct Row: Equatable {
    let text: String
    /// The place of the item in the list of names; nil for a folder.
    let item: Int?
  }

  /// The most folders within each other, which is as many as a name may have. What stands below them is one name.
  private static let depth = 32
  private static let slash = UInt8(ascii: "/")

  private let names: [[UInt8]]
  private(set) var rows: [Row] = []

  /// - Parameter names: in the order of their bytes, which leaves the names of a folder together.
  init(_ names: [String]) {
    self.names = names.map { Array($0.utf8) }
    add(names.indices, from: 0, lead: "", depth: 0)
  }

  /// Adds what stands in one folder.
  ///
  /// - Parameter start: the number of bytes of the folder's name in each of the names.
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
      rows.append(Row(text: lead + branch + String(decoding: folder, as: UTF8.self), item: slash == nil ? first : nil))
      guard slash != nil else { continue }
      add(first..<next, from: end, lead: lead + (depth == 0 ? "" : isLast ? "    " : "│   "), depth: depth + 1)
    }
  }
}
