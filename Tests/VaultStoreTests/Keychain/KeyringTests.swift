import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The facts of a keyring's clients in a store") struct KeyringTests {
  /// The same letter as one character and as two, which Swift takes for equal.
  static let (composed, decomposed) = ("\u{e9}", "e\u{301}")

  static func attributes(_ pairs: (String, String)...) throws(ValueError) -> KeyringAttributes {
    try KeyringAttributes(pairs.map { (key: $0.0, value: $0.1) })
  }

  static func facts(_ number: UInt64, _ attributes: KeyringAttributes, label: String = "") -> KeyringFacts {
    // Later items come before earlier ones.
    KeyringFacts(
      id: KeyringID(number: number), order: 1000 - number, label: label, contentType: "text/plain",
      attributes: attributes)
  }

  /// Items of all classes in two folders, and one that no such client has made.
  static func filled() throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let all = try [
      attributes(("schema", "s"), ("user", "ana"), (composed, "1")),
      attributes(("schema", "s"), ("user", "ana"), (decomposed, "1")),
      attributes(("schema", "s"), ("user", "ben"), ("", ""), ("line\nbreak", "tab\t")), attributes(),
      attributes(("schema", composed)), attributes(("schema", decomposed)),
    ]
    for (index, attributes) in all.enumerated() {
      let change = ItemChange(
        name: try name("secret-service/\(index % 2 == 0 ? "login" : "other")/\(index)"), kind: .note,
        attributes: ["own": "\(index)"], keyring: facts(UInt64(index), attributes, label: "label\n\(index)"),
        accessible: AccessClass.allCases[index % 3])
      try keychain.set(change, value: secret("value \(index)"), now: 2000)
      if index > 3 { try keychain.put(change.name.text, "again \(index)", update: true) }
    }
    try keychain.put("plain", attributes: ["user": "ana"])
    return fixture
  }

  /// The last parts of the names of all matches.
  private func found(_ keychain: Keychain, _ query: Query) throws -> [String] {
    var found: [String] = []
    var after: Int64?
    repeat {
      let page = try keychain.find(query, limit: 2, after: after, now: 2000)
      found += page.items.map { String($0.name.text.split(separator: "/").last ?? "") }
      after = page.next
    } while after != nil
    return found
  }

  private func found(
    _ keychain: Keychain, _ pairs: (String, String)..., within folder: String? = nil
  ) throws -> [String] {
    let attributes = try KeyringAttributes(pairs.map { (key: $0.0, value: $0.1) })
    return try found(keychain, Query(keyring: attributes, within: folder))
  }

  /// The number of tags of a fact of an item.
  private func tags(_ keychain: Keychain, _ fact: Fact) throws -> Int {
    try keychain.database.count(tagged: keychain.tags(fact), limit: 100)
  }

  @Test("items are found by any part of their attributes, to the byte") func search() throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    #expect(try found(keychain) == ["0", "1", "2", "3", "4", "5"])
    #expect(try found(keychain, within: "secret-service/login") == ["0", "2", "4"])
    #expect(try found(keychain, within: "nowhere") == [])
    #expect(try found(keychain, ("user", "ana")) == ["0", "1"])
    #expect(try found(keychain, Query(parsing: "keyring:user=ana")) == ["0", "1"])
    #expect(try found(keychain, Query(parsing: "keyring:user=ana keyring:label~*1")) == ["1"])
    #expect(try found(keychain, Query(parsing: "label")) == ["0", "1", "2", "3", "4", "5"])
    #expect(try found(keychain, ("user", "ana"), within: "secret-service/other") == ["1"])
    #expect(try found(keychain, ("user", "ana"), ("schema", "s"), (Self.composed, "1")) == ["0"])
    #expect(try found(keychain, (Self.decomposed, "1")) == ["1"])
    #expect(try found(keychain, ("schema", Self.composed)) == ["4"])
    #expect(try found(keychain, ("schema", Self.decomposed)) == ["5"])
    #expect(try found(keychain, ("", "")) == ["2"] && found(keychain, ("line\nbreak", "tab\t")) == ["2"])
    for pair in [("schema", "S"), ("schema", ""), ("schema", "s*"), ("own", "0"), ("user", "eve"), ("name", "plain")] {
      #expect(try found(keychain, pair) == [], "\(pair)")
    }
    #expect(try found(keychain, ("user", "ana"), ("own", "0")) == [])
    for number in 0..<6 {
      #expect(try found(keychain, Query(keyringID: KeyringID(number: UInt64(number)))) == ["\(number)"])
    }
    #expect(try found(keychain, Query(keyringID: KeyringID(number: 6))) == [])
    let one = Query(keyringID: KeyringID(number: 1), within: "secret-service/login")
    #expect(try found(keychain, one) == [])
    // The attributes that people search are apart.
    #expect(try keychain.names("user=ana") == ["plain"] && keychain.names("own=0").count == 1)
  }

  @Test("a search by one attribute opens no other items") func narrow() throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    var seen = 0
    _ = try keychain.find(
      Query(keyring: try Self.attributes(("schema", "s"), ("user", "ben"), ("", "")), within: "secret-service"),
      limit: 9, now: 2000,
      isPassedOver: { _ in
        seen += 1
        return false
      })
    #expect(seen == 1)
  }

  @Test("a search by several attributes opens only the items with the rarest one", arguments: [1, 15, 18, 30])
  func rarest(count: Int) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for number in 0..<40 {
      let pairs = [("all", "a"), ("most", number < 35 ? "m" : "n"), ("rare", number < count ? "r" : "\(number)")]
      let facts = Self.facts(UInt64(number), try KeyringAttributes(pairs.map { (key: $0.0, value: $0.1) }))
      let change = ItemChange(name: try name("secret-service/login/\(number)"), kind: .note, keyring: facts)
      try keychain.set(change, value: secret("value"), now: 2000)
    }
    var seen = 0
    let found = try keychain.find(
      Query(keyring: Self.attributes(("all", "a"), ("most", "m"), ("rare", "r")), within: "secret-service"), limit: 99,
      now: 2000,
      isPassedOver: { _ in
        seen += 1
        return false
      })
    #expect(found.items.count == count && seen == count)
  }

  @Test("a new value, name, attribute or policy keeps the facts, and new facts replace all of them")
  func changes() throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    let item = try name("secret-service/login/0")
    let before = try #require(try keychain.item(named: item).keyring)
    try keychain.put(item.text, "new", update: true)
    try keychain.set(ItemChange(name: item, attributes: ["own": "x"], accessible: .always, update: true), now: 3000)
    try keychain.restoreVersion(1, of: item, now: 3000)
    let moved = try name("elsewhere/0")
    try keychain.move(from: item, to: moved, now: 3000)
    #expect(try keychain.item(named: moved).keyring == before)
    #expect(try found(keychain, ("user", "ana"), ("schema", "s")) == ["0", "1"])
    #expect(try keychain.verify().isOK)

    var other = Self.facts(77, try Self.attributes(("user", "eve")), label: "other")
    try keychain.set(ItemChange(name: moved, keyring: other, update: true), now: 3000)
    #expect(try keychain.item(named: moved).keyring == other)
    #expect(try found(keychain, (Self.composed, "1")) == [] && found(keychain, ("user", "eve")) == ["0"])
    #expect(try found(keychain, Query(keyringID: before.id)) == [])
    // A label that only looks the same is another one.
    for label in [Self.composed, Self.decomposed] {
      other.label = label
      try keychain.set(ItemChange(name: moved, keyring: other, update: true), now: 3000)
      #expect(try keychain.item(named: moved).keyring == other)
    }
    // An item that was made without facts gets some.
    try keychain.set(
      ItemChange(name: name("plain"), keyring: Self.facts(78, try Self.attributes(("a", "b"))), update: true), now: 3000
    )
    #expect(try found(keychain, ("a", "b")) == ["plain"])
    #expect(try keychain.text("plain") == "value" && keychain.text(moved.text) == "value 0")
    #expect(try keychain.verify().isOK)
  }

  @Test("an item has 256 attributes and 65,536 bytes of text, and one that has more is refused") func limits() throws {
    let fixture = try Fixture()
    let many = try KeyringAttributes(
      (0..<256).map { (key: "\($0)", value: String(repeating: "v", count: 256 - "\($0)".utf8.count)) })
    let own = Dictionary(uniqueKeysWithValues: (0..<64).map { ("key\($0)", String(repeating: "o", count: 1024)) })
    do {
      let keychain = try fixture.unlocked()
      func put(_ text: String, _ facts: KeyringFacts) throws {
        let change = ItemChange(name: try name(text), kind: .blob, attributes: own, keyring: facts)
        try keychain.set(change, value: secret([UInt8](repeating: 7, count: Keychain.maximumValue)), now: 2000)
      }
      try put("many", Self.facts(1, many))
      try put("label", Self.facts(2, KeyringAttributes(), label: String(repeating: "l", count: 65_536)))
      let refused = [
        Self.facts(3, many, label: "l"),
        Self.facts(3, KeyringAttributes(), label: String(repeating: "l", count: 65_537)),
        Self.facts(3, KeyringAttributes(), label: "\0"),
      ]
      for facts in refused {
        expect(\.isInvalidValue) { try put("more", facts) }
        expect(\.isInvalidValue) {
          try keychain.set(ItemChange(name: name("many"), keyring: facts, update: true), now: 3000)
        }
      }
      #expect(try found(keychain, ("255", many["255"] ?? "")) == ["many"])
      #expect(try keychain.itemCount() == 2 && keychain.verify().isOK)
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.item(named: name("many")).keyring?.attributes == many)
    #expect(try keychain.verify().isOK)
    // A page ends after so much text, and an item with so much is read and not remembered.
    let page = try keychain.find(Query(keyring: KeyringAttributes()), limit: 9, now: 2000)
    #expect(page.items.count == 1 && page.next != nil)
    for _ in 0..<2 { #expect(try keychain.read("many").count == Keychain.maximumValue) }
    try keychain.set(ItemChange(name: name("many"), kind: .blob, update: true), value: secret("short"), now: 3000)
    #expect(try keychain.text("many") == "short" && keychain.bound.recent[name("many")] == nil)
    try keychain.put("short", "short")
    #expect(try keychain.text("short") == "short" && keychain.bound.recent[name("short")] != nil)
    try keychain.delete([name("many"), name("label")])
    #expect(try keychain.verify().isOK)
  }

  @Test("an item in the trash is found by none of its facts, and by all of them when it is back") func trash() throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    let item = try name("secret-service/login/0")
    let before = try keychain.item(named: item)
    let rows = try fixture.rows("tags")
    try keychain.trash([item], now: 3000)
    #expect(try tags(keychain, .keyringID(KeyringID(number: 0))) == 0)
    #expect(try tags(keychain, .keyringAttribute(Self.composed, "1")) == 0)
    // Its name, kind, two folders, own attribute, number and three attributes are gone, and two facts come.
    #expect(try fixture.rows("tags") == rows - 9 + 2)
    #expect(try found(keychain, ("user", "ana")) == ["1"] && found(keychain) == ["1", "2", "3", "4", "5"])
    #expect(try keychain.trashedItem(named: item, found: TrashSearch()).keyring == before.keyring)
    var query = Query(keyring: try Self.attributes(("user", "ana")))
    query.isOfTrash = true
    #expect(try found(keychain, query) == ["0"] && keychain.verify().isOK)
    try keychain.restore(item, now: 4000)
    #expect(try keychain.item(named: item).keyring == before.keyring)
    #expect(try fixture.rows("tags") == rows && found(keychain, ("user", "ana")) == ["0", "1"])
    #expect(try keychain.verify().isOK)
    try keychain.delete([item])
    #expect(try found(keychain, ("user", "ana")) == ["1"] && keychain.verify().isOK)
  }

  @Test("a rekey keeps the facts, and what is found by them", arguments: [1, 1000]) func rekey(records: Int) throws {
    let fixture = try Self.filled()
    do {
      let keychain = try fixture.unlocked()
      let before = try Contents(keychain)
      let rekey = try fixture.rekey(keychain)
      _ = try rekey.step(records: 4)
      // A change that is made meanwhile.
      let late = Self.facts(99, try Self.attributes(("late", Self.decomposed)))
      try keychain.set(ItemChange(name: name("plain"), keyring: late, update: true), now: 3000)
      try rekey.complete(records: records)
      var after = try Contents(keychain)
      #expect(after.items["plain"]?.info.keyring == late)
      after.items["plain"] = before.items["plain"]
      #expect(after == before)
      try keychain.set(ItemChange(name: name("plain"), keyring: late, update: true), now: 3000)
    }
    let keychain = try fixture.open()
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    #expect(
      try found(keychain, ("user", "ana")) == ["0", "1"] && found(keychain, ("late", Self.decomposed)) == ["plain"])
    #expect(try keychain.item(named: name("secret-service/other/5")).keyring?.order == 995)
    #expect(try keychain.verify().isOK)
  }

  @Test("a backup and a salvage keep the facts, and what is found by them") func copies() throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    let before = try Contents(keychain)
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(BackedUp.backup(keychain), vaultKey: fixture.vaultKey, into: target)
    let restored = try target.open()
    try restored.unlock(vaultKey: fixture.vaultKey)
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    while try !salvage.step(items: 2) {}
    #expect(salvage.result.saved == 7 && salvage.result.losses.isEmpty)
    for copy in [restored, salvage.target] {
      #expect(try Contents(copy) == before)
      #expect(try found(copy, ("user", "ana")) == ["0", "1"] && found(copy, ("schema", Self.decomposed)) == ["5"])
      #expect(try found(copy, Query(keyringID: KeyringID(number: 3))) == ["3"] && copy.verify().isOK)
    }
  }

  @Test("a tag that is missing, put in or put elsewhere is noticed", arguments: AccessClass.allCases.indices)
  func edits(index: Int) throws {
    let fact = { (keychain: Keychain) throws -> String in
      // The row is the number of the item, from 1.
      let pair = [(Self.composed, "1"), (Self.decomposed, "1"), ("line\nbreak", "tab\t")][index]
      let tag = try #require(keychain.tag(.keyringAttribute(pair.0, pair.1), AccessClass.allCases[index]))
      return tag.withBytes { bytes in
        (0..<bytes.byteCount).map { String(256 + Int(bytes.byte($0)), radix: 16).dropFirst() }.joined()
      }
    }
    let row = index + 1
    for edit in [
      "DELETE FROM tags WHERE tag = x'TAG'", "UPDATE tags SET item = 7 WHERE tag = x'TAG'",
      "UPDATE tags SET tag = x'80000000000000000000000000000001' WHERE tag = x'TAG'",
      "INSERT INTO tags SELECT tag, 7, class FROM tags WHERE tag = x'TAG'",
    ] {
      let fixture = try Self.filled()
      let tag = try fact(fixture.unlocked())
      try fixture.sql(edit.replacing("TAG", with: tag))
      let result = try fixture.unlocked().verify()
      #expect(!result.isOK, "\(edit)")
      let missing = "the tag by which item \(row) is found by its keyring attributes is missing"
      #expect(result.findings.contains { $0.text == missing } != edit.hasPrefix("INSERT"), "\(edit)")
      #expect(result.findings.contains { $0.text.contains("where it does not belong") } != edit.hasPrefix("DELETE"))
    }
    // The search that meets such a tag does not return the wrong item.
    let fixture = try Self.filled()
    let tag = try fact(fixture.unlocked())
    try fixture.sql("UPDATE tags SET item = 7, class = 1 WHERE tag = x'\(tag)'")
    let keychain = try fixture.unlocked()
    let pair = [(Self.composed, "1"), (Self.decomposed, "1"), ("line\nbreak", "tab\t")][index]
    #expect((try? found(keychain, pair).contains("plain")) != true && keychain.integrity == .failed)
  }
}
