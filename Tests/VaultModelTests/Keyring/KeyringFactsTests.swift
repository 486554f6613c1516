import Testing

@testable import VaultModel

@Suite("The facts of a keyring's clients") struct KeyringFactsTests {
  /// The same letter as one character and as two, which Swift takes for equal.
  private static let (composed, decomposed) = ("\u{e9}", "e\u{301}")

  private func attributes(_ pairs: (String, String)...) throws(ValueError) -> KeyringAttributes {
    try KeyringAttributes(pairs.map { (key: $0.0, value: $0.1) })
  }

  private func many(_ count: Int, bytes: Int = 3) throws(ValueError) -> KeyringAttributes {
    try KeyringAttributes(
      (0..<count).map { number in
        let key = String(number)
        return (key: key, value: String(repeating: "x", count: bytes - key.utf8.count))
      })
  }

  @Test("Attributes are any text without NUL, in the order of their keys' bytes") func anyText() throws {
    let all = try attributes(
      ("xdg:schema", "a"), ("", ""), ("name", "line\nbreak\r\n"), ("E-Mail address", "tab\t\u{1b}[1m"),
      ("\u{7f}", "\""),
      (Self.decomposed, "two"), (Self.composed, "one"), ("version", "\u{202e}"))
    let keys = ["", "E-Mail address", Self.decomposed, "name", "version", "xdg:schema", "\u{7f}", Self.composed]
    #expect(all.entries.map { Array($0.key.utf8) } == keys.map { Array($0.utf8) })
    #expect(all[Self.composed] == "one" && all[Self.decomposed] == "two" && all["other"] == nil)
    #expect(throws: ValueError.self) { try attributes(("a", "\0")) }
    #expect(throws: ValueError.self) { try attributes(("a\0b", "")) }
    #expect(throws: ValueError.self) { try attributes(("a", "1"), ("b", "2"), ("a", "1")) }
  }

  @Test("Texts are the same only if their bytes are") func sameBytes() throws {
    #expect(try attributes(("a", Self.composed)) != attributes(("a", Self.decomposed)))
    #expect(try attributes((Self.composed, "a")) != attributes((Self.decomposed, "a")))
    #expect(try attributes(("a", "b")).hashValue == attributes(("a", "b")).hashValue)
    let facts = KeyringFacts(id: KeyringID(number: 1), order: 2, label: Self.composed, contentType: Self.composed)
    var other = facts
    #expect(other == facts && other.hashValue == facts.hashValue)
    other.label = Self.decomposed
    #expect(other != facts)
    other = facts
    other.contentType = Self.decomposed
    #expect(other != facts)
    other = facts
    other.order = 3
    #expect(other != facts && other.copied(as: facts.id, order: facts.order) == facts)
  }

  @Test("There are 256 attributes, 65,536 bytes of text, 255 bytes of content type, and no more") func limits() throws {
    #expect(try many(256).entries.count == 256)
    #expect(throws: ValueError.self) { try many(257) }
    #expect(try many(256, bytes: 256).textBytes == 65_536)
    #expect(throws: ValueError.self) { try many(255, bytes: 258) }
    #expect(try attributes(("", String(repeating: "x", count: 65_536))).textBytes == 65_536)
    #expect(throws: ValueError.self) { try attributes(("k", String(repeating: "x", count: 65_536))) }

    var facts = KeyringFacts(id: KeyringID(number: 1), order: 0, attributes: try many(255, bytes: 256))
    facts.label = String(repeating: "l", count: 256)
    facts.contentType = String(repeating: "t", count: 255)
    try facts.validate()
    #expect(facts.textBytes == 65_536 + 255)
    facts.label += "l"
    #expect(throws: ValueError.self) { try facts.validate() }
    facts.label = "\0"
    #expect(throws: ValueError.self) { try facts.validate() }
    facts.label = ""
    for type in ["\0", String(repeating: "t", count: 256)] {
      facts.contentType = type
      #expect(throws: ValueError.self) { try facts.validate() }
    }
  }

