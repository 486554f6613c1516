import Testing
import VaultSigning

@Suite("The list of revoked tokens") struct RevocationListTests {
  private func list(_ text: String) throws(RevocationProblem) -> RevocationList {
    let bytes = Array(text.utf8)
    return try RevocationList(parsing: unsafe bytes.span.bytes)
  }

  private func text(_ list: RevocationList) throws -> String { String(decoding: try list.encoded(), as: UTF8.self) }

  @Test("has one text, whatever the order in which it grew") func encoding() throws {
    var (one, other) = (RevocationList(), RevocationList())
    #expect(try text(one) == "{\"revoked\":[]}\n" && one.isEmpty)
    try one.revoke(identifier: "b", expiresAt: 20)
    try one.revoke(subject: "lamp-17", issuedUpTo: 5, longestLife: 60)
    try one.revoke(identifier: "a\"", expiresAt: 30)
    try other.revoke(identifier: "a\"", expiresAt: 30)
    try other.revoke(identifier: "b", expiresAt: 20)
    try other.revoke(subject: "lamp-17", issuedUpTo: 5, longestLife: 60)
    try other.revoke(identifier: "b", expiresAt: 10)
    try other.revoke(subject: "lamp-17", issuedUpTo: 4, longestLife: 60)
    let expected = """
      {"revoked":[
      {"jti":"a\\"","exp":30},
      {"jti":"b","exp":20},
      {"sub":"lamp-17","before":5,"exp":65}
      ]}

      """
    #expect(try text(one) == expected)
    #expect(try text(other) == expected)
    #expect(try text(list(expected)) == expected)
  }

