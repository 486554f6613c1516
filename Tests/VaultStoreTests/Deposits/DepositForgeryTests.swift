import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

/// Edits of the table of deposits by somebody who has the disk, and with it the boot key.
@Suite("A deposit that somebody edited") struct DepositForgeryTests {
  /// Makes a locked and closed vault with deposits for two items.
  private static func fixture() throws -> Fixture {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("first", "one"))
    try keychain.leave(LeftValue("second", "two", accessible: .always, by: "user:991"))
    try keychain.close()
    return fixture
  }

  private static func obstacles(_ results: [TakenDeposit.Result]) -> [DepositObstacle?] {
    results.map { if case .kept(_, let obstacle) = $0 { obstacle } else { nil } }
  }

  @Test(
    "is kept aside, and the others are taken in",
    arguments: [
      "UPDATE deposits SET sealed = zeroblob(length(sealed)) WHERE id = 1",
      "UPDATE deposits SET sealed = CAST(sealed || x'00' AS BLOB) WHERE id = 1",
      "UPDATE deposits SET sealed = x'' WHERE id = 1",
      "UPDATE deposits SET depositor = zeroblob(16) WHERE id = 1",
      "UPDATE deposits SET depositor = x'' WHERE id = 1",
      "UPDATE deposits SET depositor = (SELECT depositor FROM deposits WHERE id = 2) WHERE id = 1",
      "UPDATE deposits SET class = 2 WHERE id = 1",
      "UPDATE deposits SET class = 3 WHERE id = 1",
      "UPDATE deposits SET class = 5 WHERE id = 1",
      "UPDATE deposits SET class = -1, item = x'', depositor = zeroblob(17) WHERE id = 1",
      "UPDATE deposits SET item = zeroblob(3000000) WHERE id = 1",
      "UPDATE deposits SET depositor = zeroblob(3000000) WHERE id = 1",
      "UPDATE deposits SET sealed = zeroblob(3000000) WHERE id = 1",
      "UPDATE deposits SET item = randomblob(16) WHERE id = 1",
      "UPDATE deposits SET item = (SELECT item FROM deposits WHERE id = 2) WHERE id = 1",
      """
      UPDATE deposits SET sealed = CAST(substr(sealed, 1, 32) ||
      (SELECT substr(sealed, 33) FROM deposits WHERE id = 2) AS BLOB) WHERE id = 1
      """,
      "UPDATE deposits SET sealed = (SELECT sealed FROM deposits WHERE id = 2) WHERE id = 1",
    ])
  func edited(sql: String) throws {
    let fixture = try Self.fixture()
    try fixture.sql(sql)
    let keychain = try fixture.unlocked()
    // A check may meet the row before the unlock has come to it.
    #expect(try keychain.verify().isOK)
    #expect(try Self.obstacles(keychain.takeInAll()) == [.forged, nil])
    #expect(throws: VaultError.noSuchItem) { try keychain.item(named: name("first")) }
    #expect(try keychain.text("second") == "two")
    #expect(try keychain.toldDeposits(after: 0, limit: 9).allSatisfy { $0.depositor == nil })
    #expect(try keychain.verify().isOK)
  }

  @Test("to be in the row of another one is kept aside, so that the last value for an item stays the last")
  func reordered() throws {
    let fixture = try Self.fixture()
    do {
      let keychain = try fixture.unlocked()
      keychain.lock(hidingNames: false)
      try keychain.leave(LeftValue("first", "newer"))
      try keychain.close()
    }
    try fixture.sql(
      "UPDATE deposits SET id = 9 WHERE id = 1", "UPDATE deposits SET id = 1 WHERE id = 3",
      "UPDATE deposits SET id = 3 WHERE id = 9")
    let keychain = try fixture.unlocked()
    #expect(try Self.obstacles(keychain.takeInAll()) == [.forged, nil, .forged])
    #expect(throws: VaultError.noSuchItem) { try keychain.item(named: name("first")) }
    #expect(try keychain.verify().isOK)
  }

  @Test("and put back after it was taken in, kept or settled is kept aside, and not taken in again") func replayed()
    throws
  {
    let fixture = try Self.fixture()
    let rows = try fixture.copied("deposits", where: "1")
    let keychain = try fixture.unlocked()
    #expect(
      try Self.obstacles(keychain.takeInAll { _, item, _ in item.name.text == "first" ? .denied : nil })
        == [.denied, nil])
    try keychain.close()
    // The old rows come back as new rows beside the others.
    for row in rows { try fixture.sql(Self.renumbered(row)) }
    let again = try fixture.unlocked()
    #expect(try Self.obstacles(again.takeInAll()) == [.forged, .forged])
    #expect(throws: VaultError.noSuchItem) { try again.item(named: name("first")) }
    #expect(try again.history(of: name("second")).count == 1)
    for told in try again.toldDeposits(after: 0, limit: 9) { _ = try again.dropDeposit(told.number, now: 2000) }
    try again.close()
    for row in rows { try fixture.sql(Self.renumbered(row)) }
    let last = try fixture.unlocked()
    #expect(try Self.obstacles(last.takeInAll()) == [.forged, .forged])
    #expect(try last.verify().isOK)
  }

  private static func renumbered(_ row: String) -> String {
    let values = row.split(separator: "(", maxSplits: 1)[1]
    return "INSERT INTO deposits VALUES((SELECT max(id) + 1 FROM deposits),\(values.drop { $0 != "," }.dropFirst())"
  }

  @Test("after what is remembered of it was taken away is not taken in, nor anything else, and the store has failed")
  func forgotten() throws {
    let fixture = try Self.fixture()
    let rows = try fixture.copied("deposits", where: "1")
    try fixture.unlocked().takeInEverything()
    try fixture.sql("DELETE FROM deposits")
    for row in rows { try fixture.sql(row) }
    let keychain = try fixture.unlocked()
    expectCorrupt { _ = try keychain.takeInAll() }
    #expect(keychain.integrity == .failed)
    #expect(try keychain.history(of: name("first")).count == 1)
  }

  @Test("while it is kept aside can be neither told nor settled") func swappedKept() throws {
    for sql in [
      "UPDATE deposits SET sealed = CAST(x'09' || substr(sealed, 2) AS BLOB)",
      "UPDATE deposits SET sealed = zeroblob(length(sealed))", "UPDATE deposits SET depositor = zeroblob(16)",
    ] {
      let fixture = try Self.fixture()
      let before = try fixture.unlocked()
      _ = try before.takeInAll { _, _, _ in .denied }
      try before.close()
      try fixture.sql(sql)
      for attempt in 0..<3 {
        let keychain = try fixture.unlocked()
        expectCorrupt {
          switch attempt {
          case 0: _ = try keychain.toldDeposits(after: 0, limit: 9)
          case 1: _ = try keychain.acceptDeposit(1, by: "user:0", now: 2000)
          default: _ = try keychain.dropDeposit(1, now: 2000)
          }
        }
        #expect(keychain.integrity == .failed, "\(sql)")
      }
    }
  }

  @Test("and is accepted all the same has the one who accepts it as its writer, since nothing tells who left it")
  func accepted() throws {
    for sql in [
      "UPDATE deposits SET depositor = zeroblob(16) WHERE id = 1",
      "UPDATE deposits SET depositor = (SELECT depositor FROM deposits WHERE id = 2) WHERE id = 1",
      "UPDATE deposits SET sealed = CAST(zeroblob(32) || substr(sealed, 33) AS BLOB) WHERE id = 1",
    ] {
      let fixture = try Self.fixture()
      try fixture.sql(sql)
      let keychain = try fixture.unlocked()
      // The other one is authentic, and kept aside for another reason.
      #expect(try Self.obstacles(keychain.takeInAll { _, _, _ in .denied }) == [.forged, .denied], "\(sql)")
      let told = try keychain.toldDeposits(after: 0, limit: 9)
      #expect(Set(told.map(\.depositor?.author)) == [nil, "user:991"], "\(sql)")
      for deposit in told {
        let (text, writer) = deposit.depositor == nil ? ("first", "user:0") : ("second", "user:991")
        let taken = try #require(try keychain.acceptDeposit(deposit.number, by: "user:0", now: 2100))
        #expect(taken.name.text == text)
        #expect(try keychain.item(named: name(text)).versions.map(\.writer) == [writer], "\(sql) \(text)")
      }
      #expect(try keychain.text("first") == "one" && keychain.text("second") == "two")
      #expect(try keychain.verify().isOK)
    }
  }

  @Test("to be as long as can be is kept aside, and what is longer together than anybody leaves waits on")
  func long() throws {
    let fixture = try Self.fixture()
    let longest = Database.longestDeposit
    let row =
      "INSERT INTO deposits(item, class, state, depositor, sealed) VALUES(randomblob(16), 1, 1, x'', "
      + "zeroblob(\(longest)))"
    try fixture.sql(row)
    let keychain = try fixture.unlocked()
    #expect(try Self.obstacles(keychain.takeInAll()) == [nil, nil, .forged])
    #expect(try keychain.toldDeposits(after: 0, limit: 9).count == 1 && keychain.verify().isOK)
    try keychain.close()
    let many = Keychain.mostDepositBytes / longest + 3
    for _ in 0..<many { try fixture.sql(row) }
    let again = try fixture.unlocked()
    #expect(try again.takeInAll().count == many - 3)
    #expect(try again.takeInAll().count == 3)
  }

  @Test("once it was kept aside or settled fails the check, however it is edited")
  func afterwards() throws {
    let edits = [
      "DELETE FROM deposits WHERE state = 3", "DELETE FROM deposits WHERE state = 2",
      "UPDATE deposits SET state = 1 WHERE state = 2", "UPDATE deposits SET state = 3 WHERE state = 2",
      "UPDATE deposits SET sealed = zeroblob(8) WHERE state = 3",
      "UPDATE deposits SET class = 3 WHERE state = 2", "UPDATE deposits SET id = 77 WHERE state = 2",
      "INSERT INTO deposits(item, class, state, depositor, sealed) VALUES(randomblob(16), 1, 3, x'', zeroblob(8))",
    ]
    for edit in edits {
      let fixture = try Self.fixture()
      let keychain = try fixture.unlocked()
      _ = try keychain.takeInAll { _, item, _ in item.name.text == "first" ? .denied : nil }
      #expect(try keychain.verify().isOK)
      try keychain.close()
      try fixture.sql(edit)
      let again = try fixture.unlocked()
      #expect(try !again.verify().isOK && again.integrity == .failed, "\(edit)")
    }
  }

  @Test("is made by whoever has the boot key for always items alone") func bootKey() throws {
    let fixture = try Self.fixture()
    do {
      // The key of `always`, with which an attacker makes rows for all classes.
      let cold = try fixture.open()
      try cold.openAlways(bootKey: fixture.bootKey)
      try cold.leave(LeftValue("weak", "forged", accessible: .always, by: "user:0"))
      // This deposit names an item of a stronger class.
      try cold.leave(LeftValue("folder/1", "forged", accessible: .always))
      try cold.leave(LeftValue("first", "forged", accessible: .always))
      try cold.close()
      for accessible in [AccessClass.whenUnlocked, .afterFirstUnlock] {
        let row = "SELECT item, \(accessible.rawValue), state, depositor, sealed FROM deposits WHERE id = 3"
        try fixture.sql("INSERT INTO deposits(item, class, state, depositor, sealed) \(row)")
      }
    }
    let keychain = try fixture.unlocked()
    let names = try keychain.names("")
    let strong = try #require(try names.first { try keychain.item(named: name($0)).policy.accessible == .whenUnlocked })
    #expect(try Self.obstacles(keychain.takeInAll()).suffix(2) == [.forged, .forged])
    #expect(try keychain.text("first") == "one" && keychain.text("weak") == "forged")
    #expect(try keychain.item(named: name(strong)).versions.allSatisfy { $0.writer != "user:990" })
    #expect(try keychain.keptAside().contains(.otherClass))
  }

  @Test("to be sealed to somebody else's key is not: a public key that was swapped is refused") func swapped() throws {
    let fixture = try Self.fixture()
    let attacker = SealedBox.secretKey()
    let hex = SealedBox.publicKey(of: attacker).hex
    try fixture.sql("DELETE FROM deposits", "UPDATE keys SET sealed = x'\(hex)' WHERE name = 'box'")
    let cold = try fixture.open()
    try cold.openAlways(bootKey: fixture.bootKey)
    expectCorrupt { try cold.leave(LeftValue("first", accessible: .always)) }
    #expect(cold.publicKey == nil)
    // While the daemon runs, the public key that it knows counts.
    let other = try Self.fixture()
    let keychain = try other.unlocked()
    keychain.lock(hidingNames: false)
    try keychain.database.connection.execute("UPDATE keys SET sealed = x'\(hex)' WHERE name = 'box'")
    try keychain.leave(LeftValue("third", "safe"))
    for outline in try keychain.database.depositOutlines() {
      let row = try #require(try keychain.database.deposit(outline.row))
      let sealed = Array(row.sealed.dropFirst(32))
      #expect(throws: CryptoError.self) { _ = try SealedBox.open(unsafe sealed.span.bytes, secretKey: attacker) }
    }
  }

  @Test("and taken away is noticed while the daemon runs") func removed() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    let number = try keychain.leave(LeftValue("first", "one"))
    try keychain.leave(LeftValue("second", "two"))
    try keychain.database.connection.execute("DELETE FROM deposits WHERE id = \(number)")
    try keychain.unlock(vaultKey: fixture.vaultKey)
    var waiting = WaitingDeposits()
    let missing = try keychain.takeInDeposits(
      &waiting, now: 2000, { _, _, _ in nil }, isTimeUp: { false }, told: { _ in })
    #expect(missing == [number] && waiting.isEmpty)
    #expect(try keychain.text("second") == "two")
  }

  @Test("to be no row of ours is kept aside where it waits, else found, and keeps no other one waiting")
  func foreign() throws {
    for (sql, isKept) in [
      ("INSERT INTO deposits(item, class, state, depositor, sealed) VALUES(x'00', 1, 1, x'', x'')", true),
      ("INSERT INTO deposits(item, class, state, depositor, sealed) VALUES(randomblob(16), 9, 1, x'', x'')", true),
      ("INSERT INTO deposits(item, class, state, depositor, sealed) VALUES(randomblob(16), 1, 9, x'', x'')", false),
      (
        "INSERT INTO deposits(item, class, state, depositor, sealed) VALUES(randomblob(16), 1, 1, zeroblob(17), x'')",
        true
      ),
      (
        """
        INSERT INTO deposits(item, class, state, depositor, sealed)
        VALUES(randomblob(16), 1, 1, x'', zeroblob(3000000))
        """,
        true
      ),
    ] {
      let fixture = try Self.fixture()
      try fixture.sql(sql)
      let keychain = try fixture.unlocked()
      #expect(try Self.obstacles(keychain.takeInAll()) == (isKept ? [nil, nil, .forged] : [nil, nil]), "\(sql)")
      #expect(try keychain.verify().isOK == isKept, "\(sql)")
      #expect(try keychain.names("").count == 5)
    }
  }
}

extension Keychain {
  /// Takes in all waiting deposits, and closes the store.
  fileprivate func takeInEverything() throws {
    _ = try takeInAll()
    try close()
  }
}
