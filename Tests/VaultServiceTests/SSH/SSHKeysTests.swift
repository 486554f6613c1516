import Testing
import VaultModel

@testable import VaultService

@Suite("The keys that the ssh-agent lists") struct SSHKeysTests {
  @Test("end by the newest time that the store knows, also once the clock was set back") func expired() throws {
    let stand = try RoomStand.unlocked()
    let keys = SSHKeys(stand.items)
    var change = ItemChange(name: try ItemName("key"), kind: .sshKey, use: .ssh)
    change.expires = .some(3000)
    _ = try stand.items.set(change, .generated(.key(.ed25519)), for: stand.administrator) { _ in true }
    func listed() throws -> [String] { try keys.keys(for: stand.administrator).keys.map(\.name.text) }
    stand.hands.wall.value = 2999
    #expect(try listed() == ["key"])
    stand.hands.wall.value = 3000
    #expect(try listed().isEmpty)
    try stand.set("other")
    stand.hands.wall.value = 2000
    #expect(try listed().isEmpty)
  }
}