  @Test("Attributes contain those of which each is there with that value") func contains() throws {
    let all = try attributes(("a", "1"), ("b", "2"), ("c", "3"), (Self.composed, "4"))
    for wanted in [
      try attributes(), all, try attributes(("c", "3"), ("a", "1")), try attributes((Self.composed, "4")),
    ] { #expect(all.contains(wanted)) }
    for wanted in [
      try attributes(("a", "2")), try attributes(("d", "1")), try attributes(("a", "1"), ("b", "2"), ("d", "")),
      try attributes((Self.decomposed, "4")), try attributes(("A", "1")), try attributes(("a", "")),
    ] { #expect(!all.contains(wanted)) }
    #expect(try attributes().contains(attributes()) && !attributes().contains(all))
  }

  @Test("A number is 16 lowercase hexadecimal digits") func number() {
    for (number, text) in [
      (0, "0000000000000000"), (1, "0000000000000001"), (.max, "ffffffffffffffff"),
      (0x0123_4567_89ab_cdef, "0123456789abcdef"),
    ] as [(UInt64, String)] {
      #expect(KeyringID(number: number).text == text && KeyringID(text)?.number == number)
    }
    for text in [
      "", "0", "000000000000000", "00000000000000000", "000000000000000A", "000000000000000g", "+00000000000000f",
      "00000000000000é", " 000000000000000",
    ] { #expect(KeyringID(text) == nil, "\(text)") }
  }

  @Test("A query finds an item by any part of its attributes, by its number, and by having such facts at all")
  func queries() throws {
    var item = try Fixture.item("secret-service/login/x")
    #expect(!Query(keyring: try attributes()).matches(item, now: 0))
    item.keyring = KeyringFacts(
      id: KeyringID(number: 7), order: 1, attributes: try attributes(("a", "1"), ("b", "2"), (Self.composed, "")))
    for query in [
      Query(keyring: try attributes()), Query(keyring: try attributes(("b", "2"))),
      Query(keyring: try attributes(("a", "1"), (Self.composed, "")), within: "secret-service"),
      Query(keyringID: KeyringID(number: 7)), Query(keyringID: KeyringID(number: 7), within: "secret-service/login"),
    ] { #expect(query.matches(item, now: 0)) }
    for query in [
      Query(keyring: try attributes(("a", "2"))), Query(keyring: try attributes((Self.decomposed, ""))),
      Query(keyring: try attributes(), within: "secret-service/other"), Query(keyringID: KeyringID(number: 8)),
      Query(keyringID: KeyringID(number: 7), within: "other"),
    ] { #expect(!query.matches(item, now: 0)) }
    // The item's own attributes are others.
    #expect(!Query(keyring: try attributes(("owner", "ana"))).matches(item, now: 0))
    #expect(try !Query(parsing: "a=1").matches(item, now: 0))
    let query = Query(keyring: try attributes(("b", "2"), ("a", "1")), within: "f")
    #expect(query.keyringAttributes.map(\.key) == ["a", "b"] && query.folder == "f" && query.equalities.isEmpty)
    #expect(Query(keyringID: KeyringID(number: 7)).keyringID?.number == 7 && query.keyringID == nil)
  }

  @Test("One call's limits count a keyring's attributes and number as attributes, and its texts as text")
  func callLimits() throws {
    let facts = KeyringFacts(
      id: KeyringID(number: 7), order: 1, label: "lab", contentType: "ty",
      attributes: try attributes(("k", "v"), ("l", "")))
    #expect(CallLimits.time(name: "a/b", ["x": "y"], facts) == (1 + 1 + 3) * CallLimits.timeOfTag)
    #expect(CallLimits.text(name: "a/b", ["x": "y"], facts) == 3 + 2 + 3 + 2 + 3)
    #expect(CallLimits.time(name: "a/b", nil) == CallLimits.timeOfTag && CallLimits.text(name: "a/b", nil) == 3)
  }

  @Test("A change that sets facts changes more than the value, and one without them keeps them") func change() throws {
    let facts = KeyringFacts(id: KeyringID(number: 7), order: 1)
    let item = try Fixture.item()
    let setting = ItemChange(name: item.name, keyring: facts)
    #expect(setting.changesMoreThanValue && !setting.changesPolicy && setting.applied(to: item).keyring == facts)
    #expect(ItemChange(name: item.name).applied(to: setting.applied(to: item)).keyring == facts)
  }
}
