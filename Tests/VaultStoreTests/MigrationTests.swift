import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// A store of the first program, which had no hashes over its records.
@Suite struct MigrationTests {
  /// Turns a store into what the first program wrote.
  static func firstVersion() throws -> Fixture {
    let fixture = try IntegrityTests.filled()
    let mac: [UInt8]
    do {
      let keychain = try fixture.unlocked()
      let key = Subkey.integrity.derive(from: try keychain.unwrap(.always, under: .vault, fixture.vaultKey))
      mac = keychain.clock.mac(keychain.vault, hasHashes: false, key: key)
    }
    let hex = mac.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    try fixture.sql(
      "CREATE TABLE moved AS SELECT tag, item FROM tags", "DROP TABLE tags", "DROP TABLE hashes",
      "CREATE TABLE tags(tag BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY(tag, item)) STRICT, WITHOUT ROWID",
      "INSERT INTO tags SELECT * FROM moved", "DROP TABLE moved", "UPDATE clock SET mac = x'\(hex)'",
      "PRAGMA user_version = 1")
    return fixture
  }

  @Test("is brought up by opening it, and gets its hashes at the first unlock")
  func upgraded() throws {
    let fixture = try Self.firstVersion()
    do {
      let keychain = try fixture.open()
      try keychain.openAlways(bootKey: fixture.bootKey)
      #expect(try keychain.text("room 2/item 1") == "value 2.1")
      // Nothing vouches for the whole yet, and changes go on.
      try keychain.put("room 2/item 1", "renewed", update: true)
      try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
      #expect(!keychain.hasHashes)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(keychain.hasHashes)
      #expect(try keychain.verify().isOK)
      try keychain.put("new")
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().isOK)
    #expect(try keychain.names("").count == 13)
    #expect(try keychain.text("room 2/item 1") == "renewed")
  }

  @Test("taking the hashes away does not make a store look like one that never had them")
  func noWayBack() throws {
    let fixture = try IntegrityTests.filled()
    try fixture.sql("DELETE FROM hashes", "DELETE FROM heads WHERE id = 1")
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().findings.count >= 4)
    expectCorrupt { try keychain.put("new") }
  }

  @Test("with tags that lead nowhere, it is brought up and they are found")
  func damaged() throws {
    let fixture = try Self.firstVersion()
    try fixture.sql("DELETE FROM heads WHERE id = 1")
    let keychain = try fixture.unlocked()
    #expect(try keychain.names("").count == 11)
    #expect(Set(try keychain.verify().findings.compactMap(\.item)) == [1])
  }
}
