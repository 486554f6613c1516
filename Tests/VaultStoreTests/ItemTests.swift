import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct ItemTests {
  @Test("what was set is read back, byte for byte, also after reopening")
  func roundTrip() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      #expect(try keychain.put("iothome/express.key", "s3cret", attributes: ["owner": "ana"]) == 1)
      #expect(try keychain.text("iothome/express.key") == "s3cret")
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("iothome/express.key") == "s3cret")
    let item = try keychain.item(named: name("iothome/express.key"))
    #expect(item.attributes == ["owner": "ana"])
    #expect(item.kind == .note)
    #expect(item.policy == Policy())
    #expect(item.created == 2000 && item.modified == 2000 && item.expires == nil)
    #expect(item.versions == [VersionInfo(number: 1, created: 2000, size: 6)])
    #expect(try keychain.itemCount() == 1)
  }
}
