import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Somebody has the disk and no key, and lays the pages of the store so that a walk over a table meets other rows than whoever
/// looks one up: each row is one that this program wrote once. The check finds every such file, in whichever steps it goes.
@Suite struct ShapeForgeryTests {
  /// What the item `bank`, number 2, was before it was changed.
  enum Past: CaseIterable { case value, policy }

  /// Items 1 to 12, each with an older version, of which item 3 is large; and the same store as it was before `bank` was
  /// changed to what it is now.
  private static func stores(_ past: Past = .value, large: Int = 300_000) throws -> (new: Fixture, old: Fixture) {
    let new = try Fixture()
    let old: Fixture
    do {
      let keychain = try new.unlocked()
      for (index, text) in (["a", "bank", "large"] + (4...12).map { "item \($0)" }).enumerated() {
        let value = index == 2 ? String(repeating: "x", count: large) : "old \(index)"
        try keychain.put(text, "first", attributes: ["place": "\(index)"])
        try keychain.put(text, value, update: true)
      }
      try keychain.addSlot(new.slot(2, "second"), vaultKey: new.vaultKey)
      try keychain.addSlot(new.slot(3, "third"), vaultKey: new.vaultKey)
    }
    old = try Fixture(copying: new)
    let keychain = try new.unlocked()
    switch past {
    case .value: try keychain.put("bank", "new", update: true)
    case .policy: try keychain.set(ItemChange(name: name("bank"), require: .password, update: true), now: 3000)
    }
    return (new, old)
  }

