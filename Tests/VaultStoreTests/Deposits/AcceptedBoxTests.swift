import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("A deposit that was sealed elsewhere and accepted by hand") struct AcceptedBoxTests {
  @Test("does not come a second time, neither to the unlocked vault nor to the locked one", arguments: [true, false])
  func again(isUnlocked: Bool) throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    let key = DepositKey(vault: keychain.identity, publicKey: try #require(keychain.publicKey))
    let box = try LeftValue("boxed", "sealed").box(for: key)
    keychain.lock(hidingNames: false)
    #expect(try keychain.handIn(box, isUnlocked: false) == nil)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    let refused = try keychain.takeInAll { _, _, _ in .denied }
    #expect(refused.map(\.obstacle) == [.denied])
    let number = try #require(try keychain.toldDeposits(after: 0, limit: 1).first).number
    let accepted = try #require(try keychain.acceptDeposit(number, by: "user:0", now: 2100))
    #expect(accepted.stored.number == 1)

    var results: [TakenDeposit.Result?] = []
    if isUnlocked {
      results = [try keychain.handIn(box, now: 2100)]
    } else {
      keychain.lock(hidingNames: false)
      #expect(try keychain.handIn(box, now: 2100, isUnlocked: false) == nil)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      results = try keychain.takeInAll(now: 2100)
    }
    #expect(results.map { $0?.obstacle } == [.seen])
    #expect(try keychain.history(of: name("boxed")).count == 1)
    #expect(try keychain.verify().isOK)
  }
}

extension TakenDeposit.Result {
  /// The reason why the deposit was kept aside; nil for one that was stored.
  fileprivate var obstacle: DepositObstacle? { if case .kept(_, let obstacle) = self { obstacle } else { nil } }
}
