import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct FindTests {
  private func filled() throws -> (Fixture, Keychain) {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("iot/house/door", kind: .note, attributes: ["owner": "ana", "floor": "1"])
    try keychain.put("iot/house/lamp", kind: .blob, attributes: ["owner": "ben"], accessible: .afterFirstUnlock)
    try keychain.put("iot/shed/lock", kind: .note, attributes: ["owner": "ana"], accessible: .always)
    try keychain.put("iot", kind: .password, attributes: ["empty": ""])
    try keychain.put("mail/ana", kind: .password, expires: 5000)
    return (fixture, keychain)
  }

  @Test(
    "items are found through every index and by looking at all",
    arguments: [
      ("", ["iot/house/door", "iot/house/lamp", "iot/shed/lock", "iot", "mail/ana"]),
      ("name=iot", ["iot"]), ("name=iot/house", []), ("name=nobody", []),
      ("name~iot/**", ["iot/house/door", "iot/house/lamp", "iot/shed/lock"]),
      ("name~iot/house/*", ["iot/house/door", "iot/house/lamp"]),
      ("name~iot/house/l*", ["iot/house/lamp"]),
      ("owner=ana", ["iot/house/door", "iot/shed/lock"]), ("owner=nobody", []), ("owner=Ana", []),
      ("owner=ana floor=1", ["iot/house/door"]), ("owner=ana name~iot/shed/*", ["iot/shed/lock"]),
      ("owner=ben owner=ana", []), ("empty=\"\"", ["iot"]),
      ("kind=note", ["iot/house/door", "iot/shed/lock"]), ("kind=note owner=ana name~iot/house/*", ["iot/house/door"]),
      ("kind=totp", []), ("owner!=ana", ["iot/house/lamp", "iot", "mail/ana"]),
      ("accessible=always", ["iot/shed/lock"]), ("expires<2h", ["mail/ana"]), ("lamp", ["iot/house/lamp"]),
      ("owner~a*", ["iot/house/door", "iot/shed/lock"]),
    ] as [(String, [String])])
  func queries(query: String, expected: [String]) throws {
    let (_, keychain) = try filled()
    #expect(try keychain.names(query) == expected)
  }

  @Test("a search of an area looks at nothing outside of it, whatever it asks for") func areas() throws {
    let (_, keychain) = try filled()
    for query in ["", "owner=ben", "kind=blob", "name~mail/*", "name=mail/ana", "empty=\"\""] {
      for area in [SearchArea.folder("iot/shed"), .name(try ItemName("iot/shed/lock"))] {
        var seen: [String] = []
        _ = try keychain.find(try Query(parsing: query), in: area, limit: 9, now: 1000) { item in
          seen.append(item.name.text)
          return .allow
        }
        #expect(seen.allSatisfy { $0 == "iot/shed/lock" }, "\(query)")
      }
    }
  }

  @Test(
    "pages follow each other without gap or repetition", arguments: ["", "owner=ana", "name~f/**", "name~**7*"],
    [1, 3, 100])
  func pages(query: String, limit: Int) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    var expected: [String] = []
    let parsed = try Query(parsing: query)
    for index in 0..<40 {
      let accessible = AccessClass.allCases[index % 3]
      try keychain.put("f/item\(index)", attributes: index % 2 == 0 ? ["owner": "ana"] : nil, accessible: accessible)
      if parsed.matches(try keychain.item(named: name("f/item\(index)")), now: 2000) {
        expected.append("f/item\(index)")
      }
    }
    var found: [String] = []
    var after: Int64?
    var pages = 0
    repeat {
      let page = try keychain.find(parsed, limit: limit, after: after, now: 2000, examining: 7)
      #expect(page.items.count <= limit)
      found += page.items.map(\.name.text)
      after = page.next
      pages += 1
    } while after != nil
    #expect(found == expected)
    #expect(pages >= (expected.count + limit - 1) / limit)
  }

  @Test("a page ends when its time is up, and gets on by one item at least", arguments: ["", "owner=ana", "name~**x"])
  func timeIsUp(query: String) throws {
    let (_, keychain) = try filled()
    let parsed = try Query(parsing: query)
    var found: [String] = []
    var after: Int64?
    var pages = 0
    repeat {
      let page = try keychain.find(parsed, limit: 100, after: after, now: 2000, isTimeUp: { true })
      #expect(page.items.count <= 1)
      found += page.items.map(\.name.text)
      after = page.next
      pages += 1
    } while after != nil
    #expect(try found == keychain.names(query))
    #expect(pages == (query == "owner=ana" ? 2 : 5))
    var looks = 0
    let page = try keychain.find(
      parsed, limit: 100, now: 2000,
      isTimeUp: {
        looks += 1
        return looks == 2
      })
    #expect(looks == 2 && page.items.count <= 2)
  }

  @Test("a page ends when its items have much text")
  func pageBytes() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let text = String(repeating: "x", count: 1000)
    let attributes = Dictionary(uniqueKeysWithValues: (0..<60).map { ("key\($0)", text) })
    for index in 0..<6 { try keychain.put("item\(index)", attributes: attributes) }
    let page = try keychain.find(try Query(parsing: ""), limit: 100, now: 2000)
    #expect(page.items.count == 2 && page.next != nil)
  }

  @Test("an attribute or folder that went is not found any more")
  func stale() throws {
    let (fixture, keychain) = try filled()
    try keychain.set(ItemChange(name: name("iot/house/door"), attributes: ["floor": "2"], update: true), now: 3000)
    #expect(try keychain.names("owner=ana") == ["iot/shed/lock"])
    #expect(try keychain.names("floor=1").isEmpty)
    #expect(try keychain.names("floor=2") == ["iot/house/door"])
    try keychain.delete([name("iot/shed/lock")])
    #expect(try keychain.names("owner=ana").isEmpty)
    // The tags of name, kind, folders and attributes of the four remaining items.
    #expect(try fixture.rows("tags") == (2 + 2 + 1) + (2 + 2 + 1) + (2 + 1) + (2 + 1))
  }

  @Test("names that differ in their bytes alone are different items")
  func unicode() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("caf\u{E9}", "composed")
    try keychain.put("cafe\u{301}", "decomposed")
    #expect(try keychain.text("caf\u{E9}") == "composed")
    #expect(try keychain.text("cafe\u{301}") == "decomposed")
  }
}
