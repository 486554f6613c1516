import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Searches of a store with rows that do not belong.
extension ForeignRowTests {
  @Test(
    "tags of kinds, folders and attributes that are counted to another class keep no search from what there is",
    arguments: ["4", "77"])
  func search(item: String) throws {
    let fixture = try ForgeryTests.fixture()
    do { try fixture.unlocked().put("home/lamp", attributes: ["place": "hall"]) }
    try fixture.sql("INSERT OR IGNORE INTO tags SELECT DISTINCT tag, \(item), 3 FROM tags WHERE class = 1")
    try fixture.forgeAlways { _ in }
    let keychain = try fixture.unlocked()
    #expect(try keychain.names("kind=note") == ["door", "safe", "token", "boot", "home/lamp"])
    #expect(keychain.integrity == .failed)
    #expect(try keychain.names("place=front") == ["door"])
    #expect(try keychain.names("name~home/*") == ["home/lamp"])
    #expect(try Self.texts(keychain).contains { $0.hasPrefix("a tag leads to item \(item), ") })
  }

  /// Inserts a tag made with the key of `always`, and counts it.
  static func put(_ fact: Fact, _ fixture: Fixture, item: Int64) throws {
    let tag: VaultCore.Tag
    do {
      let keychain = try fixture.open()
      try keychain.openAlways(bootKey: fixture.bootKey)
      tag = try #require(keychain.tag(fact, .always))
    }
    let hex = tag.withBytes { [UInt8](copying: $0) }.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try fixture.sql("INSERT INTO tags VALUES(x'\(hex)', \(item), 3)")
    try fixture.forgeAlways { _ in }
  }

  @Test(
    "a tag of always that leads to no item of always, or to another one, keeps no search from what there is",
    arguments: [1, 2, 3, 4, 5, 12345])
  func searchOfAlways(item: Int64) throws {
    let fixture = try ForgeryTests.fixture()
    do { try fixture.unlocked().put("home/lamp", attributes: ["place": "hall"]) }
    try Self.put(.folder("home"), fixture, item: item)
    if item != 4 { try Self.put(.kind(.note), fixture, item: item) }
    let keychain = try fixture.unlocked()
    #expect(try keychain.names("name~home/*") == ["home/lamp"])
    #expect(keychain.integrity == .failed)
    #expect(try keychain.names("kind=note") == ["door", "safe", "token", "boot", "home/lamp"])
    #expect(try Self.texts(keychain).contains { $0.hasPrefix("a tag leads to item \(item), wh") })
  }

  @Test(
    "heads that do not open, which any but the strongest class counts, keep no search from what there is",
    arguments: ["zeroblob(16), 3", "zeroblob(16), 2", "zeroblob(16), 9", "x'', 3", "x'', 1"], [1, 3000])
  func heads(start: String, count: Int) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < \(count + 9))
      INSERT INTO heads SELECT i, \(start), 1, 1, 1, zeroblob(60), zeroblob(60) FROM n
      """,
      "UPDATE heads SET id = 100000 WHERE id = 1", "UPDATE tags SET item = 100000 WHERE item = 1")
    try Self.put(.kind(.note), fixture, item: 10)
    let keychain = try fixture.unlocked()
    #expect(try keychain.names("") == ["safe", "token", "boot", "door"])
    #expect(keychain.integrity == .failed)
    #expect(try keychain.names("kind=note") == ["safe", "token", "boot", "door"])
    #expect(try Self.texts(keychain).contains { $0.contains("the head of item 10 ") })
  }

  @Test("a head of the strongest class that does not open hides no other item, and the store has failed")
  func strongest() throws {
    let fixture = try ForgeryTests.fixture()
    let all = try fixture.unlocked().names("")
    try fixture.sql("UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 2")
    for query in ["", "kind=note"] {
      let keychain = try fixture.unlocked()
      #expect(try keychain.names(query) == all.enumerated().filter { $0.offset != 1 }.map(\.element))
      #expect(keychain.integrity == .failed)
    }
  }
}
