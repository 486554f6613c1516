import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Rows that somebody with the disk inserts or moves under numbers of their own choice.
@Suite("The number of a deposit that nothing vouches for") struct DepositNumberTests {
  private static let numbers: [Int64] = [
    .min, .min + 1, -1, 0, 4, 1 << 32, (1 << 32) - 2, (1 << 53) - 2, (1 << 53) - 1, 1 << 53, .max - 1, .max,
  ]
  private static let rowsApart = Keychain.rowsApart
  private static let jumping: [[Int64]] = [
    [rowsApart], [rowsApart - 1, 2 * rowsApart - 2, 3 * rowsApart - 3], [(1 << 53) - 2], [(1 << 53) - 1],
  ]
  /// The numbers at which a client that lists deposits would see a deposit.
  private static let listed: Range<Int64> = 1..<100

  private static func insert(_ number: Int64, _ accessible: AccessClass, state: Int = 1) -> String {
    let raw = accessible.rawValue
    let record = "randomblob(\(state == 3 ? 8 : 99))"
    return "INSERT INTO deposits VALUES(\(number), randomblob(16), \(raw), \(state), randomblob(16), \(record))"
  }

  /// Makes a locked and closed vault with deposits: two for one item, and one for an `always` item.
  private static func fixture() throws -> Fixture {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    for value in ["one", "two"] { try keychain.leave(LeftValue("first", value)) }
    try keychain.leave(LeftValue("boot", "cold", accessible: .always))
    try keychain.close()
    return fixture
  }

  private func expectOrderly(_ keychain: Keychain, _ last: String) throws {
    #expect(try keychain.text("first") == last)
    let told = try keychain.toldDeposits(after: 0, limit: 99)
    #expect(told.map(\.obstacle) == [.forged] && told.allSatisfy { DepositRow.numbers.contains($0.number) })
    #expect(try keychain.verify().isOK && !keychain.hasFailed)
  }

  @Test(
    "is not the number under which it is kept aside, and no later one comes from it", arguments: Self.numbers,
    AccessClass.allCases)
  func forged(number: Int64, accessible: AccessClass) throws {
    let fixture = try Self.fixture()
    try fixture.sql(Self.insert(number, accessible))
    let keychain = try fixture.unlocked()
    // The forged row is among the reported deposits.
    var numbers: [Int64] = []
    for case .kept(let number, .forged) in try keychain.takeInAll() { numbers.append(number) }
    #expect(numbers.count == 1 && numbers.allSatisfy(Self.listed.contains))
    try expectOrderly(keychain, "two")
    for value in ["three", "four"] {
      keychain.lock(hidingNames: false)
      #expect(try Self.listed.contains(keychain.leave(LeftValue("first", value))))
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(try keychain.takeInAll().count == 1)
      try expectOrderly(keychain, value)
    }
    let name = try #require(try keychain.dropDeposit(numbers[0], now: 2001))
    #expect(name == nil)
    #expect(try keychain.toldDeposits(after: 0, limit: 9).isEmpty && keychain.verify().isOK)
  }

  @Test(
    "keeps nothing from being left while it waits, before the first unlock and while the vault is locked, in order",
    arguments: Self.numbers, AccessClass.allCases)
  func waiting(number: Int64, accessible: AccessClass) throws {
    let fixture = try Self.fixture()
    try fixture.sql(Self.insert(number, accessible))
    do {
      let cold = try fixture.open()
      try cold.openAlways(bootKey: fixture.bootKey)
      for value in ["colder", "coldest"] { try cold.leave(LeftValue("boot", value, accessible: .always)) }
      #expect(!cold.hasFailed)
      try cold.close()
    }
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    for value in ["three", "four"] { try keychain.leave(LeftValue("first", value)) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll().count == 8)
    #expect(try keychain.text("boot") == "coldest")
    try expectOrderly(keychain, "four")
  }

