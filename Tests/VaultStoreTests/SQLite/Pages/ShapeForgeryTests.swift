import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Forgeries by somebody who has the disk and no key, and who lays out the store's pages so that a walk over a table
/// meets other rows than a lookup does. Each row was once written by this program. The check finds every such file,
/// whatever the size of its steps.
@Suite struct ShapeForgeryTests {
  /// The part of the item `bank`, number 2, that was changed.
  enum Past: CaseIterable { case value, policy }

  /// Makes items 1 to 12, each with an older version, of which item 3 is large; and the same store before the last
  /// change of `bank`.
  static func stores(_ past: Past = .value, large: Int = 300_000) throws -> (new: Fixture, old: Fixture) {
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

  /// Expects that the check finds the forgery, possibly among other findings, in small steps and in one.
  func expectFound(
    _ fixture: Fixture, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for records in [1, 16, 1 << 20] {
      let keychain = try fixture.unlocked()
      let result = try keychain.verify(inStepsOf: records, atMost: 100_000)
      let findings = try #require(result, sourceLocation: sourceLocation).findings
      #expect(
        findings.contains { $0.kind == .damaged && $0.text.contains(text) }, "\(findings.map(\.text))",
        sourceLocation: sourceLocation)
      #expect(keychain.integrity == .failed, sourceLocation: sourceLocation)
      expectCorrupt(sourceLocation: sourceLocation) { try keychain.put("more") }
    }
  }

  // MARK: Rows that a walk misses

  @Test(
    "a row with the lowest number there is",
    arguments: [
      "INSERT INTO heads VALUES(-9223372036854775808, randomblob(16), 1, 1, 1, 1, x'00', x'00')",
      "INSERT INTO vals VALUES(-9223372036854775808, -9223372036854775808, x'00')",
      "INSERT INTO tags VALUES(x'', -9223372036854775808, 1)",
    ])
  func lowest(row: String) throws {
    let (new, _) = try Self.stores()
    try new.sql(row)
    try expectFound(new, "has a row below zero")
  }

  @Test("an older head of an item that only a lookup finds", arguments: Past.allCases, [3, 300_000])
  func heads(past: Past, large: Int) throws {
    let (new, old) = try Self.stores(past, large: large)
    var forge = try PageForge(new)
    let other = try PageForge(old)
    let root = try forge.root("heads")
    let (cells, before) = (forge.cells(root), other.cells(try other.root("heads")))
    // A walk that continues behind row 3 never meets the old row 2, but a lookup of row 2 does.
    let first = forge.leaf(cells.filter { $0.row <= 3 })
    let second = forge.leaf(before.filter { $0.row == 2 } + cells.filter { $0.row == 3 })
    let third = forge.leaf(cells.filter { $0.row > 3 })
    forge.interior([(first, PageForge.varint(1)), (second, PageForge.varint(3))], last: third, on: root)
    try forge.write()
    do {
      // This is the aim of the attack.
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
    // A walk continues behind the first five entries, in the last page behind its fifth; a lookup finds the fourth
    // entry in that page.
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
      // The row's number is the last byte of an entry.
      let (one, other) = (cells[2].bytes.removeLast(), cells[3].bytes.removeLast())
      cells[2].bytes.append(other)
      cells[3].bytes.append(one)
    } else {
      cells.removeLast()
    }
    forge.leaf(cells, isTable: false, on: root)
    try forge.write()
    try expectFound(new, "the index of vals does not have the same rows as the table")
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
    try expectFound(new, "the index of vals does not have the same rows as the table")
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
}
