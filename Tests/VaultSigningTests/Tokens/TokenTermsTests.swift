import Testing
import VaultSigning

@Suite("The terms of tokens") struct TokenTermsTests {
  @Test("without attributes: an hour, any subject or none, no private claim") func none() throws {
    let terms = try TokenTerms(attributes: ["owner": "ana"])
    #expect(terms.longestLife == 3600 && terms.issuer == nil && terms.audiences.isEmpty && terms.claimNames.isEmpty)
  }

  @Test("words are separated by any number of spaces") func words() throws {
    let terms = try TokenTerms(attributes: ["aud": " a  b ", "claims": "x y", "max-ttl": "90d", "iss": "https://v"])
    #expect(terms.audiences == ["a", "b"] && terms.claimNames == ["x", "y"])
    #expect(terms.longestLife == 90 * 86_400 && terms.issuer == "https://v")
  }

  @Test(
    "a bad attribute is refused by its name",
    arguments: [
      ("iss", ""), ("aud", " "), ("sub", ""), ("aud", "a b a"), ("claims", "x x"), ("claims", "x exp"),
      ("claims", "iss"),
      ("max-ttl", ""), ("max-ttl", "0"), ("max-ttl", "-1h"), ("max-ttl", "1.5h"), ("max-ttl", "soon"),
      ("max-ttl", "101y"),
      ("max-ttl", "9223372036854775807"), ("max-ttl", "99999999999999999999"),
    ])
  func bad(name: String, text: String) {
    let problem = TokenStand.problem([name: text])
    #expect(problem?.part == .attribute(name) && problem?.reason.hasPrefix("attribute '\(name)' ") == true)
    #expect(throws: TokenProblem.self) { try TokenTerms.validate([name: text]) }
  }

  @Test("texts that only look the same are two words") func equivalent() throws {
    #expect(try TokenTerms(attributes: ["aud": "caf\u{E9} cafe\u{301}"]).audiences.count == 2)
  }

  @Test("a message shows nothing to a terminal but text") func printable() {
    let reason = TokenStand.problem(["max-ttl": "\u{1B}[2J"])?.reason ?? "\u{1B}"
    #expect(!reason.unicodeScalars.contains("\u{1B}"))
  }
}
