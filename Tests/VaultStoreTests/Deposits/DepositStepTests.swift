import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// A vault with deposits of 64 KiB that were kept aside, each of which counts as 17 records in a walk. A step of 17
/// records ends after one of them, and the next step shows whether it was the last one.
@Suite("Deposits that were kept aside, a few in each step") struct DepositStepTests {
  static let size = 64 << 10
  private static let records = 17

  /// Keeps deposits aside under the next numbers, and returns these.
  @discardableResult
  static func keep(_ keychain: Keychain, _ count: Int = 1) throws -> [Int64] {
    try (0..<count).map { index in
      let left = LeftValue("kept/\(index)", String(repeating: "x", count: size))
      guard case .kept(let number, .denied) = try keychain.takeIn(left, now: 2000, { _, _, _ in .denied }) else {
        throw RawError(text: "not kept aside")
      }
      return number
    }
  }

  private static func kept(_ count: Int) throws -> (Fixture, Keychain) {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    #expect(try keep(keychain, count) == (0..<count).map { Int64($0) + 1 })
    return (fixture, keychain)
  }

  /// Returns the number of steps up to the one that says it was the last.
  private static func count(_ step: () throws -> Bool) rethrows -> Int {
    var count = 1
    while try !step() { count += 1 }
    return count
  }

  /// Locks and unlocks, and reads the first deposits of 12, one in each step.
  private static func reading(_ keychain: Keychain, _ fixture: Fixture, steps: Int = 5) throws {
    keychain.lock(hidingNames: false)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    for _ in 0..<steps { try #require(try !keychain.checkDeposits(records: records)) }
    #expect(keychain.isReadingDeposits)
  }

  private static func remove(_ numbers: [Int64], _ keychain: Keychain) throws {
    try keychain.transaction { () throws(VaultError) in
      for number in numbers { if let row = try keychain.database.deposit(number) { try keychain.remove(row) } }
    }
  }

  // MARK: After an unlock

  @Test("are read after an unlock by their bytes, small ones by their number, and not again until the next one")
  func unlock() throws {
    let (fixture, keychain) = try Self.kept(12)
    for (records, steps) in [(Self.records, 13), (2 * Self.records, 7), (1 << 20, 1)] {
      try Self.reading(keychain, fixture, steps: 0)
      #expect(try Self.count { try keychain.checkDeposits(records: records) } == steps)
      #expect(!keychain.isReadingDeposits && keychain.keptDepositCount == 12)
      #expect(try keychain.checkDeposits(records: 1))
    }
    try Self.remove(Array(1...12), keychain)
    try keychain.transaction { () throws(VaultError) in
      for _ in 0..<300 { try keychain.remember(.random(), of: keychain.seenTag(of: "user:990").bytes) }
    }
    try Self.reading(keychain, fixture, steps: 0)
    #expect(try Self.count { try keychain.checkDeposits(records: 128) } == 3)
  }

  @Test("are read one step at a time where the time is always up") func timeUp() throws {
    let (fixture, keychain) = try Self.kept(12)
    try Self.reading(keychain, fixture, steps: 0)
    // 128 records are eight of these deposits.
    #expect(try Self.count { try keychain.readDeposits(isTimeUp: { true }) } == 2)
  }

  @Test("are neither lost nor counted twice where others come and go while they are read") func meanwhile() throws {
    let (fixture, keychain) = try Self.kept(12)
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("early", "early"))
    try Self.reading(keychain, fixture)
    // One row that was read, and two that were not.
    try Self.remove([1, 9, 12], keychain)
    #expect(try keychain.leave(LeftValue("late", "late")) == 14)
    // Five rows that were kept aside, one in each step, and two waiting ones in the last step.
    #expect(try Self.count { try keychain.checkDeposits(records: Self.records) } == 6)
    let table = try keychain.knownDeposits()
    #expect(table.kept == 9 && table.waiting.count == 2 && table.all.count == 11)
    #expect(try keychain.takeInAll() == [.stored(version: 1), .stored(version: 1)])
    #expect(try keychain.text("early") == "early" && keychain.text("late") == "late")
    #expect(try keychain.verify().isOK)
  }

