import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Rows in the way of items of other classes, which somebody with the boot key inserts and counts in the class record
/// of `always`; and rows that no record counts.
@Suite("Rows that do not belong") struct ForeignRowTests {
  /// Inserts the name's tag of the item `safe` of `when-unlocked` a second time, leading to another item and counted to
  /// `always`.
  private static func putNameTag(_ fixture: Fixture, item: String) throws {
    try fixture.sql("INSERT INTO tags SELECT tag, \(item), 3 FROM tags WHERE item = 2 AND substr(tag, 1, 1) < x'80'")
  }

  /// Returns the findings of a check, which must fail.
  static func texts(_ fixture: Fixture) throws -> [String] { try texts(fixture.unlocked()) }

  static func texts(_ keychain: Keychain) throws -> [String] {
    let texts = try keychain.verify().findings.map(\.text)
    #expect(keychain.integrity == .failed)
    return texts
  }

  // MARK: Tags of a name

  @Test(
    "a name's tag that is counted to another class neither hides the item nor escapes a check",
    arguments: [
      ("4", "item 4, where"), ("12345", "item 12345, which"), ("-7", "item -7, which"), ("1", "item 1, where"),
    ])
  func strayTag(item: String, subject: String) throws {
    let fixture = try ForgeryTests.fixture()
    try Self.putNameTag(fixture, item: item)
    try fixture.forgeAlways { _ in }
    let texts = try Self.texts(fixture)
    #expect(texts.contains { $0.hasPrefix("a tag leads to \(subject)") }, "\(texts)")
    try ForgeryTests.expectFailed(fixture) { (keychain: Keychain) throws in
      #expect(keychain.integrity == .unchecked)
      #expect(try keychain.text("safe") == "gold")
      #expect(keychain.integrity == .failed)
      #expect(try keychain.text("safe", version: 1) == "gold")
      #expect(try keychain.item(named: name("safe")).policy.require == .password)
      #expect(try keychain.text("boot") == "b")
    }
  }

