import Testing
import VaultModel

@Suite("Queries")
struct QueryTests {
  private static let now: Int64 = 2_000_000
  private static let day: Int64 = 86_400

  private static func matches(_ query: String, _ item: ItemInfo) throws -> Bool {
    try Query(parsing: query).matches(item, now: now)
  }

  @Test("An empty query matches everything", arguments: ["", " ", "\t\r\n "])
  func empty(query: String) throws {
    #expect(try Self.matches(query, Fixture.item()))
    #expect(try Query(parsing: query).equalities.isEmpty)
  }

  @Test(
    "Predicates on text hold or do not",
    arguments: [
      ("name=iothome/express.key", true), ("name=iothome/express.ke", false), ("name!=iothome/express.key", false),
      ("name!=other", true), ("name~iothome/*", true), ("name~*", false), ("name~**", true), ("name~iothome/**", true),
      ("name~iothome/express.ke?", true), ("name~iothome?express.key", false),
      ("kind=device-token", true), ("kind=totp", false), ("kind!=totp", true), ("kind~*-token", true),
      ("accessible=when-unlocked", true), ("accessible!=when-unlocked", false), ("accessible~when-*", true),
      ("require=none", true), ("require!=none", false), ("require~b*", false),
      ("owner=ana", true), ("owner=an", false), ("owner=Ana", false), ("owner!=ana", false), ("owner!=bob", true),
      ("owner~a*", true), ("owner~b*", false), ("missing=x", false), ("missing!=x", true), ("missing~**", false),
      ("site=\"north wing\"", true), ("site~\"north w*\"", true), ("mark=\"a\\\"b\\\\c\"", true), ("owner=\"\"", false),
      ("owner!=\"\"", true),
    ])
  func text(query: String, expected: Bool) throws {
    #expect(try Self.matches(query, Fixture.item()) == expected)
  }

  @Test(
    "A bare word is looked for anywhere in the name",
    arguments: [
      ("express", true), ("iothome", true), ("key", true), ("home/exp", true), ("Express", false), ("ex*s", true),
      ("o*e/e", true), ("h*x", false), ("h**x", true), ("\"express.key\"", true), ("\"two words\"", false),
      ("!", false),
    ])
  func bareWord(query: String, expected: Bool) throws {
    #expect(try Self.matches(query, Fixture.item()) == expected)
  }

  @Test("attr:NAME is the attribute of that name, whatever else has it") func attributeByName() throws {
    let item = try Fixture.item(attributes: ["owner": "ana", "uri": "big", "attr:x": "1"])
    for query in ["attr:owner=ana", "attr:owner~a*", "attr:uri=big", "uri=big", "attr:attr:x=1"] {
      #expect(try Self.matches(query, item), "\(query)")
    }
    #expect(try !Self.matches("attr:x=1", item) && !Self.matches("attr:owner=eva", item))
    #expect(try Query(parsing: "attr:owner=ana").attributeKeys == ["owner"])
    #expect(throws: QueryError.self) { try Query(parsing: "attr:kind=note") }
  }

