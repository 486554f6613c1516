import Testing
import VaultSigning

@Suite("The claims of a token") struct TokenClaimsTests {
  private typealias Stand = TokenStand

  @Test("stand in one order, with the private ones at the end, as they were given") func order() throws {
    let attributes = [
      "iss": "https://vault.example", "aud": "mqtt", "sub": "lamp-*", "claims": "role site", "max-ttl": "90d",
    ]
    let claims = Array(#" { "site" : [ 1.50, "a\/b\u00e9" ] , "role":{"x":-0.0e+10} } "#.utf8)
    let payload = try Stand.payload(attributes, TokenRequest(subject: "lamp-17", life: 60, claims: claims))
    #expect(
      payload
        == #"{"iss":"https://vault.example","sub":"lamp-17","aud":"mqtt","iat":1800000000,"nbf":1800000000,"#
        + #""exp":1800000060,"jti":"0123456789abcdefABCDE_","site":[1.50,"a/bé"],"role":{"x":-0.0e+10}}"#)
  }

  @Test("without terms they are times and an identifier") func least() throws {
    let least = #"{"iat":1800000000,"nbf":1800000000,"exp":1800003600,"jti":"0123456789abcdefABCDE_"}"#
    #expect(try Stand.payload([:]) == least)
    #expect(try Stand.payload([:], TokenRequest(claims: Array(" {} ".utf8))) == least)
  }

  @Test("several audiences are an array, and texts are escaped") func texts() throws {
    let payload = try Stand.payload(["aud": #"a"b c\d"#, "iss": "x y\u{7F}"])
    #expect(payload.hasPrefix("{\"iss\":\"x y\u{7F}\",\"aud\":[\"a\\\"b\",\"c\\\\d\"],\"iat\""))
  }

  @Test("a pattern without a star is the one subject, and the default") func fixedSubject() throws {
    #expect(try Stand.payload(["sub": "lamp"]).contains(#""sub":"lamp""#))
    #expect(try Stand.payload(["sub": "lamp"], TokenRequest(subject: "lamp")).contains(#""sub":"lamp""#))
    #expect(Stand.problem(["sub": "lamp"], TokenRequest(subject: "lamp2"))?.part == .subject)
  }

  @Test(
    "a pattern bounds the subject, which must be given then",
    arguments: [
      ("lamp-*", "lamp-1", true), ("lamp-*", "lamp-1/a", false), ("**", "a/b", true), ("lamp-?", "lamp-12", false),
    ])
  func pattern(pattern: String, subject: String, fits: Bool) {
    #expect((Stand.problem(["sub": pattern], TokenRequest(subject: subject)) == nil) == fits)
    #expect(Stand.problem(["sub": pattern])?.part == .subject)
  }

  @Test(
    "a subject is printable text of a bounded length",
    arguments: ["", "a\n", "\u{202E}x", String(repeating: "x", count: 1025)])
  func hostileSubject(subject: String) { #expect(Stand.problem([:], TokenRequest(subject: subject))?.part == .subject) }

  @Test(
    "a subject that cannot be revoked is refused: a star, and a question mark where the terms have a pattern",
    arguments: [
      (nil, "dev*1", "star"), (nil, "*", "star"), (nil, "dev?", nil), ("dev-*", "dev-*", "star"),
      ("dev-*", "dev-?", "question mark"), ("dev-?", "dev-?", "question mark"), ("dev-*", "dev-1", nil),
    ] as [(String?, String, String?)])
  func unrevocable(pattern: String?, subject: String, word: String?) {
    let attributes = pattern.map { ["sub": $0] } ?? [:]
    let problem = Stand.problem(attributes, TokenRequest(subject: subject))
    #expect((problem == nil) == (word == nil))
    if let word { #expect(problem?.part == .subject && problem?.reason.contains(word) == true) }
  }

  @Test("a life is at most that of the terms, and never cut to it") func life() throws {
    #expect(try Stand.payload(["max-ttl": "60"], TokenRequest(life: 60)).contains(#""exp":1800000060,"#))
    for life: Int64 in [61, 0, -1, .max, .min] {
      #expect(Stand.problem(["max-ttl": "60"], TokenRequest(life: life))?.part == .life, "\(life)")
    }
  }

  @Test(
    "an identifier is base64url or hexadecimal",
    arguments: ["", "a.b", "a\"b", "é", String(repeating: "a", count: 129)])
  func identifier(identifier: String) throws {
    let terms = try TokenTerms(attributes: [:])
    #expect(throws: TokenProblem.self) { try TokenClaims(terms, TokenRequest(), now: 0, identifier: identifier) }
  }

  @Test(
    "private claims are refused that are registered, not allowed, twice there, or no JSON object",
    arguments: [
      #"{"iss":"x"}"#, #"{"sub":1}"#, #"{"\u0065xp":1}"#, #"{"jti":null}"#, #"{"b":1}"#, #"{"A":1}"#, #"{"a":1,"a":2}"#,
      #"{"a":1,"\u0061":2}"#, #"{"a":{"x":1,"x":1}}"#, #"[]"#, #""a""#, "", " ", "{", "}", #"{"a"}"#, #"{"a":}"#,
      #"{"a":1,}"#,
      #"{,}"#, #"{"a":1}x"#, #"{"a":1}{}"#, "{a:1}", "{'a':1}", #"{"a":[1,]}"#, #"{"a":[1 2]}"#, #"{"a":tru}"#,
      "\u{FEFF}{}",
      #"{"a":1/*c*/}"#,
    ])
  func badClaims(claims: String) {
    #expect(Stand.problem(["claims": "a"], TokenRequest(claims: Array(claims.utf8)))?.part == .claims)
  }

  @Test(
    "numbers are those of JSON, and keep their text",
    arguments: [
      ("1", true), ("-0", true), ("1e400", true), ("123456789012345678901234567890", true), ("0.1E-7", true),
      ("01", false),
      ("+1", false), (".5", false), ("1.", false), ("1e", false), ("-", false), ("NaN", false), ("-Infinity", false),
      ("0x1", false), ("1_0", false), ("１", false), ("--1", false), ("1e+-1", false),
    ])
  func numbers(number: String, isNumber: Bool) throws {
    let request = TokenRequest(claims: Array(#"{"a":\#(number)}"#.utf8))
    guard isNumber else { return #expect(Stand.problem(["claims": "a"], request)?.part == .claims) }
    #expect(try Stand.payload(["claims": "a"], request).hasSuffix(#","a":\#(number)}"#))
  }

  @Test(
    "strings are well-formed Unicode, with one spelling",
    arguments: [
      (#"\ud83d\ude00"#, "😀"), (#"\u0041\b\f\n\r\t\"\\\/"#, #"A\u0008\u000c\n\r\t\"\\/"#),
      (#"\u0000\u001F"#, #"\u0000\u001f"#),
      (#"\uD800"#, nil), (#"\uDC00\uD800"#, nil), (#"\uD800\u0041"#, nil), (#"\uD800\n"#, nil), (#"\x"#, nil),
      (#"\u12G4"#, nil),
      (#"\u12"#, nil), ("\n", nil), ("\u{0}", nil), (#"\"#, nil),
    ])
  func strings(given: String, written: String?) throws {
    let request = TokenRequest(claims: Array(#"{"a":"\#(given)"}"#.utf8))
    guard let written else { return #expect(Stand.problem(["claims": "a"], request)?.part == .claims) }
    #expect(try Stand.payload(["claims": "a"], request).hasSuffix(#","a":"\#(written)"}"#))
  }

  @Test(
    "bytes that are no UTF-8 are refused",
    arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80]])
  func notUTF8(bytes: [UInt8]) {
    let claims = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
    #expect(Stand.problem(["claims": "a"], TokenRequest(claims: claims))?.part == .claims)
  }

  @Test("nesting is bounded to 8, the object itself counted, and never costs a stack", arguments: [7, 8, 600])
  func nesting(depth: Int) {
    for (open, close) in [("[", "]"), (#"{"x":"#, "}")] {
      let text = #"{"a":"# + String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth) + "}"
      let problem = Stand.problem(["claims": "a"], TokenRequest(claims: Array(text.utf8)))
      #expect((problem == nil) == (depth == 7), "\(open)")
    }
  }

  @Test("their text is bounded to 4 KiB, and objects to 256 members") func sizes() {
    func problem(_ text: String) -> TokenProblem? {
      Stand.problem(["claims": "a"], TokenRequest(claims: Array(text.utf8)))
    }
    #expect(problem(#"{"a":""# + String(repeating: "x", count: 4088) + #""}"#) == nil)
    #expect(problem(#"{"a":""# + String(repeating: "x", count: 4089) + #""}"#)?.part == .claims)
    func members(_ count: Int) -> String {
      #"{"a":{"# + (0..<count).map { #""\#($0)":0"# }.joined(separator: ",") + "}}"
    }
    #expect(problem(members(256)) == nil)
    #expect(problem(members(257))?.part == .claims)
  }

  @Test("every beginning of an object is refused") func truncations() {
    let text = Array(#"{"a":{"x":[1.5e3,"\u00e9é",true,null]}}"#.utf8)
    for count in 0..<text.count {
      #expect(Stand.problem(["claims": "a"], TokenRequest(claims: Array(text[..<count])))?.part == .claims, "\(count)")
    }
  }
}