  @Test("is read in any order and spacing") func reading() throws {
    let list = try list(#" { "revoked" : [ {"exp":9,"before":-1,"sub":"s"}, { "exp" : 8 , "jti" : "\u006a" } ] } "#)
    #expect(list.isRevoked(identifier: "j", subject: nil, issuedAt: 100))
    #expect(list.isRevoked(identifier: "k", subject: "s", issuedAt: -1))
    #expect(!list.isRevoked(identifier: "k", subject: "s", issuedAt: 0))
    #expect(try self.list(#"{"revoked":[]}"#).isEmpty)
  }

  @Test("is put into the order of bytes, also where texts begin alike or end early") func order() throws {
    let zeros = String(repeating: "0", count: 31)
    let ordered = [
      zeros, "\(zeros)0", "\(zeros)0\\u0000", "\(zeros)0a", "\(zeros)0b", "\(zeros)1", "a", "a\\u0000",
      "a\\u0000b", "ab", "abcdefgh", "abcdefgh\\u0000", "abcdefgha", "abcdefghb", "b", "~", "\u{E9}", "\u{E9}a",
      "\u{FFFD}", "\u{1F600}",
    ]
    func list(of identifiers: [String]) throws -> RevocationList {
      let entries = identifiers.map { "{\"jti\":\"\($0)\",\"exp\":1}" }
      return try self.list("{\"revoked\":[\(entries.joined(separator: ","))]}")
    }
    let expected = try text(list(of: ordered))
    for _ in 0..<20 { #expect(try text(list(of: ordered.shuffled())) == expected) }
    #expect(throws: RevocationProblem.self) { try list(of: ["b", "abcdefghb", "a", "abcdefghb"]) }
  }

  @Test("takes in the second of the revocation, and spares the next one") func sameSecond() throws {
    var list = RevocationList()
    try list.revoke(subject: "lamp", issuedUpTo: 100, longestLife: 60)
    for (time, isRevoked) in [(Int64.min, true), (99, true), (100, true), (101, false), (.max, false)] {
      #expect(list.isRevoked(identifier: "j", subject: "lamp", issuedAt: time) == isRevoked, "\(time)")
    }
    #expect(!list.isRevoked(identifier: "j", subject: "lamp2", issuedAt: 0))
    #expect(!list.isRevoked(identifier: "lamp", subject: nil, issuedAt: 0))
  }

  @Test("tells texts apart that only look the same, and finds each among many") func lookup() throws {
    var list = RevocationList()
    try list.revoke(identifier: "caf\u{E9}", expiresAt: 1)
    #expect(!list.isRevoked(identifier: "cafe\u{301}", subject: nil, issuedAt: 0))
    for number in 0..<500 { try list.revoke(identifier: "\(number * 7919 % 1000)", expiresAt: 1) }
    for number in 0..<500 {
      #expect(list.isRevoked(identifier: "\(number * 7919 % 1000)", subject: nil, issuedAt: 0))
      #expect(!list.isRevoked(identifier: "\(number)x", subject: nil, issuedAt: 0))
    }
  }

  @Test("forgets what has expired for every verifier, and not a second before") func dropping() throws {
    var list = RevocationList()
    try list.revoke(identifier: "j", expiresAt: 100)
    try list.revoke(subject: "s", issuedUpTo: 50, longestLife: 100)
    list.setAges(at: 0, step: 0)
    list.grow(from: 0, to: 150, step: .max)
    list.drop(expiredBy: 159)
    #expect(list.isRevoked(identifier: "j", subject: nil, issuedAt: 0))
    list.drop(expiredBy: 160)
    #expect(!list.isRevoked(identifier: "j", subject: nil, issuedAt: 0))
    list.drop(expiredBy: 209)
    #expect(list.isRevoked(identifier: "j", subject: "s", issuedAt: 0))
    list.drop(expiredBy: 210)
    #expect(list.isEmpty)
  }

  @Test("keeps what is revoked again until the last of all its tokens has expired, whatever came first")
  func repeated() throws {
    // The end, the last second whose tokens are revoked, and their longest life.
    for order in [
      [(100, 50, 50), (200, 150, 50)], [(200, 150, 50), (100, 50, 50)], [(200, 50, 150), (160, 150, 10)],
    ]
      as [[(Int64, Int64, Int64)]]
    {
      var list = RevocationList()
      for (end, time, life) in order {
        try list.revoke(identifier: "j", expiresAt: end)
        try list.revoke(subject: "s", issuedUpTo: time, longestLife: life)
      }
      list.setAges(at: 0, step: 0)
      list.grow(from: 0, to: 199, step: .max)
      list.drop(expiredBy: 259)
      #expect(list.isRevoked(identifier: "j", subject: nil, issuedAt: 0), "\(order)")
      #expect(list.revokedUpTo(subject: "s") == 150, "\(order)")
      list.grow(from: 199, to: 200, step: .max)
      list.drop(expiredBy: 260)
      #expect(list.isEmpty, "\(order)")
    }
  }

  @Test("keeps an entry for as long as its tokens could be good, and a step, whatever the clock says")
  func ages() throws {
    var list = try list(#"{"revoked":[{"jti":"old","exp":1100},{"sub":"s","before":900,"exp":1200}]}"#)
    try list.revoke(identifier: "new", expiresAt: 1300)
    // Revocations without an age are never dropped.
    list.grow(from: 0, to: .max, step: .max)
    list.drop(expiredBy: .max)
    list.setAges(at: 1000, step: 7)
    let text = try text(list)
    #expect(text.contains(#"{"jti":"new","exp":1300,"age":-307},"#))
    #expect(text.contains(#"{"jti":"old","exp":1100,"age":-107},"#))
    #expect(text.contains(#"{"sub":"s","before":900,"exp":1200,"age":-207}"#))
    list = try self.list(text)
    list.setAges(at: 2000, step: 7)
    #expect(try self.text(list) == text)
    list.grow(from: 1000, to: 1106, step: 200)
    list.drop(expiredBy: .max)
    #expect(list.isRevoked(identifier: "old", subject: nil, issuedAt: 0))
    list.grow(from: 1106, to: 1107, step: 200)
    list.drop(expiredBy: .max)
    #expect(!list.isRevoked(identifier: "old", subject: nil, issuedAt: 0))
    #expect(list.isRevoked(identifier: "new", subject: "s", issuedAt: 0))
    // A renewed revocation gets a new age.
    list.grow(from: 1107, to: .max, step: 300)
    try list.revoke(subject: "s", issuedUpTo: 2000, longestLife: 100)
    list.drop(expiredBy: .max)
    #expect(list.revokedUpTo(subject: "s") == 2000 && list.latestRevocation == 2000)
    #expect(!list.isRevoked(identifier: "new", subject: nil, issuedAt: 0))
    for text in [#"{"revoked":[{"jti":"j","exp":1,"age":"1"}]}"#, #"{"revoked":[{"jti":"j","age":1}]}"#] {
      #expect(throws: RevocationProblem.self) { try self.list(text) }
    }
  }

  @Test("counts no jump of the clock for more than a step, and gives back what a clock that ran ahead has counted")
  func jumps() throws {
    var list = RevocationList()
    try list.revoke(identifier: "j", expiresAt: 1300)
    try list.revoke(subject: "s", issuedUpTo: 1000, longestLife: 200)
    list.setAges(at: 1000, step: 7)
    let new = try text(list)
    list.grow(from: 1000, to: .max, step: 7)
    #expect(try text(list).contains(#""exp":1300,"age":-300}"#) && text(list).contains(#""exp":1200,"age":-200}"#))
    list.grow(from: .max, to: 1000, step: 7)
    #expect(try text(list) == new)
    // An entry that is younger than a new one stays so.
    list.grow(from: 1100, to: 1050, step: 7)
    #expect(try text(list) == new)
  }

  @Test("takes no age from an earlier program, which had counted it by the age of an access class")
  func earlierAges() throws {
    var list = try list(
      #"{"revoked":[{"jti":"j","exp":1100,"age":5},{"sub":"s","before":1,"exp":1200,"age":999999999999999}]}"#)
    #expect(try !text(list).contains("age"))
    list.grow(from: 0, to: .max, step: .max)
    list.drop(expiredBy: .max)
    #expect(list.isRevoked(identifier: "j", subject: "s", issuedAt: 1))
  }

  @Test("takes nothing in that it could not be read with again") func unreadable() throws {
    var list = RevocationList()
    let greatest: Int64 = 999_999_999_999_999
    for end in [greatest + 1, -greatest - 1, .max, .min] {
      #expect(throws: RevocationProblem.self) { try list.revoke(identifier: "j", expiresAt: end) }
      #expect(throws: RevocationProblem.self) { try list.revoke(subject: "s", issuedUpTo: end, longestLife: 1) }
      #expect(throws: RevocationProblem.self) { try list.revoke(subject: "s", issuedUpTo: 0, longestLife: end) }
    }
    #expect(throws: RevocationProblem.self) { try list.revoke(identifier: "", expiresAt: 1) }
    #expect(throws: RevocationProblem.self) { try list.revoke(subject: "", issuedUpTo: 1, longestLife: 1) }
    #expect(list.isEmpty)
    try list.revoke(identifier: "j\u{0}\"", expiresAt: greatest)
    try list.revoke(subject: "\u{FEFF}é\n", issuedUpTo: -greatest, longestLife: 0)
    let again = try self.list(text(list))
    #expect(try text(again) == text(list))
    #expect(again.isRevoked(identifier: "j\u{0}\"", subject: nil, issuedAt: 0))
  }

  @Test(
    "is refused when anything is not as it is written",
    arguments: [
      "", "{}", "[]", #"{"revoked":{}}"#, #"{"revoked":null}"#, #"{"revoked":[],"x":1}"#,
      #"{"revoked":[],"revoked":[]}"#,
      #"{"Revoked":[]}"#, #"{"revoked":[1]}"#, #"{"revoked":[{}]}"#, #"{"revoked":[{"jti":"j"}]}"#,
      #"{"revoked":[{"jti":"","exp":1}]}"#,
      #"{"revoked":[{"jti":"j","exp":"1"}]}"#, #"{"revoked":[{"jti":"j","exp":1.5}]}"#,
      #"{"revoked":[{"jti":"j","exp":1e3}]}"#,
      #"{"revoked":[{"jti":"j","exp":1234567890123456}]}"#, #"{"revoked":[{"jti":1,"exp":1}]}"#,
      #"{"revoked":[{"jti":"j","exp":1,"x":1}]}"#,
      #"{"revoked":[{"jti":"j","exp":1,"sub":"s","before":1}]}"#, #"{"revoked":[{"jti":"j","before":1,"exp":1}]}"#,
      #"{"revoked":[{"sub":"s","exp":1}]}"#, #"{"revoked":[{"sub":"s","before":1}]}"#,
      #"{"revoked":[{"sub":"","before":1,"exp":1}]}"#,
      #"{"revoked":[{"jti":"j","exp":1},{"jti":"j","exp":2}]}"#,
      #"{"revoked":[{"sub":"s","before":1,"exp":1},{"sub":"s","before":2,"exp":1}]}"#,
      #"{"revoked":[]} x"#, #"{"revoked":[{"jti":"\ud800","exp":1}]}"#,
    ])
  func refused(text: String) { #expect(throws: RevocationProblem.self) { try list(text) } }

  @Test("with a long entry is refused at its fifth member, whatever it is long of") func longEntries() throws {
    let names = (0..<200).map { #""\#($0)":0"# }.joined(separator: ",")
    let many = repeatElement("{\(names)}", count: 500).joined(separator: ",")
    for text in [#"{"revoked":[\#(many)]}"#, #"{"revoked":[{"jti":"j","exp":1,"x":{\#(names)}}]}"#, "{\(names)}"] {
      let problem = #expect(throws: RevocationProblem.self) { try list(text) }
      #expect(problem?.reason.contains("more than 4 members") == true)
    }
  }

  @Test("takes for a number what tokens have, in capitals as well, and never a token") func numbers() throws {
    let number = "1f8443ffd976eae276c56c88cf777ab0"
    for good in [number, number.uppercased(), "1F8443ffd976eae276c56c88cf777aB0"] {
      #expect(try RevocationList.number(good) == number)
    }
    for bad in [
      "", "j", "a b", "é", "\u{202E}", String(number.dropLast()), number + "0", number.dropLast() + "g",
      number.dropLast() + "\n", number.dropLast() + "@", "jti:" + number, String(repeating: "x", count: 129),
    ] {
      let problem = #expect(throws: RevocationProblem.self, "\(bad)") { try RevocationList.number(String(bad)) }
      #expect(problem?.reason.contains("32") == true)
    }
    for token in ["a.b.c", "eyJhbGciOiJFZERTQSJ9.e30.AAAA", ".", "a..", "a.b"] {
      let problem = #expect(throws: RevocationProblem.self) { try RevocationList.number(token) }
      #expect(problem?.reason.contains("jti") == true)
    }
  }

  @Test("takes for a subject what a token can have") func subjects() {
    for good in ["lamp-17", "a.b c", "é", String(repeating: "x", count: 1024)] {
      #expect(throws: Never.self, "\(good)") { try RevocationList.check(subject: good) }
    }
    for bad in ["", "a\nb", "\u{202E}", "lamp-*", "*", String(repeating: "x", count: 1025)] {
      #expect(throws: RevocationProblem.self, "\(bad)") { try RevocationList.check(subject: bad) }
    }
  }

  @Test(
    "takes a question mark for a part of a subject, except where the terms have a pattern", arguments: ["?", "a?b"])
  func questionMarks(subject: String) throws {
    for sub in [nil, "a", "a-b"] {
      let terms = try TokenTerms(attributes: sub.map { ["sub": $0] } ?? [:])
      #expect(throws: Never.self) { try RevocationList.check(subject: subject, on: terms) }
    }
    for sub in ["a?b", "*", "lamp-*", "**", "?"] {
      let terms = try TokenTerms(attributes: ["sub": sub])
      #expect(throws: RevocationProblem.self, "\(sub)") { try RevocationList.check(subject: subject, on: terms) }
      #expect(throws: Never.self) { try RevocationList.check(subject: "lamp-1", on: terms) }
    }
  }

  @Test("every beginning of a text is refused") func truncations() {
    let text = Array(#"{"revoked":[{"jti":"j","exp":8},{"sub":"s","before":1,"exp":9}]}"#.utf8)
    for count in 0..<text.count {
      let part = Array(text[..<count])
      #expect(throws: RevocationProblem.self, "\(count)") { try RevocationList(parsing: unsafe part.span.bytes) }
    }
  }

  @Test("is at most 1 MiB long, when read and when written") func size() throws {
    var list = RevocationList()
    for number in 0..<50 {
      try list.revoke(identifier: "\(number)" + String(repeating: "x", count: 20_000), expiresAt: 1)
    }
    let text = try list.encoded()
    #expect(text.count <= RevocationList.maximumBytes)
    let long = text + [UInt8](repeating: 0x20, count: RevocationList.maximumBytes - text.count)
    #expect(throws: Never.self) { try RevocationList(parsing: unsafe long.span.bytes) }
    let longer = long + [0x20]
    #expect(throws: RevocationProblem.self) { try RevocationList(parsing: unsafe longer.span.bytes) }
    for number in 50..<53 {
      try list.revoke(identifier: "\(number)" + String(repeating: "x", count: 20_000), expiresAt: 1)
    }
    #expect(throws: RevocationProblem.self) { try list.encoded() }
  }
}
