import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("A value that goes on within its version") struct AmendTests {
  @Test("takes the place of the current one under its number, and all else stays as it was") func inPlace() throws {
    let fixture = try Fixture()
    var keychain = try fixture.unlocked()
    try keychain.put("a", "first")
    try keychain.put("a", "second", update: true, now: 2000)
    let before = try keychain.item(named: name("a"))
    for number in 1...30 { try keychain.amend(name("a"), value: secret("count \(number)"), now: 3000 + Int64(number)) }
    #expect(try keychain.text("a") == "count 30" && keychain.text("a", version: 2) == "count 30")
    #expect(try keychain.text("a", version: 1) == "first")
    let after = try keychain.item(named: name("a"))
    var expected = before
    expected.modified = 3030
    expected.versions[1].size = 8
    #expect(after == expected)
    #expect(try fixture.rows("vals") == 1)
    // The next version has the next number, and the count is then an older version's.
    #expect(try keychain.put("a", "third", update: true, now: 4000) == 3)
    #expect(try keychain.text("a", version: 2) == "count 30")
    #expect(try keychain.verify().isOK)
    try keychain.close()
    keychain = try fixture.unlocked()
    #expect(try keychain.text("a", version: 2) == "count 30" && keychain.text("a") == "third")
    #expect(try keychain.verify().isOK)
  }

  @Test("is undone with the transaction that it is a part of") func undone() throws {
    let (a, b) = (try name("a"), try name("b"))
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "before")
    #expect(throws: VaultError.noSuchItem) {
      try keychain.transaction { () throws(VaultError) in
        try keychain.amend(a, value: secret("after"), now: 3000)
        try keychain.delete([b])
      }
    }
    #expect(try keychain.text("a") == "before")
  }

  @Test("is refused for what is no item, what its kind does not take, what is too large, and while it is locked")
  func refused() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "MY", kind: .totp)
    #expect(throws: VaultError.noSuchItem) { try keychain.amend(name("b"), value: secret("x"), now: 3000) }
    let wrong = #expect(throws: VaultError.self) { try keychain.amend(name("a"), value: secret("!"), now: 3000) }
    #expect(wrong?.isInvalidValue == true)
    #expect(throws: VaultError.tooLarge(1 << 20)) {
      try keychain.amend(name("a"), value: SecureBytes(count: 1 << 20 + 1), now: 3000)
    }
    #expect(try keychain.text("a") == "MY")
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { try keychain.amend(name("a"), value: secret("ME"), now: 3000) }
  }
}
