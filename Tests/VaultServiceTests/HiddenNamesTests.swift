import Testing
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Names that are hidden") struct HiddenNamesTests {
  @Test("are wiped at once where the settings hide them from now on, and the vault is locked") func later() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.vault.lock(because: .asked)
    #expect(try stand.vault.keychain().opensNames(of: .whenUnlocked))
    var settings = VaultSettings()
    settings.hideNames = true
    stand.rooms.reconfigure(settings)
    #expect(try !stand.vault.keychain().opensNames(of: .whenUnlocked))
    #expect(stand.vault.state.kind == .locked && stand.vault.state.cause == .asked)
  }
}
