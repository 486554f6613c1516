/// The rows of a small table with names as keys, read directly from its pages.
///
/// To find a name in such a table, SQLite reads whole rows, even a row that somebody made megabytes long. So a page
/// with such a row is kept from SQLite (`vault_guard_file`). Here each row is read by itself, and of a row that is too
/// long only the name is read.
struct NamedRows {
  /// A number of pages that no such table exceeds, so that nobody can make the reading take long.
  private static let mostPages = 64

  typealias Row = (name: String, record: Result<[UInt8], VaultError>)

  /// The rows that were read, in their order. A row whose name cannot be read has an empty name here.
  private(set) var rows: [Row] = []
  /// True when every page could be read, so that no other row exists.
  private(set) var isWhole = true

  /// Reads the tree whose root is the page of number `root`.
  init(_ tree: Schema.Tree, root: Int, _ file: FrozenPages) {
    var pages = PageMap(count: file.count)
    walk(root, tree, file, &pages)
  }

  private mutating func walk(_ number: Int, _ tree: Schema.Tree, _ file: FrozenPages, _ pages: inout PageMap) {
    do throws(VaultError) {
      guard pages.used < Self.mostPages else { throw .corrupt("\(tree.subject) has too many pages") }
      // Each page is accepted once, so that the walk cannot go in a circle.
      try pages.take(number)
      let page = try TreePage(file.page(number), ofTable: false)
      for index in 0..<page.count {
        if !page.isLeaf { walk(try page.child(index), tree, file, &pages) }
        rows.append(Self.row(try page.cell(index), page.page, tree, file))
      }
      if !page.isLeaf { walk(try page.child(page.count), tree, file, &pages) }
    } catch { isWhole = false }
  }

  private static func row(_ cell: Cell, _ page: Page, _ tree: Schema.Tree, _ file: FrozenPages) -> Row {
    var (record, name) = (StoredRecord(), "")
    do throws(VaultError) {
      try record.read(cell, page, tree.columns)
      name = String(decoding: try record.bytes(0), as: UTF8.self)
      return (name, .success(try content(cell, page, from: record.start(of: 1), file)))
    } catch { return (name, .failure(error)) }
  }

  /// The bytes of a row from the place `start` on.
  private static func content(
    _ cell: Cell, _ page: Page, from start: Int, _ file: FrozenPages
  ) throws(VaultError) -> [UInt8] {
    guard cell.size - start <= Database.longestRecord else { throw Statement.tooLong }
    var bytes = Array(page.bytes[cell.local])
    var next = cell.rest?.page
    while bytes.count < cell.size, let number = next {
      guard (1...file.count).contains(number) else { throw page.damaged("a row that continues nowhere") }
      let more = try file.page(number)
      bytes += more.bytes[4...].prefix(cell.size - bytes.count)
      next = more.number32(at: 0)
    }
    return Array(bytes.dropFirst(start))
  }
}

extension Database {
  /// The rows of a table with names as keys, read from its pages. They are read once and kept until the next commit.
  func namedRows(_ tree: Schema.Tree) throws(VaultError) -> NamedRows {
    if let known = rowsByPages[tree.name] { return known }
    let file = try frozenPages()
    defer { file.end() }
    while try file.readLog() {}
    let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(tree.name)'")
    let rows = NamedRows(tree, root: Int(root), file)
    rowsByPages[tree.name] = rows
    return rows
  }
}
