import Testing
import VaultBytes
import VaultModel
import VaultStore

@testable import VaultService

@Suite("An item with facts for a keyring's clients") struct KeyringItemTests {
  private let stand: RoomStand
  private let facts: KeyringFacts

  init() throws {
    stand = try RoomStand.unlocked()
    facts = KeyringFacts(
      id: KeyringID(number: 7), order: 5, label: "label", contentType: "text/plain",
      attributes: try KeyringAttributes([(key: "user", value: "ana"), (key: "\u{e9}", value: "")]))
    try set("source", facts)
  }

  private func set(_ name: String, _ facts: KeyringFacts?) throws {
    try set([ItemChange(name: try ItemName(name), keyring: facts, update: true)], "value")
  }

  private func set(_ changes: [ItemChange], _ value: String) throws {
    _ = try stand.items.set(
      changes.map { ($0, NewValue.bytes(count: value.utf8.count)) }, for: stand.administrator
    ) { _, out in
      out.copy(unsafe Array(value.utf8).span.bytes)
      return true
    }
  }

  private func item(_ name: String) throws -> ItemInfo { try stand.vault.keychain().item(named: ItemName(name)) }

  private func copy(_ source: String, _ target: String) throws {
    _ = try stand.items.copy(
      ItemName(source), to: ItemName(target), replacing: true, evenExpired: false, for: stand.administrator)
  }

  private func isCopied(_ source: String, _ target: String) -> Bool {
    (try? stand.items.copied(ItemName(source), to: ItemName(target), evenExpired: false, for: stand.administrator))
      != nil
  }

  @Test("is copied with its facts, under a number of its own, and moved with its number") func copies() throws {
    try copy("source", "copy")
    let copied = try #require(try item("copy").keyring)
    #expect(copied.id != facts.id && copied.order > facts.order && isCopied("source", "copy"))
    #expect(copied.copied(as: facts.id, order: facts.order) == facts)
    // The copy keeps its number and its place when it is replaced.
    var changed = facts
    (changed.label, changed.order) = ("other", 6)
    try set("source", changed)
    #expect(!isCopied("source", "copy"))
    try copy("source", "copy")
    #expect(
      try item("copy").keyring == changed.copied(as: copied.id, order: copied.order) && isCopied("source", "copy"))
    // A source without facts leaves those of the target.
    try set("plain", nil)
    try copy("plain", "copy")
    #expect(try item("copy").keyring == changed.copied(as: copied.id, order: copied.order) && isCopied("plain", "copy"))
    #expect(!isCopied("source", "plain"))
    try stand.items.move(ItemName("source"), to: ItemName("moved"), for: stand.administrator)
    #expect(try item("moved").keyring == changed)
  }

  @Test("weighs as much as its attributes and texts, whether it is made, changed or deleted") func weight() throws {
    func change(_ number: Int, attributes: Int, bytes: Int = 0) throws -> ItemChange {
      var facts = facts
      facts.label = String(repeating: "l", count: bytes)
      facts.attributes = try KeyringAttributes((0..<attributes).map { (key: "\($0)", value: "") })
      return ItemChange(name: try ItemName("many\(number)"), keyring: facts)
    }
    func isTooMuch(_ changes: [ItemChange]) -> Bool {
      do { try set(changes, "v") } catch let error as BatchRefusal {
        if case .tooMuch = error.refusal { return true }
      } catch { Issue.record(error) }
      return false
    }
    // An item with 250 attributes takes about a ninth of a call's time.
    #expect(try isTooMuch((0..<9).map { try change($0, attributes: 250) }))
    #expect(try !isTooMuch((0..<8).map { try change($0, attributes: 250) }))
    #expect(try !isTooMuch([change(8, attributes: 250)]))
    #expect(try isTooMuch([change(20, attributes: 0, bytes: 40_000), change(21, attributes: 0, bytes: 30_000)]))
    #expect(try !isTooMuch([change(20, attributes: 0, bytes: 65_536)]))
    func delete(_ numbers: some Sequence<Int>) throws {
      _ = try stand.items.delete(
        numbers.map { try ItemName("many\($0)") }, isForGood: true, for: stand.administrator)
    }
    let refused = { (error: any Error) in if case .tooMuch? = error as? Refusal { true } else { false } }
    #expect(performing: { try delete(0..<9) }, throws: refused)
    #expect(performing: { try delete([8, 20]) }, throws: refused)
    try delete(0..<8)
    try delete([8])
    try delete([20])
  }

  @Test("gets other facts only from a caller who may change more than its value") func rights() throws {
    let stand = try RoomStand.unlocked(system: true)
    func set(_ facts: KeyringFacts?, for caller: Caller) throws {
      let change = ItemChange(name: try ItemName("source"), keyring: facts, update: true)
      _ = try stand.items.set(change, .bytes(count: 1), for: caller) { out in
        out.copy(unsafe [7 as UInt8].span.bytes)
        return true
      }
    }
    try set(facts, for: stand.administrator)
    _ = try stand.access.give(
      Subject(parsing: "user:990"), ItemPattern("**"), Rights(parsing: "set"), until: nil,
      for: stand.administrator)
    let caller = RoomStand.caller(990)
    try set(nil, for: caller)
    var other = facts
    other.label = "other"
    #expect(throws: Refusal.denied("you may not do this")) { try set(other, for: caller) }
    let found = try stand.vault.keychain().item(named: ItemName("source"))
    #expect(found.keyring == facts && found.current.number == 2)
  }

  @Test("is one of few on a page, also for a caller who may find single items") func pages() throws {
    let stand = try RoomStand.unlocked(system: true)
    for number in 0..<5 {
      let name = "item \(number)"
      var facts = facts
      facts.label = String(repeating: "l", count: 30_000)
      _ = try stand.items.set(
        ItemChange(name: ItemName(name), keyring: facts), .bytes(count: 1), for: stand.administrator
      ) { out in
        out.copy(unsafe [7 as UInt8].span.bytes)
        return true
      }
      _ = try stand.access.give(
        Subject(parsing: "user:990"), ItemPattern(name), Rights(parsing: "find"), until: nil, for: stand.administrator)
    }
    for caller in [stand.administrator, RoomStand.caller(990)] {
      var (sizes, after): ([Int], SearchPlace?) = ([], nil)
      repeat {
        let page = try stand.items.find(
          Query(keyring: KeyringAttributes()), limit: 100, after: after, until: .max, for: caller)
        sizes.append(page.items.count)
        after = page.next
      } while after != nil
      #expect(sizes == [3, 2])
    }
  }

  @Test("is an updated one for watchers from its second change on, also while its first version stays") func told()
    throws
  {
    var told: [String] = []
    stand.vault.hooks.announce = {
      if case .item(let name, let change, _, _, _) = $0 { told.append("\(name) \(change)") }
    }
    try set("new", facts)
    for label in ["a", "b"] {
      var new = facts
      new.label = label
      let change = ItemChange(name: try ItemName("new"), keyring: new, update: true)
      _ = try stand.items.set([(change, NewValue.same)], for: stand.administrator) { _, _ in true }
    }
    #expect(told == ["new created", "new updated", "new updated"])
    #expect(try item("new").versions.map(\.number) == [1])
  }
}
