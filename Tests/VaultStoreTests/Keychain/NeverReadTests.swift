import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("A key that is never read") struct NeverReadTests {
  private func stand() throws -> (Fixture, Keychain) {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.set(
      ItemChange(name: name("key"), use: .mac, neverRead: true, origin: .generated), value: secret("first"), now: 2000)
    return (fixture, keychain)
  }

  private static let within: @Sendable (ItemInfo) -> Decision = { _ in .allowWithin }

  private func within(_ keychain: Keychain, _ text: String, version: Int? = nil) throws -> String {
    try keychain.withValue(of: name(text), version: version, now: 2000, if: Self.within) { _, _, value in
      String(decoding: unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }, as: UTF8.self)
    }
  }

  private func failure(_ body: () throws -> Void) -> VaultError? {
    do { try body() } catch { return error as? VaultError }
    return nil
  }

  @Test("is lent to nobody who does not say that it stays here, also from what was read last") func lent() throws {
    let (fixture, keychain) = try stand()
    defer { withExtendedLifetime(fixture) {} }
    for _ in 1...2 {
      #expect(failure { _ = try keychain.text("key") } == .notAllowed(.refuse))
      #expect(failure { _ = try keychain.text("key", version: 1) } == .notAllowed(.refuse))
      #expect(try within(keychain, "key") == "first")
    }
  }

  @Test("takes the place of none but a generated one, and is given by nobody") func replaced() throws {
    let (fixture, keychain) = try stand()
    defer { withExtendedLifetime(fixture) {} }
    let update = try ItemChange(name: name("key"), update: true)
    #expect(failure { try keychain.set(update, value: secret("given"), now: 2000) } == .neverRead)
    var copied = update
    copied.origin = .copied
    #expect(failure { try keychain.set(copied, value: secret("given"), now: 2000) } == .neverRead)
    #expect(failure { try keychain.amend(name("key"), value: secret("given"), now: 2000) } == .neverRead)
    #expect(failure { try keychain.restoreVersion(1, of: name("key"), now: 2000) } == .neverRead)
    #expect(try keychain.takeIn(LeftValue("key", "given"), now: 2000) == .kept(number: 1, .neverRead))
    #expect(failure { _ = try keychain.acceptDeposit(1, by: "user:0", now: 2000) } == .neverRead)
    #expect(try within(keychain, "key") == "first")
    var generated = update
    generated.origin = .generated
    try keychain.set(generated, value: secret("second"), now: 2000)
    #expect(try within(keychain, "key") == "second" && within(keychain, "key", version: 1) == "first")
    for (text, change) in [
      ("given", ItemChange(name: try name("new"), use: .mac, neverRead: true)),
      ("no key", ItemChange(name: try name("new"), neverRead: true, origin: .generated)),
      ("totp", ItemChange(name: try name("new"), kind: .totp, neverRead: true, origin: .generated)),
    ] {
      #expect(
        failure { try keychain.set(change, value: secret("GEZDGNBV"), now: 2000) }?.isInvalidValue == true, "\(text)")
    }
  }

  @Test("stays one, and what can be read stays so, whatever else is changed") func unchanged() throws {
    let (fixture, keychain) = try stand()
    defer { withExtendedLifetime(fixture) {} }
    try keychain.put("note", "text")
    for (text, neverRead) in [("key", false), ("note", true)] {
      let change = try ItemChange(name: name(text), neverRead: neverRead, origin: .generated, update: true)
      #expect(failure { try keychain.set(change, now: 2000) }?.isInvalidValue == true)
      #expect(try keychain.item(named: name(text)).policy.isNeverRead == !neverRead)
    }
    let change = try ItemChange(
      name: name("key"), attributes: ["a": "b"], accessible: .always, require: .password, neverRead: true, update: true)
    try keychain.set(change, now: 2000)
    #expect(try keychain.item(named: name("key")).policy.isNeverRead)
    #expect(failure { _ = try keychain.text("key") } == .notAllowed(.refuse))
  }

  @Test("stays one through a new name, the trash, a backup, a salvage and a rekey") func stays() throws {
    let (fixture, keychain) = try stand()
    func check(_ keychain: Keychain, _ text: String = "b") throws {
      #expect(try keychain.item(named: name(text)).policy.isNeverRead)
      #expect(failure { _ = try keychain.text(text) } == .notAllowed(.refuse))
      #expect(try within(keychain, text) == "first")
    }
    try keychain.move(from: name("key"), to: name("b"), now: 2500)
    try check(keychain)
    try keychain.trash([name("b")], now: 2500)
    #expect(try keychain.trashedItem(named: name("b"), found: TrashSearch()).policy.isNeverRead)
    try keychain.restore(name("b"), now: 2600)
    try check(keychain)
    let backup = try BackedUp.backup(keychain)
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: target)
    let restored = try target.open()
    try restored.unlock(vaultKey: fixture.vaultKey)
    try check(restored)
    try check(fixture.copy(keychain, bySalvage: true))
    try check(fixture.copy(keychain, bySalvage: false))
    #expect(try keychain.verify().isOK)
  }
}
