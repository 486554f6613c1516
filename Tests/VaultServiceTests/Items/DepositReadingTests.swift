import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Deposits after an unlock, which are read a few in a turn") struct DepositReadingTests {
  /// Makes a locked stand with four deposits of half a MiB that were kept aside, and a clock that makes each part read
  /// one of them.
  private static func kept() throws -> RoomStand {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/there")
    try GrantTests.give(stand, "user:990", "own/*", "deposit")
    let large = String(repeating: "x", count: 1 << 19)
    for _ in 0..<4 { try DepositTests.leave(stand, "own/there", large, by: RoomStand.caller(990)) }
    stand.vault.lock(because: .asked)
    stand.hands.stride.value = DepositWork.part
    return stand
  }

  private static func isReading(_ stand: RoomStand) throws -> Bool { try stand.vault.keychain().isReadingDeposits }

  @Test("that come while an unlock still reads those that were kept aside wait like these, and it takes them in")
  func reading() throws {
    let stand = try Self.kept()
    var isAnswered = false
    try stand.unlock { isAnswered = true }
    #expect(try Self.isReading(stand) && !isAnswered)
    let answer = try DepositTests.leave(stand, "own/new", "new", by: RoomStand.caller(990))
    #expect(answer == DepositAnswer(isWaiting: true))
    #expect(throws: Refusal.busy("the deposits are still being read; try again")) {
      try stand.items.settleDeposit(1, isAccepted: false, for: stand.administrator)
    }
    // Each turn reads one deposit; the last turn finds no more of them, and takes in the one that has come.
    var turns = 0
    while try Self.isReading(stand) {
      stand.runner.turn()
      turns += 1
      try #require(turns < 100)
    }
    #expect(turns >= 3)
    stand.run()
    #expect(try isAnswered && DepositTests.value(stand, "own/new") == "new")
    #expect(try DepositTests.kept(stand) == [.exists, .exists, .exists, .exists])
    #expect(try stand.items.settleDeposit(1, isAccepted: true, for: stand.administrator).version == 2)
  }

  @Test("are read anew by the next unlock where a lock or a crash comes while they are read", arguments: [false, true])
  func readingAgain(isCrash: Bool) throws {
    let stand = try Self.kept()
    try stand.unlock()
    try DepositTests.leave(stand, "own/new", "new", by: RoomStand.caller(990))
    if isCrash { try stand.restart() } else { stand.vault.lock(because: .asked) }
    stand.run()
    #expect(try !Self.isReading(stand) && stand.items.deposits().count { $0.isWaiting } == 1)
    stand.hands.stride.value = 0
    try stand.unlock()
    #expect(try DepositTests.value(stand, "own/new") == "new" && DepositTests.kept(stand).count == 4)
    #expect(try stand.vault.keychain().verify().isOK)
  }

  @Test("are counted before it, a few in a turn") func counting() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/there")
    try GrantTests.give(stand, "user:990", "own/*", "deposit")
    let count = Keychain.depositStep + 20
    for _ in 0..<count { try DepositTests.leave(stand, "own/there", "new", by: RoomStand.caller(990)) }
    try stand.restart()
    #expect(try stand.vault.keychain().keptDepositCount == Keychain.depositStep)
    stand.run()
    #expect(try stand.vault.keychain().keptDepositCount == count)
  }

  @Test("are listed a few in a turn, each once, by the one that reads them or by an unlock") func pages() throws {
    let stand = try Self.kept()
    try stand.unlock()
    var (numbers, pages, after): ([Int], Int, Int?) = ([], 0, 0)
    while let last = after {
      let page = try stand.items.deposits(after: last, limit: 32)
      #expect(page.told.count <= 1 && page.told.allSatisfy { $0.size == 1 << 19 })
      numbers += page.told.map(\.number)
      (pages, after) = (pages + 1, page.next)
    }
    #expect(numbers == [1, 2, 3, 4] && pages > 4)
    #expect(try !Self.isReading(stand))
  }
}