  @Test("what the client of a keyring keeps with an item is found under keys of its own, and by a word of its label")
  func keyring() throws {
    var item = try Fixture.item("secret-service/login/43f698f2c8d405bc")
    let attributes = try KeyringAttributes([
      (key: "server", value: "example.org"), (key: "label", value: "x"), (key: "owner", value: "eva"),
    ])
    item.keyring = KeyringFacts(id: KeyringID(number: 1), order: 1, label: "My\nserver", attributes: attributes)
    let matching = [
      "server", "My", "keyring:label~**server", "keyring:server=example.org", "keyring:server~ex*",
      "keyring:attr:label=x", "keyring:attr:server=example.org", "keyring:server!=other", "owner=ana keyring:owner=eva",
      "keyring:missing!=x",
    ]
    for query in matching { #expect(try Self.matches(query, item), "\(query)") }
    for query in ["Server", "server=example.org", "keyring:label=My", "keyring:missing~**", "keyring:owner=ana"] {
      #expect(try !Self.matches(query, item), "\(query)")
    }
    #expect(try !Self.matches("keyring:server~**", Fixture.item()))
    #expect(try Query(parsing: "keyring:server=a keyring:label=b x=c").keyringAttributes.map(\.key) == ["server"])
    #expect(try Query(parsing: "keyring:server=a x=c").attributeKeys == ["x"])
    #expect(throws: QueryError.self) { try Query(parsing: "keyring:label<7d") }
  }

  @Test(
    "the key for an attribute of a keyring's client finds that attribute, unless no query can spell it",
    arguments: ["server", "label", "xdg:schema", "attr:label", "kind", "a.b_c-d"])
  func keyringKeys(_ attribute: String) throws {
    let key = try #require(Query.key(ofKeyring: attribute))
    var item = try Fixture.item("secret-service/login/43f698f2c8d405bc")
    let attributes = try KeyringAttributes([(key: attribute, value: "x")])
    item.keyring = KeyringFacts(id: KeyringID(number: 1), order: 1, label: "y", attributes: attributes)
    #expect(try Self.matches("\(key)=x", item))
    #expect(try !Self.matches("\(key)=y", item))
    #expect(try Query(parsing: "\(key)=x").keyringAttributes.map(\.key) == [attribute])
    for other in ["", "a b", "a=b", "é", "\(attribute)\n"] { #expect(Query.key(ofKeyring: other) == nil) }
  }

  @Test("a program alone selects what it did, although it can have no grant") func program() throws {
    #expect(throws: ValueError.self) { try Subject(parsing: "exe:/usr/bin/x") }
    let subject = try Subject(parsing: "exe:/usr/bin/x", onlySelects: true)
    #expect(subject.isPart(of: "user:1000,exe:/usr/bin/x") && !subject.isPart(of: "user:1000"))
    _ = try Query(parsing: "creator=exe:/usr/bin/x")
  }

  @Test("All predicates must hold")
  func conjunction() throws {
    let item = try Fixture.item()
    #expect(try Self.matches("  kind=device-token\towner=ana\nname~iothome/*  express ", item))
    #expect(try !Self.matches("kind=device-token owner=bob name~iothome/*", item))
    #expect(try !Self.matches("owner=ana owner=bob", item))
  }

  @Test("Values are compared by their bytes, however their letters are composed")
  func bytes() throws {
    let item = try Fixture.item(attributes: ["place": "caf\u{E9}"])
    #expect(try Self.matches("place=caf\u{E9}", item))
    #expect(try !Self.matches("place=cafe\u{301}", item))
    #expect(try Self.matches("place~caf?", item))
  }

  @Test(
    "A query examines the expiry with each predicate on it, and with no other",
    arguments: [
      ("expires<7d", true), ("kind=wifi expires>2027-01-01", true), ("expires=never", true), ("expires!=never", true),
      ("created<7d modified>1d", false), ("name~expires*", false), ("attr:renewal=7d", false), ("", false),
    ])
  func examinesExpiry(text: String, isExamined: Bool) throws {
    #expect(try Query(parsing: text).examinesExpiry == isExamined)
  }

  @Test("An expiry within a time span includes what has expired, and never means never")
  func expiry() throws {
    let soon = try Fixture.item(expires: Self.now + 7 * Self.day - 1)
    let exactly = try Fixture.item(expires: Self.now + 7 * Self.day)
    let later = try Fixture.item(expires: Self.now + 7 * Self.day + 1)
    let past = try Fixture.item(expires: Self.now - 1)
    let never = try Fixture.item(expires: nil)
    let all = [soon, exactly, later, past, never]
    #expect(try all.map { try Self.matches("expires<7d", $0) } == [true, false, false, true, false])
    #expect(try all.map { try Self.matches("expires>7d", $0) } == [false, false, true, false, false])
    #expect(try all.map { try Self.matches("expires<1w", $0) } == [true, false, false, true, false])
    #expect(try all.map { try Self.matches("expires<0s", $0) } == [false, false, false, true, false])
    #expect(try all.map { try Self.matches("expires=never", $0) } == [false, false, false, false, true])
    #expect(try all.map { try Self.matches("expires!=never", $0) } == [true, true, true, true, false])
  }

  @Test("Created and modified count back from now")
  func age() throws {
    let item = try Fixture.item(created: Self.now - 10 * Self.day, modified: Self.now - 3 * Self.day)
    for (query, expected) in [
      ("created<11d", true), ("created<10d", false), ("created>9d", true), ("created>10d", false),
      ("modified<4d", true), ("modified<72h", false), ("modified>2d", true), ("modified>3d", false),
    ] {
      #expect(try Self.matches(query, item) == expected, "\(query)")
    }
  }

  @Test("A date is a point in time for all three")
  func dates() throws {
    let day = try #require(Timestamp.parse("2027-01-01"))
    let item = try Fixture.item(created: day - 1, modified: day + 1, expires: day)
    for (query, expected) in [
      ("created<2027-01-01", true), ("created>2027-01-01", false), ("created>2026-12-31", true),
      ("modified>2027-01-01", true), ("modified<2027-01-01", false), ("modified<2027-01-01T00:00:02Z", true),
      ("expires<2027-01-01", false), ("expires>2027-01-01", false), ("expires<2027-01-01T00:00:01Z", true),
      ("expires>2027-01-01T00:00:00+00:01", true),
    ] {
      #expect(try Self.matches(query, item) == expected, "\(query)")
    }
    #expect(try !Self.matches("expires<2027-01-01", Fixture.item(expires: nil)))
    #expect(try !Self.matches("expires>2027-01-01", Fixture.item(expires: nil)))
  }

  @Test("A distance beyond all time is no trap")
  func farAway() throws {
    let item = try Fixture.item(expires: .max)
    let far = "9223372036854775807s"
    #expect(try Query(parsing: "expires<\(far)").matches(item, now: .max) == false)
    #expect(try Query(parsing: "created<\(far)").matches(item, now: 0))
    #expect(try Query(parsing: "created<\(far)").matches(item, now: .min))
  }

  @Test(
    "Version and size are numbers of the current version",
    arguments: [
      ("version=3", true), ("version!=3", false), ("version>2", true), ("version<3", false), ("version>3", false),
      ("size=65536", true), ("size=64k", true), ("size<64k", false), ("size<65537", true), ("size>63k", true),
      ("size<1m", true), ("size!=1", true), ("size>0", true), ("size=1", false),
    ])
  func numbers(query: String, expected: Bool) throws {
    #expect(try Self.matches(query, Fixture.item(version: 3, size: 65_536)) == expected)
  }

  @Test("What an index can answer is told apart")
  func indexes() throws {
    let query = try Query(parsing: "name=a/b kind=totp owner=ana site!=x place~y owner=bob expires<7d size=1 word")
    #expect(query.exactName?.text == "a/b" && query.kind == .totp)
    #expect(query.equalities.map(\.key) == ["owner", "owner"] && query.equalities.map(\.value) == ["ana", "bob"])
    let negated = try Query(parsing: "name!=a kind!=totp owner!=ana name~* word")
    #expect(negated.exactName == nil && negated.kind == nil && negated.folder == nil && negated.equalities.isEmpty)
  }

  @Test(
    "The narrowest folder is the one all matches are in",
    arguments: [
      ("name~iot/*", "iot"), ("name~iot/**", "iot"), ("name~a/b/c*", "a/b"), ("name~a/b", "a"), ("name~a/?", "a"),
      ("name~a/** name~a/b/** name~a/*", "a/b"), ("name~\"a b/*\"", "a b"), ("name~/a", ""),
    ])
  func folder(query: String, folder: String) throws {
    #expect(try Query(parsing: query).folder == folder)
  }

  @Test(
    "A pattern that may match anywhere implies no folder",
    arguments: [
      "name~*", "name~**", "name~**/a", "name~a*/b", "name~a?/b", "name~a", "a/b", "owner~a/*", "kind~a/b", "",
    ])
  func noFolder(query: String) throws {
    #expect(try Query(parsing: query).folder == nil)
  }

  @Test("Equal queries are equal values")
  func equality() throws {
    #expect(try Query(parsing: "a=b  c~d") == Query(parsing: " a=\"b\" c~d"))
    #expect(try Query(parsing: "a=b") != Query(parsing: "a!=b"))
    #expect(try Set([Query(parsing: "foo"), Query(parsing: " foo ")]).count == 1)
  }
}
