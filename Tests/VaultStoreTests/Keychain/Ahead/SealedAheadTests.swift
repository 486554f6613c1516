import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("Versions that are sealed before the change that needs them") struct SealedAheadTests {
  private static let size = 400_000

  private let fixture: Fixture
  private let keychain: Keychain
  private let change: ItemChange

  /// Makes a vault with an item of three long versions.
  init() throws {
    fixture = try Fixture()
    keychain = try fixture.unlocked()
    change = ItemChange(name: try name("a"), accessible: .afterFirstUnlock, update: true)
    for number in 1...3 { try put(number) }
  }

  private static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: size) }

  private func put(_ number: Int) throws {
    let change = ItemChange(name: try name("a"), kind: .blob, update: true)
    try keychain.set(change, value: secret(Self.value(number)), now: 2000)
  }

  /// Seals everything that the change will need, and returns the number of parts.
  private func seal(_ ahead: SealedAhead, hasNewValue: Bool = false) -> Int {
    var parts = 0
    while keychain.sealAhead([.set(change, hasNewValue: hasNewValue)], ahead) { parts += 1 }
    return parts
  }

  private func expectValues(_ numbers: ClosedRange<Int>, of accessible: AccessClass = .afterFirstUnlock) throws {
    let item = try keychain.item(named: name("a"))
    #expect(item.policy.accessible == accessible && item.versions.map(\.number) == Array(numbers))
    for number in numbers { #expect(try keychain.read("a", version: number) == Self.value(number), "\(number)") }
    #expect(try keychain.verify().isOK)
  }

  @Test("are sealed in parts of at most a MiB, and are what the change writes") func parts() throws {
    let ahead = SealedAhead()
    #expect(keychain.sealAhead([.set(change, hasNewValue: false)], ahead) && ahead.count == 2)
    #expect(keychain.sealAhead([.set(change, hasNewValue: false)], ahead) && ahead.count == 3)
    #expect(!keychain.sealAhead([.set(change, hasNewValue: false)], ahead))
    // Nothing has changed so far.
    try expectValues(1...3, of: .whenUnlocked)
    #expect(try keychain.set(change, now: 2000, ahead: ahead).number == 3)
    #expect(ahead.count == 0)
    try expectValues(1...3)
    keychain.lock(hidingNames: false)
    #expect(try keychain.read("a", version: 1) == Self.value(1))
  }

  @Test("are those that stay, where the change also brings a value") func newValue() throws {
    let ahead = SealedAhead()
    // The first version is dropped: all three together would exceed what is kept beside the new one.
    #expect(seal(ahead, hasNewValue: true) == 1 && ahead.count == 2)
    try keychain.set(change, value: secret(Self.value(4)), now: 2000, ahead: ahead)
    #expect(ahead.count == 0)
    try expectValues(2...4)
  }

  @Test("are none where all of it is little, or nothing is sealed again") func little() throws {
    try keychain.put("b", "little")
    let small = ItemChange(name: try name("b"), accessible: .always, update: true)
    #expect(!keychain.sealAhead([.set(small, hasNewValue: false)], SealedAhead()))
    let new = ItemChange(name: try name("c"), accessible: .always, update: true)
    #expect(!keychain.sealAhead([.set(new, hasNewValue: true)], SealedAhead()))
    // A change that must not update an existing item is refused.
    let unwilling = ItemChange(name: try name("a"), accessible: .always)
    #expect(!keychain.sealAhead([.set(unwilling, hasNewValue: false)], SealedAhead()))
  }

  @Test("do not count once the item has another policy") func otherPolicy() throws {
    let ahead = SealedAhead()
    #expect(seal(ahead) == 2)
    try keychain.set(ItemChange(name: name("a"), require: .password, update: true), now: 2000)
    try keychain.set(change, now: 2000, ahead: ahead)
    #expect(ahead.count == 3)
    try expectValues(1...3)
  }

  @Test("do not count once a value goes on within its version") func amended() throws {
    let ahead = SealedAhead()
    #expect(seal(ahead) == 2)
    try keychain.amend(name("a"), value: secret([7]), now: 2000)
    try keychain.set(change, now: 2000, ahead: ahead)
    #expect(try keychain.read("a") == [7])
    #expect(try keychain.verify().isOK)
  }

  @Test("do not count for another item of the same name") func anotherItem() throws {
    let ahead = SealedAhead()
    #expect(seal(ahead) == 2)
    try keychain.delete([name("a")])
    expect(\.isInvalidValue) { try keychain.set(change, now: 2000, ahead: ahead) }
    for number in 1...3 { try put(number) }
    try keychain.set(change, now: 2000, ahead: ahead)
    #expect(ahead.count == 3)
    try expectValues(1...3)
  }

  @Test("do not count for another change than the one that they were sealed for") func anotherChange() throws {
    let ahead = SealedAhead()
    #expect(seal(ahead) == 2)
    try keychain.set(ItemChange(name: name("a"), accessible: .always, update: true), now: 2000, ahead: ahead)
    #expect(ahead.count == 3)
    try expectValues(1...3, of: .always)
  }

  @Test("do not count under the keys of a rekey") func rekey() throws {
    let ahead = SealedAhead()
    #expect(seal(ahead) == 2)
    try fixture.rekey(keychain).complete()
    try keychain.set(change, now: 2000, ahead: ahead)
    #expect(ahead.count == 3)
    try expectValues(1...3)
  }

  @Test("are not sealed, nor written, while the item's class or its next one is locked") func locked() throws {
    let ahead = SealedAhead()
    #expect(keychain.sealAhead([.set(change, hasNewValue: false)], ahead))
    keychain.lock(hidingNames: false)
    #expect(!keychain.sealAhead([.set(change, hasNewValue: false)], ahead))
    #expect(throws: VaultError.locked) { try keychain.set(change, now: 2000, ahead: ahead) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(seal(ahead) == 1)
    try keychain.set(change, now: 2000, ahead: ahead)
    try expectValues(1...3)
  }

  @Test("are no longer sealed where others change the item again and again, so that the change is made one day")
  func others() throws {
    let ahead = SealedAhead()
    var parts = 0
    while keychain.sealAhead([.set(change, hasNewValue: false)], ahead) {
      parts += 1
      try keychain.set(ItemChange(name: name("a"), attributes: ["part": "\(parts)"], update: true), now: 2000)
      try #require(parts <= SealedAhead.mostParts)
    }
    #expect(parts == SealedAhead.mostParts)
    try keychain.set(change, now: 2000, ahead: ahead)
    try expectValues(1...3)
  }

  @Test("are checked by the change itself where what they have to go with changes") func checked() throws {
    var change = change
    change.kind = .tlsKey
    let ahead = SealedAhead()
    #expect(keychain.sealAhead([.set(change, hasNewValue: false)], ahead) && ahead.count == 2)
    while keychain.sealAhead([.set(change, hasNewValue: false)], ahead) {}
    #expect(ahead.count == 2)
    expect(\.isInvalidValue) { try keychain.set(change, now: 2000, ahead: ahead) }
    try expectValues(1...3, of: .whenUnlocked)
  }
}
