import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Very long files of a store, which cost no disk space because they have holes.
@Suite("Files with holes") struct HoleTests {
  /// A length at which a walk over the whole file would not end.
  private static let length = 4 << 40
  private static let frame = 24 + 4096

  private static func fixture() throws -> Fixture {
    let fixture = try Fixture()
    do { try fixture.unlocked().put("door", "open") }
    return fixture
  }

  private static func lengthen(_ fixture: Fixture, _ name: String) throws {
    #expect(unsafe truncate(fixture.path(name), length) == 0)
  }

  @Test("a log that goes on with a hole is read as far as it has frames")
  func log() throws {
    let fixture = try Self.fixture()
    var forge = try PageForge(fixture)
    try forge.writeLog([2])
    try Self.lengthen(fixture, "vault.db-wal")
    #expect(try fixture.unlocked().text("door") == "open")
  }

  @Test("what a log has behind a hole is looked at")
  func behind() throws {
    let fixture = try Self.fixture()
    var forge = try PageForge(fixture)
    try forge.writeLog([2])
    let log = try #require(try fixture.files()["vault.db-wal"])
    let end = log.count - Self.frame
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path("vault.db-wal")))
    // The last page of a transaction is changed, and a frame stands far behind it.
    try file.seek(toOffset: UInt64(end + 100))
    try file.write(contentsOf: Data([log[end + 100] ^ 1]))
    try file.seek(toOffset: UInt64(log.count + Self.length / Self.frame * Self.frame))
    try file.write(contentsOf: log[end...])
    try file.close()
    expectCorrupt { _ = try fixture.open() }
  }

  @Test("a log of islands between holes is read") func islands() throws {
    let fixture = try Self.fixture()
    var forge = try PageForge(fixture)
    try forge.writeLog([2])
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path("vault.db-wal")))
    for island in 1...2000 {
      try file.seek(toOffset: UInt64(island) << 20)
      try file.write(contentsOf: [1])
    }
    try file.close()
    #expect(try fixture.unlocked().text("door") == "open")
  }

  @Test("a file of any number of pages takes memory for those alone that are used")
  func pages() throws {
    var pages = PageMap(count: 1 << 32)
    try pages.take(7)
    try pages.take(1 << 32)
    #expect(pages.usedBlocks == 2)
    #expect(pages.used == 2)
    expectCorrupt { try pages.take(7) }
    expectCorrupt { try pages.take((1 << 32) + 1) }
  }

  @Test("pages that are named all over such a file take no more than a bound")
  func spread() throws {
    var pages = PageMap(count: 1 << 32)
    for block in 0..<1 << 14 { try pages.take((block << 16) + 2) }
    expectCorrupt { try pages.take((1 << 30) + 2) }
    try pages.take(3)
  }
}
