import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct ClockTests {
  @Test("an item past its expiry is not served, unless asked for even so")
  func expiry() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one", expires: 5000)
    #expect(try keychain.text("a", now: 4999) == "one")
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 5000) }
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", version: 1, now: 5000) }
    #expect(try keychain.text("a", now: 5000, evenExpired: true) == "one")
    #expect(try keychain.item(named: name("a")).expires == 5000)
    #expect(try keychain.put("a", "two", expires: .some(nil), update: true, now: 6000) == 2)
    #expect(try keychain.text("a", now: 99999) == "two")
  }

  @Test("a clock that was turned back serves no expired item, also after reopening")
  func turnedBack() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      #expect(keychain.newestTime == 1000)
      try keychain.put("a", "one", expires: 5000)
      try keychain.put("b", "later", now: 7000)
      #expect(keychain.newestTime == 7000)
      #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 3000) }
    }
    let keychain = try fixture.open()
    #expect(keychain.newestTime == 0)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(keychain.newestTime == 7000)
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 3000) }
    try keychain.put("c", "early", now: 100)
    #expect(try keychain.item(named: name("c")).created == 7000)
    #expect(try keychain.names("created<1s", now: 100) == ["b", "c"])
  }

  @Test(
    "a clock record that somebody changed is noticed",
    arguments: [
      "UPDATE clock SET time = 1", "UPDATE clock SET items = 0", "UPDATE clock SET mac = zeroblob(32)",
      "DELETE FROM clock",
    ])
  func forged(sql: String) throws {
    let fixture = try Fixture()
    do { try fixture.unlocked().put("a", "one", expires: 5000, now: 4000) }
    try fixture.sql(sql)
    expectCorrupt {
      let keychain = try fixture.open()
      try keychain.unlock(vaultKey: fixture.vaultKey)
    }
    expectCorrupt {
      let keychain = try fixture.open()
      try keychain.openAlways(bootKey: fixture.bootKey)
    }
  }
}