  @Test("the tag that a name had in a stronger class does not hide the item in its present one")
  func formerTag() throws {
    let fixture = try ForgeryTests.fixture()
    do { try fixture.unlocked().put("token", "t", accessible: .whenUnlocked, update: true) }
    let old = try fixture.copied("tags", where: "item = 3 AND substr(tag, 1, 1) < x'80'")
    do { try fixture.unlocked().put("token", "t", accessible: .afterFirstUnlock, update: true) }
    try fixture.putBack(old)
    try fixture.sql("UPDATE tags SET class = 3, item = 4 WHERE class = 1 AND item = 3")
    try fixture.forgeAlways { _ in }
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("token") == "t")
    #expect(keychain.integrity == .failed)
    #expect(try Self.texts(keychain).contains { $0.hasPrefix("a tag leads to item 4, where") })
  }

  @Test("a tag whose class alone is another is no answer that there is no such item", arguments: [2, 3, 4, 300, -1])
  func otherClass(number: Int) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("UPDATE tags SET class = \(number) WHERE item = 2")
    do {
      let keychain = try fixture.unlocked()
      expectCorrupt { _ = try keychain.text("safe") }
      #expect(keychain.integrity == .failed)
      expectCorrupt { _ = try keychain.item(named: name("safe")) }
      expectCorrupt { try keychain.put("safe", "tin") }
    }
    #expect(try Self.texts(fixture).contains { $0.contains("item 2") })
  }

  @Test("where the stronger item's tag leads to nothing, no item of a weaker class is served for it")
  func headless() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("DELETE FROM heads WHERE id = 2")
    try fixture.forgeAlways { try $0.put("safe", "tin", accessible: .always) }
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.text("safe") }
    #expect(keychain.integrity == .failed)
  }

  @Test("nor where it counts to the weaker class", arguments: [3, 2, 300])
  func exchanged(number: Int) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("UPDATE tags SET class = \(number) WHERE item = 2")
    try fixture.forgeAlways { try $0.put("safe", "tin", accessible: .always) }
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.text("safe") }
    #expect(keychain.integrity == .failed)
  }

  @Test("a tag that leads to no item of its class is no answer that there is none")
  func strayAlone() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("UPDATE OR REPLACE tags SET item = 4, class = 3 WHERE item = 2")
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.text("safe") }
  }

  @Test("two items of one class with one name are found, though all of both is counted")
  func sameName() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      "INSERT INTO heads SELECT 9, item, class, revision, policy, current, sealed, value FROM heads WHERE id = 4",
      "INSERT INTO tags SELECT tag, 9, class FROM tags WHERE item = 4")
    try fixture.forgeAlways { $0.claim(nextRow: 10, nextSlot: 3) }
    #expect(try Self.texts(fixture) == ["item 9 shares its name with another"])
  }

  @Test("a value that was refused because its item shares its name is refused each time")
  func refusedAgain() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      "INSERT INTO heads SELECT 9, item, class, revision, policy, current, sealed, value FROM heads WHERE id = 2",
      "INSERT INTO tags SELECT tag, 9, class FROM tags WHERE item = 2")
    let keychain = try fixture.unlocked()
    for _ in 0..<3 { expectCorrupt { _ = try keychain.text("safe") } }
  }

  @Test(
    "a tag that counts to the item's own class and leads to no item of it may be the right one: nothing is served",
    arguments: [-7, 3, 4, 77])
  func strayOfOwnClass(item: Int) throws {
    let fixture = try ForgeryTests.fixture()
    try Self.putNameTag(fixture, item: "\(item)")
    try fixture.sql("UPDATE tags SET class = 1 WHERE item = \(item) AND tag IN (SELECT tag FROM tags WHERE item = 2)")
    let keychain = try fixture.unlocked()
    for _ in 0..<2 {
      expectCorrupt { _ = try keychain.text("safe") }
      expectCorrupt { _ = try keychain.item(named: name("safe")) }
    }
  }

  @Test("a tag of always that leads elsewhere hides no item of the name", arguments: [1, 2, 3, 12345])
  func tagOfAlways(item: Int64) throws {
    let fixture = try ForgeryTests.fixture()
    try Self.put(.name(name("safe")), fixture, item: item)
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("safe") == "gold")
    #expect(keychain.integrity == .failed)
    #expect(try Self.texts(keychain).contains { $0.hasPrefix("a tag leads to item \(item), wh") })
  }

  // MARK: Large numbers of rows

  /// Inserts all tags of the item `safe` repeatedly.
  private static func putTags(_ fixture: Fixture, rows: ClosedRange<Int>) throws {
    try fixture.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT \(rows.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(rows.upperBound))
      INSERT INTO tags SELECT tag, i, 3 FROM tags, n WHERE item = 2
      """)
    try fixture.forgeAlways { _ in }
  }

  @Test("hundreds of stray tags before an item's own are passed over, and any number behind it")
  func many() throws {
    let fixture = try ForgeryTests.fixture()
    try Self.putTags(fixture, rows: -900...(-1))
    try Self.putTags(fixture, rows: 100...5000)
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("safe") == "gold")
    #expect(try keychain.item(named: name("safe")).name.text == "safe")
    let result = try keychain.verify()
    #expect(result.findings.count == Finding.limit && result.omitted > 0)
  }

  @Test("more of them than can be passed over are an error")
  func tooMany() throws {
    let fixture = try ForgeryTests.fixture()
    try Self.putTags(fixture, rows: -2000...(-1))
    try Self.putTags(fixture, rows: 100...2000)
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.text("safe") }
    expectCorrupt { _ = try keychain.names("kind=note") }
    #expect(try keychain.text("door") == "new")
  }

  // MARK: Other records

  @Test("tags that a removed item left behind are found, though they are counted")
  func left() throws {
    let fixture = try ForgeryTests.fixture()
    let old = try fixture.copied("tags", where: "item = 4")
    do { try fixture.unlocked().delete([name("boot")]) }
    try fixture.putBack(old)
    try fixture.forgeAlways { _ in }
    #expect(try Self.texts(fixture).contains("a tag leads to item 4, which has no head"))
  }

  @Test("a tag that was taken away is found, though the rest is counted")
  func missing() throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("DELETE FROM tags WHERE item = 4 AND substr(tag, 1, 1) < x'80'")
    try fixture.forgeAlways { _ in }
    #expect(try Self.texts(fixture).contains("the tag by which item 4 is found by its name is missing"))
  }

  @Test("a version that its item's head does not tell of is found, though it is counted", arguments: [1, 77])
  func version(number: Int) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("INSERT INTO vals VALUES(4, \(number), zeroblob(50))")
    try fixture.forgeAlways { _ in }
    let texts = try Self.texts(fixture)
    #expect(texts.contains("version \(number) of item 4 is not named by its head"), "\(texts)")
    #expect(texts.contains("the values and tags of class always are not those that its items have"), "\(texts)")
  }

  @Test("a version of an item of another class that its head does not tell of is found", arguments: [2, 3])
  func otherVersion(item: Int) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql("INSERT INTO vals VALUES(\(item), 77, zeroblob(50))")
    try fixture.forgeAlways { _ in }
    do {
      let keychain = try fixture.unlocked()
      #expect(try keychain.text("safe") == "gold")
      #expect(try keychain.text("token") == "t")
    }
    #expect(try Self.texts(fixture).contains("version 77 of item \(item) is not named by its head"))
  }

  @Test("changes of items of every class while a check is under way fail none of it", arguments: 1...4)
  func underWay(records: Int) throws {
    let fixture = try ForgeryTests.fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<12 {
      try keychain.put("home/\(index)", attributes: ["n": "1"], accessible: AccessClass.allCases[index % 3])
    }
    for index in 0..<12 { try keychain.put("home/\(index)", "second", update: true) }
    keychain.beginVerification()
    var (step, result) = (0, Verification?.none)
    while result == nil {
      result = try keychain.continueVerification(records: records)
      let index = step * 5 % 12
      switch step % 4 {
      case 0: try keychain.put("home/\(index)", "third", attributes: ["n": "\(step)"], update: true)
      case 1: try keychain.put("home/\(index)", accessible: AccessClass.allCases[step / 4 % 3], update: true)
      case 2: try keychain.put("new/\(step)", accessible: AccessClass.allCases[step / 4 % 3])
      default: try keychain.delete([name("new/\(step - 1)")])
      }
      step += 1
    }
    #expect(result?.findings == [] && keychain.integrity == .ok)
    #expect(try keychain.verify().isOK)
  }

  @Test(
    "rows that nothing counts are found, and told once however many there are",
    arguments: [("meta", "'name ' || i", "a fact about the vault"), ("hashes", "i", "a record of an unknown class")])
  func uncounted(table: String, key: String, subject: String) throws {
    let fixture = try ForgeryTests.fixture()
    try fixture.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO \(table) SELECT \(key), x'00' FROM n
      """)
    let findings = try fixture.unlocked().verify().findings
    #expect(findings.map(\.text) == ["\(subject) was put in by somebody else"])
    #expect(findings.map(\.kind) == [.foreign])
  }
}
