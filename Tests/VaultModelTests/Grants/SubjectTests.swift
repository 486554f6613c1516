import Testing

@testable import VaultModel

@Suite("Subjects of grants") struct SubjectTests {
  private static let digest = String(repeating: "0a", count: 32)

  @Test("are read with their parts in any order, and written in one") func parsing() throws {
    for text in ["user:990,group:995,unit:x@1.service", "unit:x@1.service,user:990,group:995,user:990"] {
      #expect(try Subject(parsing: text).description == "user:990,group:995,unit:x@1.service")
    }
    let names = try Subject(
      parsing: "user:ana,group:iot", user: { $0 == "ana" ? 1000 : nil }, group: { $0 == "iot" ? 995 : nil })
    #expect(names == (try Subject(parsing: "group:995,user:1000")))
    let all = "user:1,group:2,group:3,unit:a.scope,exe:/usr/bin/a,sha256:\(Self.digest)"
    #expect(try Subject(parsing: all).description == all)
  }

  @Test(
    "are refused when they are none",
    arguments: [
      "", ",", "ana", "user:", "user:-1", "user:+1", "user:01", "user:4294967295", "user:4294967296",
      "user:nobody-here",
      "group:", "unit:", "unit:.service", "unit:x", "unit:x.socket", "unit:a/b.service", "unit:ä.service",
      "unit:a b.service",
      "exe:/usr/bin/a", "user:1,exe:a", "user:1,exe:/", "user:1,exe:/a/../b", "user:1,exe:/a//b", "user:1,exe:/a\u{1}",
      "user:1,sha256:0a", "user:1,user:2", "unit:a.service,unit:b.service", "user:1,", "uid:1", "user:1;group:2",
      "group:1,group:2,group:3,group:4,group:5,group:6,group:7,group:8,group:9",
    ])
  func refused(text: String) { #expect(throws: ValueError.self) { try Subject(parsing: text) } }

  @Test("confine programs that they name by their unit or by what they run") func confining() throws {
    for (text, isConfining) in [
      ("user:1", false), ("group:1", false), ("user:1,group:2", false), ("unit:a.service", true),
      ("user:1,exe:/a", true), ("user:1,sha256:\(Self.digest)", true),
    ] { #expect(try Subject(parsing: text).isConfining == isConfining, "\(text)") }
  }

  @Test("are part of another with all their parts") func part() throws {
    let author = "user:990,unit:iothome.service"
    for text in ["user:990", "unit:iothome.service", author] { #expect(try Subject(parsing: text).isPart(of: author)) }
    for text in ["user:99", "user:9900", "unit:home.service", "user:990,group:1"] {
      #expect(try !Subject(parsing: text).isPart(of: author))
    }
  }

  @Test("Rights are read by their names, and include others") func rights() throws {
    #expect(try Rights(parsing: "get,watch").names == ["get", "watch"])
    #expect(try Rights(parsing: "get").contains(.use) && !Rights(parsing: "use").contains(.get))
    #expect(try Rights(parsing: "watch,get,use").names == ["get", "watch"])
    for right in Right.allCases { #expect(try Rights(parsing: "admin").contains(right)) }
    #expect(try Rights(parsing: "admin,get").names == ["admin"])
    for text in ["", "read", "get,", "get set", "GET"] {
      #expect(throws: ValueError.self) { try Rights(parsing: text) }
    }
    #expect(!Rights(rawValue: 0).isKnown && !Rights(rawValue: 0x80).isKnown && Rights.all.isKnown)
  }

  @Test("Patterns match as the search's globs do, and tell the folder they are in") func patterns() throws {
    for (text, name, matches) in [
      ("iot/*", "iot/a", true), ("iot/*", "iot/a/b", false), ("iot/**", "iot/a/b", true), ("iot/?", "iot/ab", false),
      ("a", "a", true), ("a", "ab", false), ("*", "a/b", false), ("**", "a/b", true), ("iot*/x", "iothome/x", true),
    ] { #expect(try ItemPattern(text).matches(ItemName(name)) == matches, "\(text) \(name)") }
    #expect(try ItemPattern("iot/a*").folder == "iot" && ItemPattern("iot*/a").folder == nil)
    for text in ["", "/a", "a/", "a//b", "a/../b", "a\n", String(repeating: "a", count: 513)] {
      #expect(throws: NameError.self) { try ItemPattern(text) }
    }
  }

  @Test("Areas of a search have nothing in common, and lose nothing") func areas() throws {
    func area(_ text: String) throws -> SearchArea { SearchArea(of: try ItemPattern(text)) }
    let areas = SearchArea.disjoint(try ["a/*", "a/b/*", "a/b/c", "d", "a/*", "ab/*"].map(area))
    #expect(Set(areas) == Set(try ["a/*", "d", "ab/*"].map(area)) && areas.count == 3)
    #expect(SearchArea.disjoint(try ["a/*", "**", "d"].map(area)) == [.everything])
    // Two spellings of the same letters are two folders, as they are two names.
    #expect(SearchArea.disjoint(try ["\u{E9}/*", "e\u{301}/*"].map(area)).count == 2)
    // As many areas as a vault may have grants.
    let many = try (0..<4096).map { try area("a/b\($0)/c/*") }
    #expect(SearchArea.disjoint(many + many).count == 4096)
    #expect(try area("a/*").intersection(.folder("a/b")) == .folder("a/b"))
    #expect(try area("a/b/*").intersection(.folder("a")) == .folder("a/b"))
    #expect(try area("ab/*").intersection(.folder("a")) == nil)
    #expect(try area("a/b").intersection(.everything) == .name(ItemName("a/b")))
  }
}
