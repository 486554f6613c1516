import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The grants of a vault that gets a new key") struct RekeyGrantTests {
  /// A change of two grants while a rekey is under way.
  enum Change: CaseIterable {
    case added, used, revoked
    /// One grant in place of the last one, whose row's number is given again.
    case exchanged
    /// A revocation of which the strongest class learns only at the next unlock.
    case revokedWhileLocked

    func make(_ keychain: Keychain, _ fixture: Fixture) throws {
      var records = try keychain.grants(of: .whenUnlocked)
      try #require(records.count == 2)
      switch self {
      case .added: try keychain.changeGrants(removing: [], adding: [RekeyPendingTests.grant(9)], now: 2001)
      case .used:
        guard case .grant(var grant) = records[0].content else { throw RawError(text: "no grant") }
        grant.used = 2001
        records[0].content = .grant(grant)
        try keychain.changeGrants(removing: [records[0].id], adding: [records[0]], now: 2001)
      case .revoked: try keychain.changeGrants(removing: [records[0].id], adding: [], now: 2001)
      case .exchanged:
        try keychain.changeGrants(removing: [records[1].id], adding: [RekeyPendingTests.grant(9)], now: 2001)
      case .revokedWhileLocked:
        keychain.lock(hidingNames: false)
        let closed = try keychain.changeGrants(removing: [records[0].id], adding: [], now: 2001)
        #expect(closed == [.whenUnlocked])
        try keychain.unlock(vaultKey: fixture.vaultKey)
        try keychain.changeGrants(removing: [records[0].id], adding: [], now: 2001)
      }
    }
  }

  /// Makes a vault with so many grants, each of which has a row in each class, and begins a rekey.
  private static func begun(_ count: Int = 2) throws -> (Fixture, Keychain, Rekey) {
    let fixture = try Fixture.withItems(2)
    let keychain = try fixture.unlocked()
    let records = try (0..<count).map { try RekeyPendingTests.grant($0) }
    try keychain.changeGrants(removing: [], adding: records, now: 2000)
    return (fixture, keychain, try fixture.rekey(keychain))
  }

  private static func isCopying(_ rekey: Rekey) -> Bool { if case .grants = rekey.stage { true } else { false } }

  /// Begins a rekey of six rows, and makes its steps up to the one that copies the first four.
  private static func copying() throws -> (Fixture, Keychain, Rekey) {
    let (fixture, keychain, rekey) = try begun()
    while !isCopying(rekey) { #expect(try !rekey.step(records: 4)) }
    // The first step finds no rows to remove.
    for _ in 0..<2 { #expect(try !rekey.step(records: 4)) }
    #expect(isCopying(rekey))
    return (fixture, keychain, rekey)
  }

  /// The grants of each class, in order.
  private static func all(_ keychain: Keychain) throws -> [[GrantRecord]] {
    try AccessClass.allCases.map { try keychain.grants(of: $0) }
  }

  /// Checks the vault after the rekey, and once more after it was opened again.
  private static func check(
    _ keychain: Keychain, _ fixture: Fixture, _ expected: [[GrantRecord]], _ note: String
  ) throws {
    #expect(try all(keychain) == expected, "\(note)")
    #expect(try keychain.verify().isOK, "\(note)")
    try keychain.close()
    let again = try fixture.open()
    try again.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(try all(again) == expected, "\(note), opened again")
    try again.close()
  }

  @Test("are copied a few in each step, in place of whatever an earlier attempt has left, which goes in steps, too")
  func steps() throws {
    let (fixture, keychain, rekey) = try Self.begun(200)
    let expected = try Self.all(keychain)
    func steps(of rekey: Rekey) throws -> Int {
      while !Self.isCopying(rekey) { #expect(try !rekey.step(records: 4)) }
      var steps = 0
      while Self.isCopying(rekey) {
        #expect(try !rekey.step(records: 4))
        steps += 1
      }
      return steps
    }
    // One step finds no rows to remove, and one no rows to copy.
    #expect(try steps(of: rekey) == 1 + 600 / 4 + 1)
    let files = try Fixture(copying: fixture)
    let again = try files.unlocked()
    let resumed = try files.resume(again)
    // 32 rows are removed in a step, because they are not sealed anew.
    #expect(try steps(of: resumed) == 19 + 1 + 600 / 4 + 1)
    try rekey.complete(records: 4)
    try resumed.complete(records: 4)
    try Self.check(keychain, fixture, expected, "at once")
    try Self.check(again, files, expected, "resumed")
  }

  @Test("are all copied before the end, which seals none of them again") func end() throws {
    let (fixture, keychain, rekey) = try Self.begun()
    let expected = try Self.all(keychain)
    while try !rekey.step(records: 4) {}
    #expect(try Self.all(rekey.target) == expected)
    let sets = try AccessClass.allCases.map { try rekey.target.grantSet(of: $0) }
    try rekey.finish()
    for (accessible, set) in zip(AccessClass.allCases, sets) {
      let stored = try keychain.grantSet(of: accessible)
      #expect(stored == set)
    }
    try Self.check(keychain, fixture, expected, "at the end")
  }

  @Test("are in the new vault as they were last, at whichever step they changed", arguments: Change.allCases)
  func everyStep(change: Change) throws {
    var (step, isAtEnd) = (0, false)
    while !isAtEnd {
      let (fixture, keychain, rekey) = try Self.begun()
      for _ in 0..<step where !isAtEnd { isAtEnd = try rekey.step(records: 4) }
      try change.make(keychain, fixture)
      let expected = try Self.all(keychain)
      try rekey.complete(records: 4)
      try Self.check(keychain, fixture, expected, "\(change) after step \(step)")
      step += 1
    }
    #expect(step > 8)
  }

  @Test("come through a crash between any two steps", arguments: Change.allCases) func everyCrash(change: Change) throws
  {
    let (fixture, keychain, rekey) = try Self.copying()
    try change.make(keychain, fixture)
    let expected = try Self.all(keychain)
    var (step, isAtEnd) = (0, false)
    while !isAtEnd {
      isAtEnd = try rekey.step(records: 4)
      step += 1
      let files = try Fixture(copying: fixture)
      let again = try files.unlocked()
      try files.resume(again).complete(records: 4)
      try Self.check(again, files, expected, "\(change), crash after step \(step)")
    }
    #expect(step > 4)
  }

  @Test("are copied again from the first one after an error") func again() throws {
    let (fixture, keychain, rekey) = try Self.copying()
    let expected = try Self.all(keychain)
    rekey.startOver()
    try Change.revoked.make(keychain, fixture)
    try rekey.complete(records: 4)
    try Self.check(keychain, fixture, expected.map { Array($0.dropFirst()) }, "again")
  }

  @Test("are not copied while the vault is locked, and copied on after the next unlock") func lock() throws {
    let (fixture, keychain, rekey) = try Self.copying()
    let expected = try Self.all(keychain)
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { _ = try rekey.step(records: 4) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try rekey.complete(records: 4)
    try Self.check(keychain, fixture, expected, "unlocked")
  }

  @Test(
    "end the rekey where somebody edits them while they are copied, and the store has failed",
    arguments: [
      "UPDATE grants SET sealed = zeroblob(length(sealed)) WHERE id = 6", "DELETE FROM grants WHERE id = 6",
      "UPDATE grants SET class = 1 WHERE id = 6", "UPDATE grants SET class = 9 WHERE id = 6",
      "INSERT INTO grants(item, class, sealed) SELECT item, class, sealed FROM grants WHERE id = 1",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Database.mostGrantRows / 16))
      INSERT INTO grants(item, class, sealed) SELECT randomblob(16), 9, x'00' FROM n
      """,
    ])
  func edited(sql: String) throws {
    let (fixture, keychain, rekey) = try Self.copying()
    // One statement takes only so many steps, so that many rows take several statements.
    for _ in 0..<(sql.hasPrefix("WITH") ? 16 : 1) { try keychain.database.connection.execute(sql) }
    expectCorrupt { try rekey.complete(records: 4) }
    #expect(keychain.hasFailed)
    withExtendedLifetime(fixture) {}
  }

  @Test("end the rekey where somebody puts one back that was revoked, and the store has failed") func putBack() throws {
    let (fixture, keychain, rekey) = try Self.copying()
    let row = try #require(try keychain.database.grant(5))
    try Change.revoked.make(keychain, fixture)
    _ = try keychain.database.insertGrant(row.id, row.accessible, row.sealed, row: row.row)
    expectCorrupt { try rekey.complete(records: 4) }
    #expect(keychain.hasFailed)
  }

  @Test(
    "end the rekey where somebody edits their copies, and the live store is whole",
    arguments: [
      "UPDATE grants SET sealed = zeroblob(length(sealed)) WHERE id = 6", "DELETE FROM grants WHERE id = 6",
      "INSERT INTO grants(item, class, sealed) SELECT item, class, sealed FROM grants WHERE id = 1",
    ])
  func editedCopies(sql: String) throws {
    let (fixture, keychain, rekey) = try Self.copying()
    while Self.isCopying(rekey) { #expect(try !rekey.step(records: 4)) }
    try rekey.target.database.connection.execute(sql)
    expect(\.isOfSecondStore) { try rekey.complete(records: 4) }
    #expect(!keychain.hasFailed)
    withExtendedLifetime(fixture) {}
  }
}
