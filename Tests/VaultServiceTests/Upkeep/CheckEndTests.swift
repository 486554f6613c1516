import Testing
import VaultModel

@testable import VaultService

@Suite("The end of a check that somebody waits for") struct CheckEndTests {
  @Test("is told when the store was opened again meanwhile") func reopened() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.run()
    var end: Result<CheckResult, Refusal>?
    try stand.rooms.upkeep.check.wait(
      Check.Reader(ObjectIdentifier(stand)) {
        true
      } tell: { _ in
      } end: {
        end = $0
      })
    stand.vault.reopenStore()
    stand.run()
    #expect(throws: Refusal.storageFailed("the store was opened again before the check was over")) {
      try end?.get()
    }
    #expect(end != nil && !stand.rooms.upkeep.check.isAwaited)
  }
}
