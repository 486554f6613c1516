import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Repeated reads of an item always answer from the store's current state, whatever was read before.
@Suite struct RepeatedReadTests {
  @Test("each change shows in the next read", arguments: [1, 2])
  func changes(reads: Int) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let expect = { (text: String, value: String?) in
      for _ in 0..<reads { #expect((try? keychain.text(text)) == value) }
    }
    try keychain.put("a", "one", attributes: ["k": "1"])
    expect("a", "one")
    try keychain.put("a", "two", update: true)
    expect("a", "two")
    try keychain.set(ItemChange(name: name("a"), attributes: ["k": "2"], update: true), now: 2000)
    let attribute = try keychain.withValue(of: name("a"), now: 2000) { item, _, _ in item.attributes["k"] }
    #expect(attribute == "2")
    try keychain.set(ItemChange(name: name("a"), accessible: .always, update: true), now: 2000)
    expect("a", "two")
    try keychain.move(from: name("a"), to: name("b"), now: 2000)
    expect("a", nil)
    expect("b", "two")
    try keychain.put("a", "another", accessible: .afterFirstUnlock)
    expect("a", "another")
    try keychain.delete([name("a"), name("b")])
    expect("a", nil)
    expect("b", nil)
    #expect(throws: VaultError.noSuchItem) { try keychain.text("a") }
    try keychain.put("b", "short", expires: 3000)
    expect("b", "short")
    #expect(throws: VaultError.expired(3000)) { try keychain.text("b", now: 3000) }
  }

  @Test("a value that may not be had is not opened, whether it was read before or not") func notAllowed() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("a", "value", require: .password)
    }
    // Opening the value would reveal the damage.
    try fixture.sql("UPDATE heads SET value = zeroblob(length(value))")
    let keychain = try fixture.unlocked()
    var asked: [Requirement] = []
    let refuse = { (item: ItemInfo) -> Decision in
      asked.append(item.policy.require)
      return .ask
    }
    #expect(throws: VaultError.notAllowed(.ask)) {
      try keychain.withValue(
        of: name("a"), now: 2000,
        if: refuse
      ) { _, _, _ in Issue.record("the value was lent") }
    }
    #expect(asked == [.password])
    #expect { try keychain.text("a") } throws: { if case VaultError.corrupt = $0 { true } else { false } }

    // An item that was read before is looked up in another way.
    let other = try Fixture()
    let again = try other.unlocked()
    try again.put("b", "value")
    #expect(try again.text("b") == "value")
    for _ in 0..<2 {
      #expect(throws: VaultError.notAllowed(.ask)) {
        try again.withValue(of: name("b"), now: 2000, if: refuse) { _, _, _ in
          Issue.record("the value was lent")
        }
      }
    }
  }

  @Test("what was read inside a transaction that failed is not there afterwards")
  func rolledBack() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one")
    let change = ItemChange(name: try name("a"), update: true)
    #expect(try keychain.text("a") == "one")
    var inside: String?
    #expect(throws: VaultError.noSuchItem) {
      try keychain.transaction { () throws(VaultError) in
        try keychain.set(change, value: secret("two"), now: 2000)
        inside = try? keychain.text("a")
        throw .noSuchItem
      }
    }
    #expect(inside == "two")
    // The next change gets the version number of the change that was undone.
    #expect(try keychain.set(change, value: secret("three"), now: 2000).number == 2)
    #expect(try keychain.text("a") == "three")
    #expect(try keychain.text("a", version: 1) == "one")
  }

  @Test("what was read while unlocked is not told while locked, and names not once they are hidden")
  func locked() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one")
    try keychain.put("b", "two", accessible: .always)
    #expect(try keychain.text("a") == "one" && keychain.text("b") == "two")
    for hiding in [false, true] {
      keychain.lock(hidingNames: hiding)
      #expect(throws: VaultError.locked) { try keychain.text("a") }
      #expect(try keychain.text("b") == "two")
    }
    keychain.wipe()
    #expect(throws: VaultError.locked) { try keychain.text("b") }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.text("a") == "one")
  }

  @Test("nothing of what was read is kept beyond a lock that hides names or takes all keys of another class, or a wipe")
  func forgotten() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one")
    let isKept = { try keychain.bound.recent[name("a")] != nil }
    let ends: [(hasNames: Bool, () -> Void)] = [
      (true, { keychain.lock(hidingNames: false) }), (false, { keychain.lock(hidingNames: true) }),
      (false, { keychain.lock(hidingNames: false, keepingAfterFirstUnlock: false) }), (false, { keychain.wipe() }),
    ]
    for (index, end) in ends.enumerated() {
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(try keychain.text("a") == "one")
      #expect(try isKept())
      end.1()
      #expect(try isKept() == end.hasNames, "\(index)")
    }
  }

  @Test("many items read in turn are never taken for each other")
  func many() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.transaction { () throws(VaultError) in
      for index in 0..<600 {
        guard let name = try? ItemName("item \(index)") else { continue }
        try keychain.set(ItemChange(name: name, kind: .note), value: secret("\(index)"), now: 2000)
      }
    }
    for _ in 0..<3 {
      for index in 0..<600 { #expect(try keychain.text("item \(index)") == "\(index)") }
    }
  }
}
