import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The deposits of a vault that gets a new key") struct RekeyDepositTests {
  /// A change of the deposits while a rekey is under way.
  enum Change: CaseIterable {
    case kept, dropped, accepted, waiting, takenIn

    func make(_ keychain: Keychain, _ fixture: Fixture) throws {
      switch self {
      case .kept: try DepositStepTests.keep(keychain)
      case .dropped: _ = try keychain.dropDeposit(2, now: 2001)
      case .accepted: _ = try keychain.acceptDeposit(3, by: "user:0", now: 2001)
      case .waiting, .takenIn:
        keychain.lock(hidingNames: false)
        try keychain.leave(LeftValue("left", "one", base: 0))
        try keychain.leave(LeftValue("left", "two", base: 0))
        try keychain.unlock(vaultKey: fixture.vaultKey)
        if self == .takenIn { #expect(try keychain.takeInAll(onePart: true) == [.stored(version: 1)]) }
      }
    }

    /// Checks the vault after the rekey.
    func check(_ keychain: Keychain, _ note: String) throws {
      var rest: [TakenDeposit.Result] = []
      var numbers: [Int64] = [1, 2, 3]
      switch self {
      case .kept: numbers = [1, 2, 3, 4]
      case .dropped: numbers = [1, 3]
      case .accepted:
        numbers = [1, 2]
        #expect(try keychain.read("kept/2").count == DepositStepTests.size, "\(note)")
      case .waiting: rest = [.stored(version: 1), .stored(version: 2)]
      case .takenIn: rest = [.stored(version: 2)]
      }
      #expect(try keychain.takeInAll() == rest, "\(note)")
      if !rest.isEmpty { #expect(try keychain.text("left") == "two", "\(note)") }
      let told = try keychain.toldDeposits(after: 0, limit: 9)
      #expect(told.map(\.number) == numbers && keychain.keptDepositCount == numbers.count, "\(note)")
      #expect(told.allSatisfy { $0.size == DepositStepTests.size && $0.obstacle == .denied }, "\(note)")
      #expect(try keychain.verify().isOK, "\(note)")
    }
  }

  /// Makes a vault with deposits of 64 KiB that were kept aside under the numbers from 1 on, each of which counts as
  /// five records in a rekey, and begins a rekey.
  private static func begun(_ count: Int = 3) throws -> (Fixture, Keychain, Rekey) {
    let fixture = try Fixture.withItems(2)
    let keychain = try fixture.unlocked()
    try DepositStepTests.keep(keychain, count)
    return (fixture, keychain, try fixture.rekey(keychain))
  }

  private static func isCopying(_ rekey: Rekey) -> Bool { if case .deposits = rekey.stage { true } else { false } }

  @Test("are copied one in each step, in place of whatever an earlier attempt has left, which goes in steps, too")
  func steps() throws {
    let (fixture, keychain, rekey) = try Self.begun(12)
    func steps(of rekey: Rekey) throws -> Int {
      while !Self.isCopying(rekey) { #expect(try !rekey.step(records: 4)) }
      var steps = 0
      while Self.isCopying(rekey) {
        // The folding of a long log has a step of its own.
        let wasLong = rekey.target.hasLongLog
        #expect(try !rekey.step(records: 4))
        if !wasLong || rekey.target.hasLongLog { steps += 1 }
      }
      return steps
    }
    // One step finds no rows to remove, and the last one no further rows to copy.
    #expect(try steps(of: rekey) == 1 + 12 + 1)
    let files = try Fixture(copying: fixture)
    let again = try files.unlocked()
    let resumed = try files.resume(again)
    // 32 records are two rows as they lie: these are read after the unlock, and the other ones removed. The step that
    // ends the reading begins the removal.
    #expect(try steps(of: resumed) == (6 + 1) + (6 + 1) - 1 + 12 + 1)
    for (rekey, keychain) in [(rekey, keychain), (resumed, again)] {
      try rekey.complete(records: 4)
      let table = keychain.bound.depositTable
      #expect(!keychain.isReadingDeposits && table?.isVerified == true)
      #expect(keychain.keptDepositCount == 12)
      let sizes = try keychain.toldDeposits(after: 0, limit: 99).map(\.size)
      #expect(sizes == [Int?](repeating: DepositStepTests.size, count: 12))
      #expect(try keychain.verify().isOK)
    }
  }

  @Test("are in the new vault as they were last, at whichever step they changed", arguments: Change.allCases)
  func everyStep(change: Change) throws {
    var (step, isAtEnd) = (0, false)
    while !isAtEnd {
      let (fixture, keychain, rekey) = try Self.begun()
      for _ in 0..<step where !isAtEnd { isAtEnd = try rekey.step(records: 4) }
      try change.make(keychain, fixture)
      try rekey.complete(records: 4)
      try change.check(keychain, "\(change) after step \(step)")
      try keychain.close()
      step += 1
    }
    #expect(step > 8)
  }

  @Test("come through a crash between any two steps", arguments: [Change.kept, .waiting, .takenIn])
  func everyCrash(change: Change) throws {
    let (fixture, keychain, rekey) = try Self.begun()
    try change.make(keychain, fixture)
    var (step, isAtEnd) = (0, false)
    while !isAtEnd {
      isAtEnd = try rekey.step(records: 4)
      step += 1
      let files = try Fixture(copying: fixture)
      let again = try files.unlocked()
      try files.resume(again).complete(records: 4)
      try change.check(again, "\(change), crash after step \(step)")
      try again.close()
    }
    #expect(step > 8)
  }

  @Test("are not copied while the vault is locked, and copied on after the next unlock") func lock() throws {
    let (fixture, keychain, rekey) = try Self.begun()
    while !Self.isCopying(rekey) { #expect(try !rekey.step(records: 4)) }
    for _ in 0..<2 { #expect(try !rekey.step(records: 4)) }
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { _ = try rekey.step(records: 4) }
    try keychain.leave(LeftValue("left", "two"))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try rekey.complete(records: 4)
    #expect(try keychain.takeInAll() == [.stored(version: 1)] && keychain.text("left") == "two")
    #expect(try keychain.keptAside() == [.denied, .denied, .denied] && keychain.verify().isOK)
  }

  @Test(
    "end the rekey where somebody edits them while they are copied, and the store has failed",
    arguments: [
      "UPDATE deposits SET sealed = zeroblob(length(sealed)) WHERE id = 3", "DELETE FROM deposits WHERE id = 3",
      "UPDATE deposits SET id = 0 WHERE id = 3", "UPDATE deposits SET id = 9223372036854775807 WHERE id = 3",
    ])
  func edited(sql: String) throws {
    let (fixture, keychain, rekey) = try Self.begun()
    while !Self.isCopying(rekey) { #expect(try !rekey.step(records: 4)) }
    // The second store is empty then, and the first deposit is copied.
    for _ in 0..<2 { #expect(try !rekey.step(records: 4)) }
    try keychain.database.connection.execute(sql)
    expectCorrupt { try rekey.complete(records: 4) }
    #expect(keychain.hasFailed)
    withExtendedLifetime(fixture) {}
  }
}
