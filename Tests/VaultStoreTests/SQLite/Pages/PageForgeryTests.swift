import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Pages that serve two purposes at once, and malformed trees.
extension ShapeForgeryTests {
  @Test("a page, or a long row's pages, that two ways lead to", arguments: ["page", "row", "other table"])
  func shared(what: String) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("heads")
    let cells = forge.cells(root)
    let first = forge.leaf(Array(cells.prefix(3)))
    let last = forge.leaf(Array(cells.dropFirst(3)))
    switch what {
    case "page": forge.interior([(first, PageForge.varint(3)), (last, PageForge.varint(20))], last: last, on: root)
    case "row":
      var copy = cells[2]
      // The row's number stands behind the cell's length of three bytes.
      copy.bytes[3] = 98
      let copied = forge.leaf([copy])
      forge.interior([(first, PageForge.varint(3)), (last, PageForge.varint(97))], last: copied, on: root)
    default: forge.interior([(first, PageForge.varint(3))], last: try forge.root("slots"), on: root)
    }
    try forge.write()
    try expectFound(new, "is used twice")
  }

  @Test("free pages that are in use, or are listed twice, or fewer or more than are said", arguments: 0..<4)
  func freePages(variation: Int) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("heads")
    let trunk = forge.emptyPage()
    let start = PageForge.offset(trunk)
    let free = forge.emptyPage()
    let listed = [[root], [free, free], [free], [free]][variation]
    for (index, page) in listed.enumerated() { forge.put(page, at: start + 8 + 4 * index, bytes: 4) }
    forge.put(listed.count, at: start + 4, bytes: 4)
    forge.put(trunk, at: 32, bytes: 4)
    forge.put(listed.count + 1 + [0, 0, 1, -1][variation], at: 36, bytes: 4)
    try forge.write()
    try expectFound(new, "the list of free pages: ")
  }

  @Test("space that is said to be free and is not, so that a later change uncovers an older row", arguments: 0..<6)
  func space(variation: Int) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let page = try forge.root("meta")
    let start = PageForge.offset(page)
    let content = forge.number(at: start + 5, bytes: 2)
    switch variation {
    case 0:
      // A free block that overlaps a cell.
      forge.put(content, at: start + 1, bytes: 2)
    case 1: forge.put(content + 8, at: start + 5, bytes: 2)
    case 2: forge.put(content - 8, at: start + 5, bytes: 2)
    case 3: forge.data(start + 7, 1)
    case 4:
      // Two free blocks that link to each other.
      forge.put(content - 32, at: start + 5, bytes: 2)
      forge.put(content - 32, at: start + 1, bytes: 2)
      for (block, next) in [(content - 32, content - 16), (content - 16, content - 32)] {
        forge.put(next, at: start + block, bytes: 2)
        forge.put(16, at: start + block + 2, bytes: 2)
      }
    default: forge.put(3000, at: start + 3, bytes: 2)
    }
    try forge.write()
    let (fixture, text) = (new, "the table meta: page \(page) has ")
    guard variation != 5 else {
      // The vault's identity is read from this page before any check.
      if (try? fixture.unlocked()) != nil { try expectFound(fixture, text) }
      return
    }
    try expectFound(fixture, text)
  }

  @Test("a row that is cut short, or goes on behind its end", arguments: [true, false])
  func rests(isCut: Bool) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let cells = forge.cells(try forge.root("heads"))
    var page = cells[2].bytes.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    for _ in 0..<(isCut ? 5 : 1000) {
      let next = forge.number(at: PageForge.offset(page), bytes: 4)
      if next == 0 { break }
      page = next
    }
    forge.put(isCut ? 0 : forge.emptyPage(), at: PageForge.offset(page), bytes: 4)
    try forge.write()
    try expectFound(new, "the table heads: page ")
  }

  // MARK: Malformed trees

  @Test("a tree that is deeper than any, or not equally deep", arguments: [2, 30, 3000])
  func depth(levels: Int) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("heads")
    let cells = forge.cells(root)
    var last = forge.leaf(Array(cells.dropFirst(1)))
    for _ in 0..<levels - 1 { last = forge.interior([(last, PageForge.varint(50))], last: last) }
    forge.interior([(forge.leaf([cells[0]]), PageForge.varint(1))], last: last, on: root)
    try forge.write()
    try expectFound(new, "the table heads: page ")
  }

  @Test("a page for nothing, and a header that tells of another number of pages", arguments: [true, false])
  func leftOver(isPage: Bool) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    if isPage { _ = forge.emptyPage() }
    try forge.write()
    if isPage { return try expectFound(new, "the file: 1 pages are used by nothing") }
    forge.put(forge.data.count / PageForge.size - 1, at: 28, bytes: 4)
    try Data(forge.data).write(to: URL(fileURLWithPath: new.path("vault.db")))
    // A file longer than its header says is found when its pages are frozen, or by the header.
    try expectFound(new, "vault.db does not have the size that it should have")
  }

  @Test("each byte of the header that tells how pages are read", arguments: [20, 21, 22, 23, 55, 67])
  func header(offset: Int) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    forge.data(offset, forge.data[offset] ^ 1)
    try forge.write()
    do { _ = try new.unlocked() } catch let error as VaultError { return #expect(error.isCorrupt, "\(error)") }
    try expectFound(new, "the file: page 1 gives a different file format")
  }

  @Test("an entry for an index that the schema names besides keeps the vault closed")
  func schema() throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let page = forge.leaf(forge.cells(try forge.root("meta")), isTable: false)
    // SQLite would take the entry for the table itself whenever it looks the table up by its key.
    var cells = forge.cells(1)
    let text = Array("indexsqlite_autoindex_meta_1meta".utf8)
    let record = [6, 23, 59, 21, 1, 0] + text + [UInt8(page)]
    cells.append(PageForge.Cell(row: 9, bytes: [UInt8(record.count), 9] + record))
    forge.schema(cells)
    try forge.write()
    expectCorrupt { _ = try new.open() }
  }

  @Test("what is left of a change in the log is looked at like the rest")
  func log() throws {
    let (new, old) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("heads")
    let (cells, before) = (forge.cells(root), try PageForge(old).cells(try PageForge(old).root("heads")))
    let first = forge.leaf(cells.filter { $0.row <= 3 })
    let second = forge.leaf(before.filter { $0.row == 2 } + cells.filter { $0.row == 3 })
    let third = forge.leaf(cells.filter { $0.row > 3 })
    forge.interior([(first, PageForge.varint(1)), (second, PageForge.varint(3))], last: third, on: root)
    try forge.writeLog([root, first, second, third])
    #expect(try new.unlocked().text("bank") == "old 1")
    try forge.writeLog([root, first, second, third])
    try expectFound(new, "the table heads: page \(root) has rows out of order")
  }
}
