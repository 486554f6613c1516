import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("A new value that is sealed before the change that brings it") struct NewValueAheadTests {
  private static let value = [UInt8](repeating: 0x61, count: 400_000)

  private let fixture: Fixture
  private let keychain: Keychain
  private let ahead = SealedAhead()

  init() throws {
    fixture = try Fixture()
    keychain = try fixture.unlocked()
    try keychain.set(ItemChange(name: name("a"), kind: .note), value: secret("short"), now: 2000)
  }

  /// The name of an existing item, and of a new one.
  static let names = ["a", "new"]

  private func change(_ text: String) throws -> ItemChange {
    ItemChange(name: try name(text), kind: .note, update: true)
  }

  private func seal(_ change: ItemChange, _ value: [UInt8] = Self.value) -> Bool {
    secret(value).withBytes { keychain.sealAhead($0, of: change, ahead) }
  }

  @Test("is what the change stores", arguments: names) func stored(_ text: String) throws {
    let change = try change(text)
    #expect(keychain.wantsAhead(valueOf: Self.value.count, for: change, ahead))
    #expect(seal(change))
    #expect(!keychain.wantsAhead(valueOf: Self.value.count, for: change, ahead))
    let stored = try #require(try keychain.set(change, valueOf: ahead, now: 2000))
    #expect(stored.number == (text == "a" ? 2 : 1))
    #expect(try keychain.read(text) == Self.value)
    #expect(try keychain.item(named: name(text)).current.size == Self.value.count)
    #expect(try keychain.verify().isOK)
    keychain.lock(hidingNames: false)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.read(text) == Self.value)
  }

  @Test("does not count for another version, kind, set of attributes or class", arguments: names)
  func other(_ text: String) throws {
    let change = try change(text)
    #expect(seal(change))
    var others = Array(repeating: change, count: 3)
    others[0].kind = .blob
    others[1].attributes = ["k": "v"]
    others[2].accessible = .always
    for other in others { #expect(try keychain.set(other, valueOf: ahead, now: 2000) == nil) }
    try keychain.set(change, value: secret("between"), now: 2000)
    #expect(try keychain.set(change, valueOf: ahead, now: 2000) == nil)
    #expect(try keychain.read(text) == Array("between".utf8))
  }

  @Test("does not count once the item has another policy, or is another one") func otherItem() throws {
    let change = try change("a")
    #expect(seal(change))
    try keychain.set(ItemChange(name: name("a"), require: .password, update: true), now: 2000)
    #expect(try keychain.set(change, valueOf: ahead, now: 2000) == nil)
    #expect(seal(change))
    try keychain.delete([name("a")])
    #expect(try keychain.set(change, valueOf: ahead, now: 2000) == nil)
    for _ in 0..<2 { try keychain.set(change, value: secret("again"), now: 2000) }
    #expect(try keychain.set(change, valueOf: ahead, now: 2000) == nil)
  }

  @Test("does not count under the keys of a rekey, nor while the vault is locked", arguments: names)
  func keys(_ text: String) throws {
    let change = try change(text)
    #expect(seal(change))
    keychain.lock(hidingNames: false)
    #expect(try keychain.set(change, valueOf: ahead, now: 2000) == nil)
    #expect(!seal(change) && !keychain.wantsAhead(valueOf: Self.value.count, for: change, ahead))
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try fixture.rekey(keychain).complete()
    #expect(try keychain.set(change, valueOf: ahead, now: 2000) == nil)
  }

  @Test("is checked before it is sealed", arguments: names) func invalid(_ text: String) throws {
    let change = try change(text)
    #expect(!seal(change, Self.value + [0xFF]))
    #expect(try keychain.set(change, valueOf: ahead, now: 2000) == nil)
  }

  @Test("is none where it is little, too long, or not to be stored") func none() throws {
    let change = try change("a")
    #expect(!keychain.wantsAhead(valueOf: SealedAhead.little, for: change, ahead))
    #expect(!keychain.wantsAhead(valueOf: Keychain.maximumValue + 1, for: change, ahead))
    // A change that must not update an existing item is refused.
    let unwilling = ItemChange(name: try name("a"))
    #expect(!keychain.wantsAhead(valueOf: Self.value.count, for: unwilling, ahead) && !seal(unwilling))
  }

  @Test("is the older version that a change makes current again, and no other") func restored() throws {
    let change = try change("a")
    try keychain.set(change, value: secret(Self.value), now: 2000)
    try keychain.set(change, value: secret("short again"), now: 2000)
    let restoring = Revision.restoreVersion(2, of: try name("a"))
    #expect(keychain.sealAhead([restoring], ahead) && !keychain.sealAhead([restoring], ahead))
    #expect(try keychain.restoreVersion(1, of: name("a"), now: 2000, ahead: ahead).number == 4)
    #expect(try keychain.read("a") == Array("short".utf8))
    #expect(keychain.sealAhead([restoring], ahead))
    #expect(try keychain.restoreVersion(2, of: name("a"), now: 2000, ahead: ahead).number == 5)
    #expect(try keychain.read("a") == Self.value)
    #expect(try keychain.verify().isOK)
  }
}