  @Test("under which an earlier program kept it aside is mended by the next unlock", arguments: Self.numbers)
  func kept(number: Int64) throws {
    let fixture = try Self.fixture()
    try fixture.sql(Self.insert(9, .whenUnlocked))
    do {
      let keychain = try fixture.unlocked()
      _ = try keychain.takeInAll()
      // An earlier program authenticated the row under the number that it was found with.
      try keychain.transaction { () throws(VaultError) in
        var (old, start): (DepositRow?, _) = (nil, Database.RowPlace())
        try keychain.database.eachDeposit(from: &start) { (found: Result<DepositRow, VaultError>) throws(VaultError) in
          let row = try found.get()
          if row.state == .kept { old = row }
          return true
        }
        guard let old else { throw .noSuchItem }
        var moved = old
        moved.row = number
        try keychain.remove(old)
        try keychain.add(moved)
      }
      // A table of this program has no row below 0, so the check of the file's shape finds one.
      #expect(try keychain.verify().isOK == (number >= 0))
      try keychain.close()
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.takeInAll().isEmpty)
    let told = try keychain.toldDeposits(after: 0, limit: 9)
    #expect(told.map(\.obstacle) == [.forged] && told.allSatisfy { DepositRow.numbers.contains($0.number) })
    keychain.lock(hidingNames: false)
    #expect(try Self.listed.contains(keychain.leave(LeftValue("first", "new"))))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    _ = try keychain.takeInAll()
    #expect(try keychain.text("first") == "new" && keychain.verify().isOK)
  }

  @Test("comes into no other store with a rekey", arguments: Self.numbers.filter { $0 >= 0 && $0 != 4 })
  func rekeyed(number: Int64) throws {
    let fixture = try Self.fixture()
    let keychain = try fixture.unlocked()
    _ = try keychain.takeInAll()
    keychain.lock(hidingNames: false)
    try keychain.leave(LeftValue("first", "three"))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try keychain.database.connection.execute(Self.insert(number, .whenUnlocked))
    try fixture.rekey(keychain).complete()
    #expect(try keychain.takeInAll().count == 1)
    try expectOrderly(keychain, "three")
  }

  @Test("of what is forged as settled is found, and keeps nothing from being left before the first unlock")
  func settled() throws {
    for number in Self.numbers {
      let fixture = try Self.fixture()
      try fixture.sql(Self.insert(number, .whenUnlocked, state: 3))
      let cold = try fixture.open()
      try cold.openAlways(bootKey: fixture.bootKey)
      try cold.leave(LeftValue("boot", "colder", accessible: .always))
      #expect(!cold.hasFailed)
      try cold.close()
      expectCorrupt { _ = try fixture.unlocked().takeInAll() }
    }
  }

  /// Lets somebody who has the boot key put in deposits for `always` items, each for an item of its own.
  private static func forge(_ numbers: [Int64], _ fixture: Fixture) throws {
    let cold = try fixture.open()
    try cold.openAlways(bootKey: fixture.bootKey)
    try cold.transaction { () throws(VaultError) in
      for number in numbers {
        guard
          let (plaintext, stamp) = try? LeftValue("forged \(number)", accessible: .always).encoded(for: cold.vaultID)
        else { throw .noSuchItem }
        try cold.add(cold.sealDeposit(plaintext, stamp.id, .always, "user:990", row: number))
      }
    }
    try cold.close()
  }

  @Test(
    "jumps with a key for it: it is kept aside, and leaves its numbers to all others",
    arguments: Self.jumping)
  func vouched(numbers: [Int64]) throws {
    let fixture = try Self.fixture()
    try Self.forge(numbers, fixture)
    do {
      let cold = try fixture.open()
      try cold.openAlways(bootKey: fixture.bootKey)
      #expect(try Self.listed.contains(cold.leave(LeftValue("boot", "colder", accessible: .always))))
      try cold.close()
    }
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    #expect(try Self.listed.contains(keychain.leave(LeftValue("first", "three"))))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    let taken = try keychain.takeInAll()
    let kept = taken.count { if case .kept(_, .forged) = $0 { true } else { false } }
    // A number below the limit is one that a store gives, and moves the limit for the next unlock alone.
    let jumps = numbers.count { $0 >= Self.rowsApart }
    #expect(taken.count == 5 + numbers.count && kept == jumps)
    #expect(try keychain.text("first") == "three")
    #expect(try keychain.text("boot") == "colder")
    keychain.lock(hidingNames: false)
    #expect(try keychain.leave(LeftValue("first", "four")) < Self.rowsApart + 9)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.takeInAll().count == 1)
    #expect(try keychain.text("first") == "four")
    let isWhole = try keychain.verify().isOK
    #expect(isWhole && !keychain.hasFailed)
  }

  @Test("just below the limit leaves numbers that count for those who come after it")
  func half() throws {
    let fixture = try Self.fixture()
    try Self.forge([Self.rowsApart / 2 - 1], fixture)
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    for value in ["three", "four"] { try keychain.leave(LeftValue("first", value)) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    let taken = try keychain.takeInAll()
    let stored = taken.count { if case .stored = $0 { true } else { false } }
    #expect(taken.count == 6 && stored == 6)
    #expect(try keychain.text("first") == "four")
    #expect(try keychain.verify().isOK)
  }
}
