import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("A slot that PAM opens for a user") struct OpenerTests {
  private static let denied = Refusal.denied("this is for the vault's administrators")

  @Test("lets that user open the machine's vault, and nobody else") func system() throws {
    let stand = try RoomStand.unlocked(system: true)
    #expect(throws: Self.denied) { try stand.access.checkOpener(RoomStand.caller(990)) }
    try stand.addSlot(for: [990])
    #expect(throws: Never.self) { try stand.access.checkOpener(RoomStand.caller(990)) }
    #expect(throws: Self.denied) { try stand.access.checkOpener(RoomStand.caller(991)) }
  }

  @Test("lets no program of that user open the user's vault that a grant confines, in any state of the vault")
  func confined() throws {
    let stand = try RoomStand.unlocked()
    try stand.addSlot(for: [RoomStand.owner])
    stand.access.add(.presence, by: stand.administrator, with: [])
    for subject in ["unit:x.service", "user:1000,exe:/usr/bin/x"] { try GrantTests.give(stand, subject, "a", "get") }
    var service = RoomStand.caller()
    service.userUnit = "x.service"
    let confined = [service, RoomStand.caller(executable: "/usr/bin/x")]
    func expectRefusals(_ state: String) {
      for (place, caller) in confined.enumerated() {
        #expect(throws: Self.denied, "\(place), \(state)") { try stand.access.checkOpener(caller) }
      }
      #expect(throws: Never.self, "\(state)") {
        try stand.access.checkOpener(RoomStand.caller(executable: "/usr/bin/y"))
      }
    }
    expectRefusals("unlocked")
    stand.vault.lock(because: .asked)
    expectRefusals("locked")
    try stand.restart()
    #expect(stand.vault.openKeychain?.slots.contains { $0.kind == .pam } == true)
    expectRefusals("cold")
  }
}
