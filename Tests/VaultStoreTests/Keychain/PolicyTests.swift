import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct PolicyTests {
  @Test(
    "an item that changes class keeps all versions and is served by the new class's keys alone",
    arguments: AccessClass.allCases, AccessClass.allCases)
  func changeClass(from: AccessClass, to: AccessClass) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a/b", "one", attributes: ["k": "v"], accessible: from)
    try keychain.put("a/b", "two", update: true)
    let change = ItemChange(name: try name("a/b"), accessible: to, require: .password, reuseWindow: 5, update: true)
    #expect(try keychain.set(change, now: 3000).number == 2)
    #expect(try keychain.text("a/b") == "two")
    #expect(try keychain.text("a/b", version: 1) == "one")
    #expect(
      try keychain.item(named: name("a/b")).policy
        == Policy(accessible: to, require: .password, reuseWindow: 5))
    #expect(try keychain.names("k=v") == ["a/b"])
    #expect(try keychain.names("name~a/*") == ["a/b"])
    #expect(try fixture.rows("tags") == 4)
    keychain.lock(hidingNames: true)
    #expect((try? keychain.text("a/b")) == (to == .whenUnlocked ? nil : "two"))
    keychain.wipe()
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect((try? keychain.text("a/b", version: 1)) == (to == .always ? "one" : nil))
  }

  @Test("a value and a policy can change together, with the oldest version going at the limit")
  func valueAndPolicy() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for number in 1...10 { try keychain.put("a", "value \(number)", update: true) }
    #expect(try keychain.put("a", "value 11", accessible: .always, update: true) == 11)
    for number in 2...11 { #expect(try keychain.text("a", version: number) == "value \(number)") }
    #expect(throws: VaultError.noSuchVersion(1)) { try keychain.text("a", version: 1) }
    #expect(try fixture.rows("vals") == 9)
  }
}
