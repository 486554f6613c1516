import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Values that do not open, though their heads describe them correctly: anybody with the key of a weaker class can make
/// one.
@Suite struct UnreadableValueTests {
  /// Makes the item `boot` of `always` with two versions, one of which does not open.
  private static func spoilt(version: Int, surplus: Int = 0) throws -> Fixture {
    let fixture = try ForgeryTests.fixture()
    do { try fixture.unlocked().put("boot", "again", accessible: .always, update: true) }
    try fixture.forgeAlways { try $0.spoil("boot", version: version, surplus: surplus) }
    return fixture
  }

  @Test("the check opens the current values of the weaker classes, and finds one that does not open")
  func current() throws {
    let fixture = try Self.spoilt(version: 2)
    let result = try fixture.unlocked().verify()
    #expect(result.findings.map(\.text) == ["version 2 of item 4 does not open"])
    #expect(result.findings.first?.name?.text == "boot" && result.harmed == 1)
  }

  @Test("the check finds a value that is of another size than its head says", arguments: [-1, 1, 1 << 30])
  func size(surplus: Int) throws {
    let fixture = try Self.spoilt(version: 2, surplus: surplus)
    let result = try fixture.unlocked().verify()
    #expect(result.findings.map(\.text) == ["version 2 of item 4 is not the one its head names"])
  }

  @Test("a rekey that meets an older one has the store fail, and what is whole can be saved") func older() throws {
    let fixture = try Self.spoilt(version: 1)
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().isOK)
    expectCorrupt { try fixture.rekey(keychain).complete() }
    #expect(keychain.integrity == .failed)
    expectCorrupt { try keychain.put("more") }
    #expect(
      try keychain.verify().findings.map(\.text)
        == ["found since the store was opened, and not by this check: version 1 of item 4 does not open"])
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 8) {}
    #expect(salvage.result.saved == 4)
    #expect(try salvage.target.text("boot") == "again")
  }
}
