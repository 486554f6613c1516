import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The value that a change seals again, sealed before the change") struct RevisionAheadTests {
  private static let size = 400_000

  private let fixture: Fixture
  private let keychain: Keychain

  /// Makes a vault with an item of two long versions.
  init() throws {
    fixture = try Fixture()
    keychain = try fixture.unlocked()
    for number in 1...2 { try put("a", number) }
  }

  private static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: size) }

  private func put(_ text: String, _ number: Int) throws {
    let change = ItemChange(name: try name(text), kind: .blob, update: true)
    try keychain.set(change, value: secret(Self.value(number)), now: 2000)
  }

  /// A change of the item, and the expected result: the name, and the number of each version with its value.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let revision: @Sendable () throws -> Revision
    /// Makes the change possible.
    var prepare: @Sendable (Keychain) throws -> Void = { _ in }
    let make: @Sendable (Keychain, SealedAhead) throws -> Void
    /// Makes the item readable again after the change.
    var after: @Sendable (Keychain) throws -> Void = { _ in }
    var name = "a"
    var values = [1: 1, 2: 2]
  }

  static let cases = [
    Case(
      testDescription: "a move", revision: { .move(try name("a"), to: try name("b")) },
      make: { try $0.move(from: name("a"), to: name("b"), now: 2000, ahead: $1) }, name: "b"),
    Case(
      testDescription: "an older version that becomes current", revision: { .restoreVersion(1, of: try name("a")) },
      make: { _ = try $0.restoreVersion(1, of: name("a"), now: 2000, ahead: $1) }, values: [1: 1, 2: 2, 3: 1]),
    Case(
      testDescription: "into the trash", revision: { .trash(try name("a")) },
      make: { try $0.trash([name("a")], now: 2000, ahead: $1) },
      after: { try $0.restore(name("a"), now: 2000) }),
    Case(
      testDescription: "out of the trash", revision: { .restore(try name("a"), found: TrashSearch()) },
      prepare: { try $0.trash([name("a")], now: 2000) },
      make: { try $0.restore(name("a"), now: 2000, ahead: $1) }),
  ]

  private func seal(_ revisions: [Revision], _ ahead: SealedAhead) -> Int {
    var parts = 0
    while keychain.sealAhead(revisions, ahead) { parts += 1 }
    return parts
  }

  private func expect(_ values: [Int: Int], of item: String) throws {
    #expect(try keychain.history(of: name(item)).map(\.number) == values.keys.sorted())
    for (version, value) in values { #expect(try keychain.read(item, version: version) == Self.value(value)) }
    #expect(try keychain.verify().isOK)
  }

  @Test("is what the change writes", arguments: cases) func written(_ test: Case) throws {
    try test.prepare(keychain)
    let ahead = SealedAhead()
    #expect(seal([try test.revision()], ahead) >= 1 && ahead.count == 1)
    try test.make(keychain, ahead)
    #expect(ahead.count == 0)
    try test.after(keychain)
    try expect(test.values, of: test.name)
  }

  @Test("does not count once the item has changed", arguments: cases) func changed(_ test: Case) throws {
    try test.prepare(keychain)
    let ahead = SealedAhead()
    #expect(seal([try test.revision()], ahead) >= 1)
    // Everything is as it was at the sealing, except the revision.
    if case .restore = try test.revision() {
      try keychain.restore(name("a"), now: 2000)
      try keychain.trash([name("a")], now: 2000)
    } else {
      try keychain.set(ItemChange(name: name("a"), attributes: ["n": "1"], update: true), now: 2000)
    }
    try test.make(keychain, ahead)
    #expect(ahead.count == 1)
    try test.after(keychain)
    try expect(test.values, of: test.name)
  }

  @Test("does not count under the keys of a rekey", arguments: cases) func rekey(_ test: Case) throws {
    try test.prepare(keychain)
    let ahead = SealedAhead()
    #expect(seal([try test.revision()], ahead) >= 1)
    try fixture.rekey(keychain).complete()
    try test.make(keychain, ahead)
    #expect(ahead.count == 1)
    try test.after(keychain)
    try expect(test.values, of: test.name)
  }

  @Test("is neither sealed nor written while the vault is locked", arguments: cases) func locked(_ test: Case) throws {
    try test.prepare(keychain)
    let ahead = SealedAhead()
    #expect(seal([try test.revision()], ahead) >= 1)
    keychain.lock(hidingNames: false)
    #expect(!keychain.sealAhead([try test.revision()], SealedAhead()))
    #expect(throws: VaultError.locked) { try test.make(keychain, ahead) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try test.make(keychain, ahead)
    try test.after(keychain)
    try expect(test.values, of: test.name)
  }

  @Test("is not sealed for a change that will be refused") func refused() throws {
    try put("b", 3)
    let (a, b, none) = (try name("a"), try name("b"), try name("none"))
    for revision in [
      Revision.move(a, to: b), .move(none, to: try name("c")), .restoreVersion(7, of: a), .trash(none),
      .restore(a, found: TrashSearch()),
    ] {
      #expect(!keychain.sealAhead([revision], SealedAhead()), "\(revision)")
    }
    try keychain.trash([a], now: 2000)
    try put("a", 4)
    // Another item has the name now.
    #expect(!keychain.sealAhead([.restore(a, found: TrashSearch())], SealedAhead()))
  }

  @Test("is sealed for all items that go into the trash together, and counts for each of them") func many() throws {
    let names = try ["a", "b", "c", "d"].map { try name($0) }
    for (number, name) in names.enumerated().dropFirst() { try put(name.text, number + 2) }
    let ahead = SealedAhead()
    #expect(keychain.sealAhead(names.map { .trash($0) }, ahead) && ahead.count == 2)
    #expect(keychain.sealAhead(names.map { .trash($0) }, ahead) && ahead.count == 4)
    #expect(!keychain.sealAhead(names.map { .trash($0) }, ahead))
    // One of the items changes; the others are used as they were sealed.
    try put("d", 7)
    try keychain.trash(names, now: 2000, ahead: ahead)
    #expect(ahead.count == 1)
    for name in names { try keychain.restore(name, now: 2000) }
    for (item, value) in [("a", 2), ("b", 3), ("c", 4), ("d", 7)] {
      #expect(try keychain.read(item) == Self.value(value))
    }
    #expect(try keychain.verify().isOK)
  }
}
