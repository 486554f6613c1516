import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("A depositor who was an administrator") struct DepositorTests {
  @Test("has the rights of today when the deposit is taken in: those of an administrator, of grants, or none")
  func judged() throws {
    let stand = try RoomStand.unlocked(system: true)
    let item = DepositedItem(name: try ItemName("own/a"), accessible: .whenUnlocked)
    func obstacle(_ uid: UInt32, _ groups: [UInt32]) -> DepositObstacle? {
      let depositor = Depositor(uid: uid, groups: groups, isAdministrator: true, author: "user:\(uid)")
      return stand.access.decide(deposit: item, by: depositor, nil)
    }
    #expect(obstacle(0, [0]) == nil)
    #expect(obstacle(1001, [1001, RoomStand.administrators]) == nil)
    #expect(obstacle(1001, [1001]) == .denied)
    try GrantTests.give(stand, "user:1001", "own/*", "deposit")
    #expect(obstacle(1001, [1001]) == nil)
  }

  @Test("leaves nothing more once a grant confines the program, also of what was left before") func confined() throws {
    let stand = try RoomStand.unlocked()
    stand.vault.lock(because: .asked)
    let program = RoomStand.caller(executable: "/usr/bin/x")
    for name in ["own/first", "own/second"] { try DepositTests.leave(stand, name, by: program) }
    // Each part takes in one deposit.
    stand.hands.stride.value = DepositWork.part
    try stand.unlock()
    stand.hands.stride.value = 0
    stand.access.add(.presence, by: stand.administrator, with: [])
    try GrantTests.give(stand, "user:1000,exe:/usr/bin/x", "else/*", "get")
    stand.run()
    #expect(try GrantTests.found(stand, stand.administrator) == ["own/first"])
    #expect(try DepositTests.kept(stand) == [.denied])
  }
}
