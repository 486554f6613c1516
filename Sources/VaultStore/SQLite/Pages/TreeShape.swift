import VaultCore

/// The check of one tree, page by page. It proves that the pages form a tree, and that a lookup of a row finds the same
/// row that a walk reaches.
///
/// Both hold when each page is used once, all leaves are equally deep, and the keys ascend from the first to the last,
/// including the keys in the pointers to children.
struct TreeShape {
  private struct Level {
    let page: TreePage
    /// The index of the next child.
    var next = 0
  }

  /// The depth that no tree of SQLite exceeds: BTCURSOR_MAX_DEPTH.
  private static let deepest = 20

  let tree: Schema.Tree
  private let root: Int
  private var isBegun = false
  /// The pages from the root to the next page.
  private var path: [Level] = []
  private var leafDepth: Int?
  private var last: RowKey?
  /// The unread parts of rows that are longer than a page: for each row, the number of the next overflow page and the
  /// number of overflow pages left.
  private var rests: [(page: Int, count: Int)] = []
  private var space = PageSpace()
  private var record = StoredRecord()
  private let marks: VersionMarks?
  /// The rows of the schema's table, which describe the other trees.
  private(set) var rows: [Schema.Row] = []
  /// The hash over the rows of the table of older values, or over the entries of its index.
  private(set) var versions = RecordSet()

  init(_ tree: Schema.Tree, root: Int, _ marks: VersionMarks? = nil) {
    self.tree = tree
    self.root = root
    self.marks = tree.table == Schema.vals ? marks : nil
  }

  /// True when the next page is an overflow page.
  var isAtLongRow: Bool { !rests.isEmpty }

  /// Continues by one page; false when none is left.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when a page is damaged. The pages below it are skipped, and the next step
  ///   continues after it.
  mutating func step(
    _ file: FrozenPages, _ pages: inout PageMap
  ) throws(VaultError) -> Bool {
    if let rest = rests.popLast() {
      try follow(rest, file, &pages)
    } else if !isBegun {
      isBegun = true
      try enter(root, file, &pages)
    } else {
      while let level = path.last, level.next > level.page.count { path.removeLast() }
      guard let level = path.last else { return false }
      path[path.count - 1].next += 1
      if level.next > 0 { try pass(level.page, level.next - 1) }
      try enter(level.page.child(level.next), file, &pages)
    }
    return true
  }

  private mutating func follow(
    _ rest: (page: Int, count: Int), _ file: FrozenPages, _ pages: inout PageMap
  ) throws(VaultError) {
    try pages.take(rest.page)
    let next = try file.firstNumber(ofPage: rest.page)
    guard rest.count > 1 else {
      guard next == 0 else { throw .corrupt("page \(rest.page) does not end its row") }
      return
    }
    rests.append((next, rest.count - 1))
  }

  private mutating func enter(
    _ number: Int, _ file: FrozenPages, _ pages: inout PageMap
  ) throws(VaultError) {
    try pages.take(number)
    let page = try TreePage(file.page(number), ofTable: tree.isTable)
    try page.checkSpace(&space)
    guard page.count > 0 || number == root && page.isLeaf else { throw page.page.damaged("no cell") }
    guard path.count < Self.deepest else { throw page.page.damaged("too many pages above it") }
    guard page.isLeaf else { return path.append(Level(page: page)) }
    guard path.count == leafDepth ?? path.count else { throw page.page.damaged("a different depth than other leaves") }
    leafDepth = path.count
    for index in 0..<page.count { try pass(page, index) }
  }

  /// Passes a cell, after checking that its key follows the keys of all cells before it. In a table, the key in a
  /// pointer to a child is a number that no row before it exceeds.
  private mutating func pass(_ page: TreePage, _ index: Int) throws(VaultError) {
    let cell = try page.cell(index)
    if tree.isTable, !page.isLeaf {
      let key = RowKey(numbers: (cell.row, 0))
      if let last, key.precedes(last) { throw page.page.damaged("rows out of order") }
      last = key
      return
    }
    try record.read(cell, page.page, tree.columns)
    let key = try tree.key(record, cell.row)
    if let last, !last.precedes(key) { throw page.page.damaged("rows out of order") }
    last = key
    // None of our numbers is negative. A walk over rows begins after the lowest possible number and would miss the row
    // of that number.
    guard key.numbers.0 >= 0, key.numbers.1 >= 0 else { throw page.page.damaged("a row below zero") }
    if let rest = cell.rest { rests.append(rest) }
    if tree.table == Schema.schema.table { rows.append(try Schema.Row(record)) }
    if let marks {
      let row = tree.isTable ? cell.row : try record.integer(2)
      marks.insert(item: try record.integer(0), version: try record.integer(1), row: row, into: &versions)
    }
  }
}
