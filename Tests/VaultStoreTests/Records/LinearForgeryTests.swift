import Testing
import VaultBytes
import VaultModel

@testable import VaultCore
@testable import VaultStore

/// Rows that somebody with the boot key chooses so that their marks under the key of `always` add up to those of the
/// rows that they replace; this is possible because an exclusive or is linear.
@Suite struct LinearForgeryTests {
  private struct TagRow {
    let tag: VaultCore.Tag
    let item: Int64

    var values: String {
      let hex = tag.withBytes { [UInt8](copying: $0) }.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      return "(x'\(hex)', \(item), 3)"
    }

    func mark(_ keychain: Keychain) throws -> RecordMark { try keychain.mark(tag, row: item, .always) }

    static func sum(_ rows: [TagRow], _ keychain: Keychain) throws -> RecordMark {
      try rows.reduce(RecordMark(words: (0, 0, 0, 0))) { $0 ^ (try $1.mark(keychain)) }
    }

    static func junk(_ item: Int64) throws -> TagRow {
      // The first bit marks a tag of something other than a name.
      let bytes = [0xff] + RandomBytes.array(count: VaultCore.Tag.count - 1)
      return TagRow(tag: try #require(unsafe VaultCore.Tag(bytes.span.bytes)), item: item)
    }
  }

  /// A vector over the field of two elements, and the choice of rows that gives it.
  private struct Choice {
    var words: [UInt64]
    var chosen: Set<Int> = []

    init(_ mark: RecordMark, _ chosen: Set<Int> = []) {
      words = [mark.words.0, mark.words.1, mark.words.2, mark.words.3]
      self.chosen = chosen
    }

    var leading: Int? {
      words.firstIndex { $0 != 0 }.map { $0 * 64 + words[$0].leadingZeroBitCount }
    }

    mutating func add(_ other: Choice) {
      for index in words.indices { words[index] ^= other.words[index] }
      chosen.formSymmetricDifference(other.chosen)
    }

    /// Adds vectors of a basis as long as one of them has the leading bit; returns the remaining leading bit.
    mutating func reduce(_ basis: [Int: Choice]) -> Int? {
      while let bit = leading {
        guard let other = basis[bit] else { return bit }
        add(other)
      }
      return nil
    }
  }

  /// Chooses one row of each pair, so that the marks of all chosen rows add up to `sum`.
  private static func choose(
    _ pairs: [(TagRow, TagRow)], _ sum: RecordMark, _ keychain: Keychain
  ) throws -> [TagRow] {
    var (basis, sum) = ([Int: Choice](), Choice(sum))
    for (index, pair) in pairs.enumerated() {
      let (first, second) = (try pair.0.mark(keychain), try pair.1.mark(keychain))
      sum.add(Choice(first))
      var vector = Choice(first ^ second, [index])
      if let bit = vector.reduce(basis) { basis[bit] = vector }
    }
    #expect(sum.reduce(basis) == nil)
    return pairs.enumerated().map { sum.chosen.contains($0.offset) ? $0.element.1 : $0.element.0 }
  }

  @Test("rows that were chosen to make up for those that are gone are found, and before that hide nothing")
  func chosen() throws {
    let fixture = try ForgeryTests.fixture()
    let stray: TagRow
    do {
      let keychain = try fixture.unlocked()
      for item in 0..<5 {
        let attributes = (0..<64).map { ("key-\($0)", "value \(item)") }
        try keychain.put("many/\(item)", attributes: Dictionary(uniqueKeysWithValues: attributes), accessible: .always)
      }
      stray = TagRow(tag: try #require(keychain.tag(.name(name("safe")), .whenUnlocked)), item: 1)
    }
    var (gone, put) = ([TagRow](), [stray])
    do {
      let keychain = try fixture.open()
      try keychain.openAlways(bootKey: fixture.bootKey)
      for item in 0..<5 {
        let found = try #require(try keychain.find(name("many/\(item)")))
        for (key, value) in found.head.item.attributes {
          gone.append(TagRow(tag: try #require(keychain.tag(.attribute(key, value), .always)), item: found.columns.row))
        }
      }
      #expect(gone.count == 320)
      let sum = try TagRow.sum(gone + put, keychain)
      let pairs = try (1..<gone.count).map { (try TagRow.junk(1000 + Int64($0)), try TagRow.junk(1000 + Int64($0))) }
      put += try Self.choose(pairs, sum, keychain)
      #expect(try TagRow.sum(gone + put, keychain) == RecordMark(words: (0, 0, 0, 0)))
    }
    let values = { (rows: [TagRow]) in rows.map(\.values).joined(separator: ", ") }
    try fixture.sql(
      "DELETE FROM tags WHERE (tag, item, class) IN (VALUES \(values(gone)))", "INSERT INTO tags VALUES \(values(put))")
    let result = try fixture.unlocked().verify()
    #expect(!result.isOK)
    #expect(
      result.findings.contains { $0.text == "the values and tags of class always are not those that its items have" })
    #expect(result.findings.contains { $0.text.hasPrefix("a tag leads to item ") })
    try ForgeryTests.expectFailed(fixture) { (keychain: Keychain) throws in
      #expect(try keychain.text("safe") == "gold")
    }
  }

  @Test("values of an item that was copied into another row do not make up for each other")
  func copied() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      "INSERT INTO heads SELECT 9, item, class, revision, policy, current, sealed, value FROM heads WHERE id = 4",
      "INSERT INTO tags SELECT tag, 9, class FROM tags WHERE item = 4",
      "UPDATE heads SET value = zeroblob(length(value)) WHERE id IN (4, 9)")
    try fixture.forgeAlways { $0.claim(nextRow: 10, nextSlot: 3) }
    let texts = try fixture.unlocked().verify().findings.map(\.text)
    #expect(texts.contains("the values and tags of class always are not those that its items have"), "\(texts)")
  }
}