  @Test("are read anew after a lock amid them, and what is left then is taken in") func lock() throws {
    let (fixture, keychain) = try Self.kept(12)
    try Self.reading(keychain, fixture)
    keychain.lock(hidingNames: false)
    #expect(!keychain.isReadingDeposits)
    #expect(throws: VaultError.locked) { _ = try keychain.readDeposits(isTimeUp: { true }) }
    try keychain.leave(LeftValue("left", "waits"))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try Self.count { try keychain.checkDeposits(records: Self.records) } == 13)
    #expect(try keychain.takeInAll() == [.stored(version: 1)] && keychain.keptDepositCount == 12)
  }

  @Test("are read on after a change that failed, be it of them or of something else") func failed() throws {
    let (fixture, keychain) = try Self.kept(12)
    try keychain.put("there")
    keychain.lock(hidingNames: false)
    let large = LeftValue("large", String(repeating: "x", count: 1 << 20), by: "user:992")
    for _ in 0..<7 { try keychain.leave(large) }
    try Self.reading(keychain, fixture)
    #expect(throws: VaultError.alreadyExists) { try keychain.put("there") }
    expect(\.isInvalidValue) { try keychain.leave(large) }
    #expect(try Self.count { try keychain.checkDeposits(records: Self.records) } == 13 - 5)
    // The deposit for which there was no room took no number.
    #expect(try keychain.leave(LeftValue("next")) == 12 + 7 + 1)
    try Self.reading(keychain, fixture)
    #expect(throws: VaultError.noSuchItem) {
      try keychain.transaction { () throws(VaultError) -> Void in
        // A row that was read, and one that was not.
        for number: Int64 in [1, 12] {
          if let row = try keychain.database.deposit(number) { try keychain.remove(row) }
        }
        _ = try keychain.renumber(DepositUndoTests.row(2, keychain), as: DepositUndoTests.row(2, keychain))
        throw .noSuchItem
      }
    }
    #expect(try Self.count { try keychain.checkDeposits(records: Self.records) } == 13 - 5)
    let table = try keychain.knownDeposits()
    #expect(table.kept == 12 && table.waiting.count == 8)
    #expect(try DepositUndoTests.Known(table, keychain) == DepositUndoTests.readAgain(keychain))
  }

  @Test(
    "that somebody edited are found in steps, and nothing is taken in after that",
    arguments: [
      "UPDATE deposits SET sealed = zeroblob(length(sealed)) WHERE id = 7", "DELETE FROM deposits WHERE id = 1",
      "UPDATE deposits SET id = 0 WHERE id = 12", "UPDATE deposits SET id = 9223372036854775807 WHERE id = 1",
    ])
  func edited(sql: String) throws {
    let (fixture, keychain) = try Self.kept(12)
    try keychain.close()
    try fixture.sql(sql)
    let again = try fixture.unlocked()
    var steps = 0
    expectCorrupt { while try !again.readDeposits(isTimeUp: { true }) { steps += 1 } }
    #expect(steps == 1 && again.integrity == .failed)
    #expect(throws: Keychain.failed) { _ = try again.takeIn(LeftValue("new"), now: 2000) }
    try again.close()
    let checked = try fixture.unlocked()
    #expect(try !checked.verify().isOK)
  }

  // MARK: Before an unlock

  @Test("are counted from the opening on, each as one record, and a deposit that comes amid them reads the rest")
  func cold() throws {
    let (fixture, keychain) = try Self.kept(12)
    try keychain.close()
    let cold = try fixture.open()
    try cold.openAlways(bootKey: fixture.bootKey)
    #expect(try !cold.outlineDeposits(records: 5) && !cold.outlineDeposits(records: 5))
    #expect(cold.keptDepositCount == 10 && !cold.isReadingDeposits)
    #expect(try cold.leave(LeftValue("boot", accessible: .always)) == 13)
    #expect(try cold.outlineDeposits(records: 1) && cold.keptDepositCount == 12)
    try cold.close()
    let again = try fixture.open()
    #expect(try Self.count { try again.outlineDeposits(records: 5) } == 3)
    #expect(try again.knownDeposits().all.count == 13 && again.keptDepositCount == 12)
    try again.close()
  }

  @Test("are known once an unlock has checked them, or all were counted, also where some are removed amid that")
  func unlockAmid() throws {
    let (fixture, keychain) = try Self.kept(12)
    try keychain.close()
    let cases: [(isChecked: Bool, removed: [Int64], left: Int)] = [(true, [1, 9], 10), (false, [2, 12], 8)]
    for (isChecked, removed, left) in cases {
      let again = try fixture.unlocked()
      #expect(try !again.outlineDeposits(records: 5))
      try Self.remove(removed, again)
      if isChecked { while try !again.checkDeposits(records: .max) {} }
      while try !again.outlineDeposits(records: 5) {}
      #expect(try again.knownDeposits().kept == left)
      #expect(try again.knownDeposits(verified: true).all.count == left)
      try again.close()
    }
  }

  // MARK: The check

  @Test("are checked by their bytes") func check() throws {
    let (fixture, keychain) = try Self.kept(12)
    for (records, steps) in [(Self.records, 13), (2 * Self.records, 7), (1 << 20, 1)] {
      var (walk, verification) = (RecordWalk(), Verification())
      let count = try Self.count {
        var left = records
        return try walk.step(keychain, &left, &verification)
      }
      #expect(count == steps && verification.findings.isEmpty)
      let stored = try keychain.classRecord(.whenUnlocked).sets[Keychain.depositsPlace]
      #expect(stored.count == 12 && walk.sets[.whenUnlocked][Keychain.depositsPlace] == stored)
    }
    withExtendedLifetime(fixture) {}
  }

  @Test("pass a check at whichever step of it others come and go") func checkMeanwhile() throws {
    var isOver = false
    var step = 0
    while !isOver {
      // A new store for each step: what was dropped is remembered, and would make each check longer than the last.
      let (fixture, keychain) = try Self.kept(3)
      keychain.beginVerification()
      for _ in 0..<step where !isOver { isOver = try keychain.continueVerification(records: Self.records) != nil }
      let told = try keychain.toldDeposits(after: 0, limit: 9)
      _ = try keychain.dropDeposit(told[0].number, now: 2000)
      _ = try keychain.dropDeposit(told[2].number, now: 2000)
      try Self.keep(keychain, 2)
      if !isOver {
        var result: Verification?
        while result == nil { result = try keychain.continueVerification(records: Self.records) }
        #expect(result?.isOK == true, "after step \(step)")
      }
      #expect(try keychain.verify().isOK)
      withExtendedLifetime(fixture) {}
      step += 1
    }
    #expect(step > 4)
  }

  // MARK: The list

  @Test("are told by their bytes, each once, also where one is dropped amid them") func list() throws {
    let (fixture, keychain) = try Self.kept(12)
    try Self.reading(keychain, fixture, steps: 0)
    var (numbers, pages, empty): ([Int64], Int, Int) = ([], 0, 0)
    var after: Int64? = 0
    while let last = after {
      let page = try keychain.tellDeposits(after: last, limit: 9, records: Self.records)
      #expect(page.told.count <= 1 && page.told.allSatisfy { $0.size == Self.size && $0.obstacle == .denied })
      numbers += page.told.map(\.number)
      (pages, empty) = (pages + 1, empty + (page.told.isEmpty ? 1 : 0))
      after = page.next
      if numbers.last == 4, page.told.count == 1 { _ = try keychain.dropDeposit(7, now: 2000) }
    }
    #expect(numbers == [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12])
    // Twelve while the deposits are read, and one at the end.
    #expect(empty == 13 && pages == 24)
    let few = try keychain.tellDeposits(after: 2, limit: 2)
    #expect(few.told.map(\.number) == [3, 4] && few.next == 4)
    #expect(try keychain.toldDeposit(4)?.size == Self.size && keychain.toldDeposit(7) == nil)
  }
}