  /// Holds that the check finds the file, whatever else it finds, in small steps and in one.
  private func expectFound(
    _ fixture: Fixture, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for records in [1, 16, 1 << 20] {
      let keychain = try fixture.unlocked()
      keychain.beginVerification()
      var result: Verification?
      for _ in 0..<100_000 where result == nil { result = try keychain.continueVerification(records: records) }
      let findings = try #require(result, sourceLocation: sourceLocation).findings
      #expect(
        findings.contains { $0.kind == .damaged && $0.text.contains(text) }, "\(findings.map(\.text))",
        sourceLocation: sourceLocation)
      #expect(keychain.integrity == .failed, sourceLocation: sourceLocation)
      expectCorrupt(sourceLocation: sourceLocation) { try keychain.put("more") }
    }
  }

  // MARK: Rows that a walk does not meet

  @Test("an older head of an item that only a lookup finds", arguments: Past.allCases, [3, 300_000])
  func heads(past: Past, large: Int) throws {
    let (new, old) = try Self.stores(past, large: large)
    var forge = try PageForge(new)
    let other = try PageForge(old)
    let root = try forge.root("heads")
    let (cells, before) = (forge.cells(root), other.cells(try other.root("heads")))
    // A walk that goes on behind row 3 never meets the old row 2, which is where row 2 is looked up.
    let first = forge.leaf(cells.filter { $0.row <= 3 })
    let second = forge.leaf(before.filter { $0.row == 2 } + cells.filter { $0.row == 3 })
    let third = forge.leaf(cells.filter { $0.row > 3 })
    forge.interior([(first, PageForge.varint(1)), (second, PageForge.varint(3))], last: third, on: root)
    try forge.write()
    do {
      // That is what the attack is for.
      let keychain = try new.unlocked()
      if past == .value { #expect(try keychain.text("bank") == "old 1") }
      #expect(try keychain.item(named: name("bank")).policy.require == .none)
    }
    try expectFound(new, "the table heads: page \(root) has rows out of order")
  }

  @Test("rows that only a walk meets, because the way to them says so")
  func unreachable() throws {
    for table in ["heads", "vals"] {
      let (new, _) = try Self.stores()
      var forge = try PageForge(new)
      let root = try forge.root(table)
      let cells = forge.cells(root)
      let (first, last) = (forge.leaf(Array(cells.prefix(3))), forge.leaf(Array(cells.dropFirst(3))))
      forge.interior([(first, PageForge.varint(1))], last: last, on: root)
      try forge.write()
      try expectFound(new, "the table \(table): page \(root) has rows out of order")
    }
  }

  @Test("a row before the way that leads to it")
  func tooEarly() throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("heads")
    let cells = forge.cells(root)
    let (first, last) = (forge.leaf(Array(cells.prefix(3))), forge.leaf(Array(cells.dropFirst(3))))
    forge.interior([(first, PageForge.varint(4))], last: last, on: root)
    try forge.write()
    try expectFound(new, "the table heads: page \(last) has rows out of order")
  }

  @Test(
    "an entry of tags, or of older values, that only a lookup finds", arguments: ["tags", "sqlite_autoindex_vals_1"])
  func entries(tree: String) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root(tree)
    let cells = forge.cells(root)
    // Behind the first five a walk goes on in the last page behind its fifth; its fourth is what is looked up.
    let first = forge.leaf(Array(cells.prefix(5)), isTable: false)
    let last = forge.leaf(Array(cells.dropFirst(3)), isTable: false)
    forge.interior([(first, cells[2].bytes)], last: last, isTable: false, on: root)
    try forge.write()
    let subject = tree == "tags" ? "the table tags" : "the index of vals"
    try expectFound(new, "\(subject): page \(root) has rows out of order")
  }

  @Test("an index that leads to other rows than the table has", arguments: [true, false])
  func otherRows(exchanged: Bool) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("sqlite_autoindex_vals_1")
    var cells = forge.cells(root)
    if exchanged {
      // The number of the row is the last byte of an entry.
      let (one, other) = (cells[2].bytes.removeLast(), cells[3].bytes.removeLast())
      cells[2].bytes.append(other)
      cells[3].bytes.append(one)
    } else {
      cells.removeLast()
    }
    forge.leaf(cells, isTable: false, on: root)
    try forge.write()
    try expectFound(new, "the index of vals has other rows than the table")
  }

  @Test("an older value that no index leads to")
  func hiddenValue() throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("vals")
    var cells = forge.cells(root)
    cells.append(PageForge.Cell(row: 99, bytes: [cells[0].bytes[0], 99] + cells[0].bytes.dropFirst(2)))
    forge.leaf(cells, on: root)
    try forge.write()
    try expectFound(new, "the index of vals has other rows than the table")
  }

  @Test("a slot that a walk meets and a lookup does not is not removed, and is found")
  func slots() throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root("slots")
    let cells = forge.cells(root)
    let (first, last) = (forge.leaf(Array(cells.prefix(2))), forge.leaf(Array(cells.dropFirst(2))))
    forge.interior([(first, PageForge.varint(1))], last: last, on: root)
    try forge.write()
    do {
      let keychain = try new.unlocked()
      #expect(keychain.slots.map(\.id) == [1, 2, 3])
      expectCorrupt { try keychain.removeSlot(id: 2, vaultKey: new.vaultKey) }
      #expect(keychain.slots.map(\.id) == [1, 2, 3] && keychain.integrity == .failed)
    }
    try expectFound(new, "the table slots: page \(root) has rows out of order")
  }

  @Test("a wrapped key, a fact or a class record that is there twice", arguments: ["keys", "meta", "hashes"])
  func twice(tree: String) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let root = try forge.root(tree)
    let (cells, isTable) = (forge.cells(root), tree == "hashes")
    forge.leaf([cells[0]] + cells, isTable: isTable, on: root)
    try forge.write()
    try expectFound(new, "the table \(tree): page \(root) has rows out of order")
  }

  // MARK: Pages that are two things

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
      // The row's number comes behind its length, of three bytes.
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
      // A free block on a cell.
      forge.put(content, at: start + 1, bytes: 2)
    case 1: forge.put(content + 8, at: start + 5, bytes: 2)
    case 2: forge.put(content - 8, at: start + 5, bytes: 2)
    case 3: forge.data(start + 7, 1)
    case 4:
      // Two free blocks that lead to each other.
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
      // The vault's identity is read from it before any check.
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

  // MARK: Trees that are none

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
    if isPage { return try expectFound(new, "the file: 1 pages are for nothing") }
    forge.put(forge.data.count / PageForge.size - 1, at: 28, bytes: 4)
    try Data(forge.data).write(to: URL(fileURLWithPath: new.path("vault.db")))
    // A file that is longer than it says is found when it is frozen, or by the header.
    try expectFound(new, "vault.db has another size than it should have")
  }

  @Test("each byte of the header that tells how pages are read", arguments: [20, 21, 22, 23, 55, 67])
  func header(offset: Int) throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    forge.data(offset, forge.data[offset] ^ 1)
    try forge.write()
    do { _ = try new.unlocked() } catch let error as VaultError { return #expect(error.isCorrupt, "\(error)") }
    try expectFound(new, "the file: page 1 tells of another file format")
  }

  @Test("an entry for an index that the schema names besides keeps the vault closed")
  func schema() throws {
    let (new, _) = try Self.stores()
    var forge = try PageForge(new)
    let page = forge.leaf(forge.cells(try forge.root("meta")), isTable: false)
    // SQLite would take it for the table itself, wherever that is looked up by its key.
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
