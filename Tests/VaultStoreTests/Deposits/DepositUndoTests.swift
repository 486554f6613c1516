import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The known content of the table of deposits") struct DepositUndoTests {
  /// The facts of a known table, about all rows that are stored now.
  struct Known: Equatable {
    var numbers: [Set<Int64>], sizes: [[Int]], remembered: [Int64: Int64?], taken: [[UInt8]: [[UInt8]]]
    var isSeen: [Bool], counts: [Int], lastSettled: Int64

    init(_ table: DepositTable, _ keychain: Keychain) throws(VaultError) {
      var (rows, start): ([DepositRow], _) = ([], Database.RowPlace())
      try keychain.database.eachDeposit(from: &start) { (found: Result<DepositRow, VaultError>) throws(VaultError) in
        rows.append(try found.get())
        return true
      }
      numbers = [table.numbers, table.misnumbered, Set(table.waiting.keys), Set(table.foreign.keys)]
      sizes = ([table.all] + rows.map { table.sizes(of: $0.depositor) }).map { [$0.count, $0.bytes] }
      sizes.append(table.waiting.sorted { $0.key < $1.key }.map(\.value))
      remembered = table.remembered
      taken = table.taken.mapValues { [$0.name, Array("\($0.base)".utf8)] }
      isSeen = rows.map { table.hasSeen($0.id) }
      counts = [table.kept] + rows.map { table.remembered(of: $0.depositor) }
      lastSettled = table.lastSettled
    }
  }

  static func row(_ number: Int64, _ keychain: Keychain) throws(VaultError) -> DepositRow {
    guard let row = try keychain.database.deposit(number) else { throw .noSuchItem }
    return row
  }

  /// Reads the table from its first row on, without the keychain's knowledge.
  static func readAgain(_ keychain: Keychain) throws -> Known {
    var walk = DepositWalk()
    while try !walk.step(keychain, records: .max) {}
    let stored = try keychain.classRecord(.whenUnlocked).sets[Keychain.depositsPlace]
    let table = walk.verified(by: stored)
    return try Known(try #require(table), keychain)
  }

  /// Expects that the table is known, and known to be the stored one, so that nothing has to be read.
  private static func expectKnown(_ keychain: Keychain, _ note: String) throws -> Known {
    let found = keychain.bound.depositTable
    let table = try #require(found, "\(note)")
    #expect(table.isVerified && !keychain.isReadingDeposits, "\(note)")
    let known = try Known(table, keychain)
    var again = try readAgain(keychain)
    // A number stays settled when its row is removed.
    again.lastSettled = max(again.lastSettled, known.lastSettled)
    #expect(known == again, "\(note)")
    return known
  }

  private static func lastGiven(_ keychain: Keychain) -> Int64? { keychain.bound.depositTable?.lastGiven }

  /// A change of the table of deposits.
  private struct Change {
    var note: String
    var make: (Keychain) throws -> Void
  }

  private static var changes: [Change] {
    [
      Change(note: "one is kept aside") { _ = try DepositStepTests.keep($0) },
      Change(note: "one is left") { _ = try $0.leave(LeftValue("late")) },
      Change(note: "waiting ones are taken in") { _ = try $0.takeInAll() },
      Change(note: "one is dropped") { _ = try $0.dropDeposit(1, now: 2000) },
      Change(note: "one is remembered") { keychain in
        try keychain.transaction { () throws(VaultError) in
          try keychain.remember(.random(), of: keychain.seenTag(of: "user:990").bytes)
        }
      },
      Change(note: "one is moved and removed") { keychain in
        try keychain.transaction { () throws(VaultError) in
          let old = try Self.row(2, keychain)
          let moved = try keychain.renumber(old, as: old)
          try keychain.remove(keychain.renumber(moved, as: moved))
        }
      },
    ]
  }

  /// Makes an unlocked vault with three deposits that were kept aside, one that became a version, and one more that
  /// waits for the same item.
  private static func fill(_ keychain: Keychain, _ fixture: Fixture) throws {
    try keychain.put("there", kind: .password)
    try DepositStepTests.keep(keychain, 3)
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("there", "first"))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll() == [.stored(version: 2)])
    try keychain.leave(LeftValue("there", "second"))
  }

  @Test("is what it was after each change that finds the disk full, and nothing is read again") func full() throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let keychain = try fixture.unlocked()
    try Self.fill(keychain, fixture)
    for change in Self.changes {
      let before = try Self.expectKnown(keychain, change.note)
      let last = Self.lastGiven(keychain)
      disk.fail(after: 0, FaultyDisk.Failure.allCases[0])
      expect(\.isStorage) { try change.make(keychain) }
      disk.recover()
      #expect(try Self.expectKnown(keychain, change.note) == before, "\(change.note)")
      #expect(Self.lastGiven(keychain) == last, "\(change.note)")
    }
    for change in Self.changes {
      let before = try Self.expectKnown(keychain, change.note)
      try change.make(keychain)
      #expect(try Self.expectKnown(keychain, change.note) != before, "\(change.note)")
    }
    #expect(try keychain.text("there") == "second" && keychain.text("late") == "left")
    #expect(try keychain.verify().isOK)
    try keychain.close()
    withExtendedLifetime((fixture, disk)) {}
  }

  @Test("is read again after a change that failed and had moved a row that is not ours") func foreign() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try DepositStepTests.keep(keychain)
    try keychain.database.connection.execute(
      "INSERT INTO deposits VALUES(7, x'00', 1, \(DepositRow.State.waiting.rawValue), x'00', x'00')")
    keychain.lock(hidingNames: false)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.knownDeposits(verified: true).isForeign(7))
    #expect(throws: VaultError.noSuchItem) {
      try keychain.transaction { () throws(VaultError) -> Void in
        _ = try keychain.keepForeign(7)
        throw .noSuchItem
      }
    }
    let isForgotten = keychain.bound.depositTable == nil
    #expect(isForgotten)
    #expect(try keychain.knownDeposits(verified: true).isForeign(7))
    #expect(try keychain.takeInAll() == [.kept(number: 2, .forged)])
    #expect(try keychain.verify().isOK)
    withExtendedLifetime(fixture) {}
  }

  @Test("gives a deposit the number that one took for which the disk had no room, before the first unlock")
  func cold() throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    do {
      let keychain = try fixture.unlocked()
      keychain.lock(hidingNames: false)
      for _ in 0..<2 { try keychain.leave(LeftValue("first")) }
      try keychain.close()
    }
    let cold = try fixture.open()
    try cold.openAlways(bootKey: fixture.bootKey)
    disk.fail(after: 0, FaultyDisk.Failure.allCases[0])
    expect(\.isStorage) { try cold.leave(LeftValue("boot", accessible: .always)) }
    disk.recover()
    // The numbers of the waiting rows are known, and are not looked for again.
    #expect(Self.lastGiven(cold) == 2)
    #expect(try cold.leave(LeftValue("boot", accessible: .always)) == 3)
    try cold.close()
    withExtendedLifetime((fixture, disk)) {}
  }
}
