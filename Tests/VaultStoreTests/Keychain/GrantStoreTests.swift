import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("Grants in the store") struct GrantStoreTests {
  private static func grant(_ user: Int) throws -> GrantRecord {
    GrantRecord(
      .grant(
        Grant(
          subject: try Subject(parsing: "user:\(user)"), pattern: try ItemPattern("folder/*"), rights: Rights(.get),
          created: 1)))
  }

  /// Makes a closed vault with grants for the users 1 to `count`.
  private static func fixture(_ count: Int = 2) throws -> (Fixture, [GrantRecord]) {
    let fixture = try Fixture.withItems(3)
    let records = try (1...count).map { try grant($0) }
    let keychain = try fixture.unlocked()
    for record in records { try keychain.changeGrants(removing: [], adding: [record], now: 2000) }
    try keychain.close()
    return (fixture, records)
  }

  @Test("are there for each class whose key is, as they were stored") func stored() throws {
    let (fixture, records) = try Self.fixture()
    let keychain = try fixture.open()
    #expect(throws: VaultError.locked) { try keychain.grants(of: .always) }
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(try keychain.grants(of: .always) == records)
    #expect(throws: VaultError.locked) { try keychain.grants(of: .whenUnlocked) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    for accessible in AccessClass.allCases { #expect(try keychain.grants(of: accessible) == records) }
    #expect(try keychain.verify().isOK)
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { try keychain.grants(of: .whenUnlocked) }
    #expect(throws: VaultError.locked) { try keychain.changeGrants(removing: [], adding: records, now: 2000) }
    // A removal that is possible now is done now.
    #expect(try keychain.changeGrants(removing: [records[0].id], adding: [], now: 2001) == [.whenUnlocked])
    #expect(try keychain.grants(of: .afterFirstUnlock) == [records[1]])
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.grants(of: .whenUnlocked) == records && keychain.grants(of: .always) == [records[1]])
    #expect(try keychain.verify().isOK)
  }

  @Test("do not count when one was changed, taken away, put in or put back, and the check says so")
  func forged() throws {
    let edits = [
      "UPDATE grants SET sealed = CAST(sealed || x'00' AS BLOB) WHERE id = 1",
      "DELETE FROM grants WHERE class = 1 AND id < 4",
      "INSERT INTO grants(item, class, sealed) SELECT randomblob(16), class, sealed FROM grants WHERE id = 1",
      "UPDATE grants SET class = 3 WHERE id = 1",
    ]
    for edit in edits {
      let (fixture, _) = try Self.fixture()
      try fixture.sql(edit)
      let keychain = try fixture.unlocked()
      #expect(throws: VaultError.self, "\(edit)") { try keychain.grants(of: .whenUnlocked) }
      #expect(keychain.integrity == .failed)
      #expect(try !keychain.verify().isOK, "\(edit)")
    }
  }

  @Test("are checked a few in each step, as they are after changes that are made meanwhile") func check() throws {
    var (steps, isOver) = (0, false)
    while !isOver {
      let (fixture, records) = try Self.fixture(4)
      let keychain = try fixture.unlocked()
      keychain.beginVerification()
      for _ in 0..<steps where !isOver { isOver = try keychain.continueVerification(records: 4) != nil }
      try keychain.changeGrants(removing: [records[1].id], adding: [Self.grant(5), Self.grant(6)], now: 2001)
      var result = isOver ? try keychain.verify() : nil
      while result == nil { result = try keychain.continueVerification(records: 4) }
      #expect(result?.isOK == true, "after step \(steps): \(result?.findings ?? [])")
      steps += 1
    }
    #expect(steps > 4 * AccessClass.allCases.count / 4 + 4)
  }

  @Test("are each counted once by a check, also the one with the highest number, whichever step it ends")
  func highest() throws {
    let (fixture, records) = try Self.fixture(4)
    try fixture.sql("UPDATE grants SET id = \(Int64.max) WHERE id = (SELECT max(id) FROM grants)")
    let keychain = try fixture.unlocked()
    for step in 1...16 {
      keychain.beginVerification()
      var result: Verification?
      while result == nil { result = try keychain.continueVerification(records: step) }
      #expect(result?.isOK == true, "steps of \(step): \(result?.findings ?? [])")
    }
    try keychain.changeGrants(removing: [records[3].id], adding: [Self.grant(5)], now: 2001)
    #expect(try keychain.verify().isOK && keychain.grants(of: .always).count == 4)
  }

  @Test("that were removed do not count when their rows are put back") func replayed() throws {
    let (fixture, records) = try Self.fixture()
    let rows = try fixture.copied("grants", where: "id > 0")
    let keychain = try fixture.unlocked()
    try keychain.changeGrants(removing: Set(records.map(\.id)), adding: [], now: 2001)
    #expect(try keychain.grants(of: .whenUnlocked).isEmpty)
    try keychain.close()
    for row in rows { try fixture.sql(row) }
    let again = try fixture.unlocked()
    for accessible in AccessClass.allCases { #expect(throws: VaultError.self) { try again.grants(of: accessible) } }
  }

  @Test("do not count in the class in which alone one was changed or put back", arguments: AccessClass.allCases)
  func oneClass(accessible: AccessClass) throws {
    for isPutBack in [false, true] {
      let (fixture, records) = try Self.fixture()
      if isPutBack {
        let rows = try fixture.copied("grants", where: "class = \(accessible.rawValue)")
        let keychain = try fixture.unlocked()
        try keychain.changeGrants(removing: [records[0].id], adding: [], now: 2001)
        try keychain.close()
        try fixture.putBack(rows)
      } else {
        try fixture.sql(
          "UPDATE grants SET sealed = CAST(sealed || x'00' AS BLOB) WHERE class = \(accessible.rawValue)")
      }
      let keychain = try fixture.unlocked()
      for other in AccessClass.allCases where other != accessible {
        #expect(try keychain.grants(of: other) == (isPutBack ? [records[1]] : records), "\(other)")
      }
      #expect(throws: VaultError.self, "\(isPutBack)") { try keychain.grants(of: accessible) }
      #expect(keychain.integrity == .failed)
      #expect(try !keychain.verify().isOK, "\(isPutBack)")
    }
  }

  @Test("that somebody forges with the boot key alone are for always items alone") func weaker() throws {
    let (fixture, _) = try Self.fixture()
    // With that key, somebody can make only one class's record count: the other classes keep theirs.
    try fixture.sql("DELETE FROM grants WHERE class = 3", "DELETE FROM hashes WHERE class = 3")
    let keychain = try fixture.unlocked()
    #expect(try keychain.grants(of: .whenUnlocked).count == 2)
    #expect(throws: VaultError.self) { try keychain.grants(of: .always) }
  }

  @Test("come along with a rekey, also those that were given meanwhile") func rekey() throws {
    let (fixture, records) = try Self.fixture()
    let keychain = try fixture.unlocked()
    let rekey = try fixture.rekey(keychain)
    _ = try rekey.step(records: 1)
    let late = try Self.grant(3)
    try keychain.changeGrants(removing: [records[0].id], adding: [late], now: 2001)
    try rekey.complete()
    for accessible in AccessClass.allCases { #expect(try keychain.grants(of: accessible) == [records[1], late]) }
    #expect(try keychain.verify().isOK)
  }

  @Test("come along with a salvage, but for those of a class that is not as it was stored") func salvage() throws {
    let (fixture, records) = try Self.fixture()
    try fixture.sql("DELETE FROM grants WHERE class = 2 AND id < 4")
    let salvage = try Salvage(fixture.unlocked(), in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 100) {}
    #expect(try salvage.target.grants(of: .whenUnlocked) == records)
    #expect(try salvage.target.grants(of: .afterFirstUnlock).isEmpty)
    #expect(
      salvage.result.losses.contains { $0.text.contains("grants for items of class after-first-unlock are lost") })
    #expect(try salvage.target.verify().isOK)
  }

  @Test("wait to be confirmed in a vault that was restored, once, and not where there is none") func restored() throws {
    for count in [0, 1] {
      let (fixture, records) = count == 0 ? (try Fixture.withItems(1), []) : try Self.fixture(count)
      var source = try fixture.unlocked()
      var targets: [Fixture] = []
      for _ in 0..<2 {
        let bytes = try BackedUp.backup(source)
        let target = try Fixture(create: false)
        targets.append(target)
        _ = try BackedUp.restore(bytes, vaultKey: fixture.vaultKey, into: target)
        let keychain = try Keychain(opening: target.directory)
        try keychain.unlock(vaultKey: fixture.vaultKey)
        for accessible in AccessClass.allCases {
          let found = try keychain.grants(of: accessible)
          #expect(found.compactMap(\.grant) == records.compactMap(\.grant))
          let waiting = found.filter { if case .unconfirmed = $0.content { true } else { false } }
          #expect(waiting.count == count)
        }
        #expect(try keychain.verify().isOK)
        source = keychain
      }
    }
  }

  @Test("wait to be confirmed also where somebody took those out of the backup that the boot key opens") func robbed()
    throws
  {
    let (fixture, records) = try Self.fixture(1)
    do {
      let keychain = try fixture.open()
      try keychain.openAlways(bootKey: fixture.bootKey)
      try keychain.changeGrants(removing: Set(records.map(\.id)), adding: [], now: 2001)
      try keychain.close()
    }
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(try BackedUp.backup(fixture.unlocked()), vaultKey: fixture.vaultKey, into: target)
    let keychain = try Keychain(opening: target.directory)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    for accessible in AccessClass.allCases {
      let isWaiting = try keychain.grants(of: accessible).contains {
        if case .unconfirmed = $0.content { true } else { false }
      }
      #expect(isWaiting)
    }
  }

  @Test("are limited in their number, and nothing is stored beyond") func limit() throws {
    let (fixture, _) = try Self.fixture(1)
    let keychain = try fixture.unlocked()
    let many = try (0..<Keychain.mostGrantRecords).map { try Self.grant($0) }
    #expect(throws: VaultError.self) { try keychain.changeGrants(removing: [], adding: many, now: 2001) }
    #expect(try keychain.grants(of: .whenUnlocked).count == 1)
    #expect(throws: VaultError.invalidValue("a vault has at most 4095 grants")) {
      try keychain.changeGrants(removing: [], adding: Array(many.dropLast()), now: 2001)
    }
    try keychain.changeGrants(removing: [], adding: Array(many.dropLast(2)), now: 2001)
    #expect(try keychain.grants(of: .always).count == Keychain.mostGivenGrants)
    #expect(try keychain.verify().isOK)
    // The limit also holds if the reading pauses as often as possible.
    let walk = GrantWalk(keychain, AccessClass.allCases)
    while !walk.step(keychain, isTimeUp: { true }) {}
    for accessible in AccessClass.allCases {
      #expect(try keychain.grants(of: accessible, among: walk.found).count == Keychain.mostGivenGrants)
    }
    // A restore suspends them, which takes a record more.
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(try BackedUp.backup(keychain), vaultKey: fixture.vaultKey, into: target)
    let restored = try Keychain(opening: target.directory)
    try restored.unlock(vaultKey: fixture.vaultKey)
    #expect(try restored.grants(of: .whenUnlocked).count == Keychain.mostGrantRecords)
    #expect(try restored.verify().isOK)
  }

  @Test("wait to be confirmed at a time of their own, whatever time somebody forged for always items") func forgedTime()
    throws
  {
    let (fixture, _) = try Self.fixture(1)
    try fixture.forgeAlways { try $0.put("boot", "b", accessible: .always, now: .max / 2) }
    let source = try fixture.unlocked()
    let time = source.newestTime(of: .whenUnlocked, at: 0)
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(try BackedUp.backup(source), vaultKey: fixture.vaultKey, into: target)
    let keychain = try Keychain(opening: target.directory)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(keychain.newestTime == .max / 2 && time < 9000)
    for accessible in [AccessClass.whenUnlocked, .afterFirstUnlock] {
      #expect(keychain.newestTime(of: accessible, at: 0) == time)
    }
    let since = try keychain.grants(of: .whenUnlocked).compactMap { record -> Int64? in
      if case .unconfirmed(let since) = record.content { since } else { nil }
    }
    #expect(since == [time])
  }

  @Test("in a table with more rows than a vault has do not count, which is what all are told, and items are saved")
  func tooMany() throws {
    let (fixture, _) = try Self.fixture()
    try fixture.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Database.mostGrantRows))
      INSERT INTO grants(item, class, sealed) SELECT randomblob(16), 1, x'00' FROM n
      """)
    let keychain = try fixture.unlocked()
    for accessible in AccessClass.allCases {
      #expect(throws: Database.tooManyGrants) { try keychain.grants(of: accessible) }
    }
    #expect(keychain.integrity == .failed)
    let reason = "vault.db has more than 12288 rows of grants, and no vault has as many"
    let finding = "the table of grants cannot be read any further: \(reason)"
    #expect(try keychain.verify().findings.contains { $0.text == finding })
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 100) {}
    #expect(salvage.result.saved == 3)
    for accessible in AccessClass.allCases {
      let text = "the grants for items of class \(accessible.name) are lost: \(reason)"
      #expect(salvage.result.losses.contains { $0.text == text })
    }
    #expect(try salvage.target.verify().isOK)
  }
}
