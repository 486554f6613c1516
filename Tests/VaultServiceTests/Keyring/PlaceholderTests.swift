import Testing
import VaultModel

@testable import VaultService

@Suite("A search that waits for an unlock") struct PlaceholderTests {
  private final class Program {}

  @Test("stands for its first match after the unlock, and for nothing without one") func matches() throws {
    let stand = try KeyringStand()
    try stand.make("2", "x", [("b", "2")])
    let first = try stand.make("1", "x", [("a", "1"), ("b", "1")])
    try stand.make("3", "x", [("a", "1")])
    try stand.restart()
    let program = Program()
    func path(_ attributes: [(key: String, value: String)], in collection: CollectionID? = nil) throws -> KeyringPath {
      try stand.keyring.placeholder(for: try KeyringStand.attributes(attributes), in: collection, program)
    }
    let (found, missing) = (try path([("a", "1")]), try path([("a", "2")]))
    #expect(found.collection == missing.collection && found != missing)
    for path in [found, missing] {
      #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
      #expect(!stand.keyring.serves(.item(path), stand.program) && stand.keyring.mayBeServed(.item(path)))
      // libsecret takes an item whose properties cannot be read for none.
      let item = try stand.keyring.item(path, for: stand.program)
      #expect(item.isLocked && item.label == "" && item.attributes.entries.isEmpty)
      #expect(stand.keyring.changedItem(path, for: stand.program) == nil)
    }
    try stand.rooms.unlock()
    #expect(try stand.value(found) == (try stand.value(first)))
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(missing) }
    #expect(stand.keyring.changedItem(found, for: stand.program)?.attributes["b"] == "1")
    #expect(stand.keyring.changedItem(missing, for: stand.program) == nil)
    for path in [found, missing] { #expect(stand.keyring.serves(.item(path), stand.program)) }
    stand.keyring.forgetSearches(of: program)
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(found) }
  }

  @Test("is limited in size for each program") func limit() throws {
    let stand = try KeyringStand()
    try stand.restart()
    let (one, other) = (Program(), Program())
    let attributes = try KeyringStand.attributes([("a", String(repeating: "x", count: 60_000))])
    for _ in 0..<17 { _ = try stand.keyring.placeholder(for: attributes, in: nil, one) }
    #expect(throws: KeyringFault.self) { try stand.keyring.placeholder(for: attributes, in: nil, one) }
    _ = try stand.keyring.placeholder(for: attributes, in: nil, other)
  }
}
