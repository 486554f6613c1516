import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("A token is accepted") struct TokenVerificationTests {
  private typealias Stand = TokenStand

  /// Makes the payload of a token with these claims beside the mandatory ones.
  private func claims(_ more: String = "", iat: String = "1799999990", exp: String = "1800000010") -> String {
    #"{"iat":\#(iat),"exp":\#(exp),"jti":"j"\#(more.isEmpty ? "" : ",")\#(more)}"#
  }

  private func fault(_ payload: String, _ attributes: [String: String] = [:], leeway: Int64 = 0) throws -> TokenFault? {
    Stand.fault(try Stand.token(payload), attributes, leeway: leeway)
  }

  @Test(
    "only when its header names the algorithm of the item's key, whatever else is true of it",
    arguments: [
      "none", "None", "NONE", "nOnE", "", "hs256", "Hs256", "HS256 ", "HS384", "HS512", "RS256", "ES256", "EdDSA",
      "eddsa", "Ed25519",
      "PS256", "HS256\u{0}",
    ], TokenStand.algorithms)
  func confusion(name: String, algorithm: JSONWebToken.Algorithm) throws {
    guard name != algorithm.name else { return }
    let name = name.replacing("\u{0}", with: "\\u0000")
    let text = Array(try Stand.token(header: #"{"alg":"\#(name)"}"#, claims()).utf8)
    var isAsked = false
    let fault = #expect(throws: TokenFault.self) {
      try JSONWebToken(parsing: unsafe text.span.bytes).verify(
        algorithm: algorithm, terms: TokenTerms(attributes: [:]), now: Stand.now, isRevoked: { _, _, _ in false },
        verifies: { _, _ in
          isAsked = true
          return true
        })
    }
    #expect(fault?.code == .algorithm && !isAsked)
  }

  @Test("only with a signature of the algorithm's size, which the key then confirms") func signatures() throws {
    let sizes: [(JSONWebToken.Algorithm, Int, Bool)] = [
      (.scheme(.ed25519), 64, true), (.scheme(.ed25519), 63, false), (.scheme(.ed25519), 65, false),
      (.scheme(.ecdsaSHA256), 64, true), (.scheme(.ecdsaSHA256), 71, false),
      (.hs256, 32, true), (.hs256, 31, false), (.hs256, 1, false),
      (.scheme(.rsaPKCS1SHA256), 256, true), (.scheme(.rsaPKCS1SHA256), 512, true),
      (.scheme(.rsaPKCS1SHA256), 255, false), (.scheme(.rsaPKCS1SHA256), 32, false),
    ]
    for (algorithm, size, isAsked) in sizes {
      let token = try JSONWebToken.make(algorithm: algorithm, keyID: nil, payload: Array(claims().utf8)) { _ in
        [UInt8](repeating: 1, count: size)
      }
      for answer in [true, false] {
        var asked = 0
        let isAccepted: Bool
        do {
          _ = try token.withBytes { text in
            try JSONWebToken(parsing: text).verify(
              algorithm: algorithm, terms: TokenTerms(attributes: [:]), now: Stand.now, isRevoked: { _, _, _ in false },
              verifies: { signature, _ in
                asked += signature.byteCount
                return answer
              })
          }
          isAccepted = true
        } catch {
          #expect((error as? TokenFault)?.code == .signature)
          isAccepted = false
        }
        #expect(isAccepted == (isAsked && answer) && asked == (isAsked ? size : 0), "\(algorithm) \(size)")
      }
    }
  }

  @Test("only by its own key, and nothing is said of what a forged one claims") func forged() throws {
    for payload in [claims(exp: "1"), "not JSON", claims(#""iss":"x""#)] {
      let token = try Stand.token(payload)
      let changed = token.dropLast(4) + (token.hasSuffix("AAAA") ? "BAAA" : "AAAA")
      #expect(Stand.fault(String(changed), ["iss": "y"])?.code == .signature)
    }
  }

  @Test(
    "until the second before it expires, and from the second in which it begins",
    arguments: [
      (#"{"iat":1799999999,"exp":1800000001,"jti":"j"}"#, nil, nil),
      (#"{"iat":1799999999,"exp":1800000000,"jti":"j"}"#, .expired, nil),
      (#"{"iat":1799999000,"exp":1799999941,"jti":"j"}"#, .expired, nil),
      (#"{"iat":1799999000,"exp":1799999940,"jti":"j"}"#, .expired, .expired),
      (#"{"iat":1800000000,"exp":1800000001,"jti":"j"}"#, nil, nil),
      (#"{"iat":1800000001,"exp":1800000009,"jti":"j"}"#, .notYetValid, nil),
      (#"{"iat":1800000060,"exp":1800000099,"jti":"j"}"#, .notYetValid, nil),
      (#"{"iat":1800000061,"exp":1800000099,"jti":"j"}"#, .notYetValid, .notYetValid),
      (#"{"iat":1,"nbf":1800000000,"exp":1800000001,"jti":"j"}"#, .claims, .claims),
      (#"{"iat":1800000000,"nbf":1800000001,"exp":1800000009,"jti":"j"}"#, .notYetValid, nil),
      (#"{"iat":1800000000,"nbf":1800000061,"exp":1800000099,"jti":"j"}"#, .notYetValid, .notYetValid),
      (#"{"iat":1799999999.5,"exp":1800000000.9,"jti":"j"}"#, .expired, nil),
      (#"{"iat":1.8e9,"exp":1.800000001e+9,"jti":"j"}"#, nil, nil),
    ] as [(String, TokenFault.Code?, TokenFault.Code?)])
  func times(payload: String, strict: TokenFault.Code?, lenient: TokenFault.Code?) throws {
    #expect(try fault(payload)?.code == strict)
    #expect(try fault(payload, leeway: 60)?.code == lenient)
  }

  @Test(
    "only with times that are numbers",
    arguments: [
      (#""1799999990""#, "1800000010"), ("1799999990", #""1800000010""#), ("null", "1800000010"),
      ("1799999990", "null"), ("true", "1800000010"),
      ("1799999990", "1e400"), ("1799999990", "1800000010000000"), ("1799999990", "1e99999999999999999999"),
      ("[1]", "1800000010"),
      ("1799999990", "9223372036854775808"), ("-9223372036854775809", "1800000010"), ("-1e300", "1800000010"),
    ])
  func hostileTimes(iat: String, exp: String) throws { #expect(try fault(claims(iat: iat, exp: exp))?.code == .claims) }

  @Test(
    "only when it says when it was made, when it ends, and how it is called",
    arguments: [
      #"{"exp":1800000010,"jti":"j"}"#, #"{"iat":1799999990,"jti":"j"}"#, #"{"iat":1799999990,"exp":1800000010}"#,
      #"{"iat":1799999990,"exp":1800000010,"jti":""}"#, #"{"iat":1799999990,"exp":1800000010,"jti":7}"#, "{}", "[]", "",
      "null",
    ]) func missing(payload: String) throws
  {
    // The compact form has no empty part.
    #expect(try fault(payload)?.code == (payload.isEmpty ? .malformed : .claims))
  }

  @Test("only when it lives no longer than the terms allow") func life() throws {
    let payload = claims(iat: "1800000000", exp: "1800000060")
    #expect(try fault(payload, ["max-ttl": "60"]) == nil)
    #expect(try fault(payload, ["max-ttl": "59"])?.code == .claims)
    #expect(try fault(claims(iat: "1800000005", exp: "1800000005"), leeway: 60)?.code == .claims)
    #expect(try fault(claims(iat: "-1", exp: "1800000001"))?.code == .claims)
  }

  @Test(
    "only by the issuer and for an audience of the item's",
    arguments: [
      (["iss": "v"], #""iss":"v""#, true), (["iss": "v"], #""iss":"w""#, false), (["iss": "v"], #""iss":"V""#, false),
      (["iss": "v"], "", false),
      (["iss": "v"], #""iss":["v"]"#, false), ([:], #""iss":"w""#, true), ([:], #""iss":1"#, false),
      (["iss": "caf\u{E9}"], "\"iss\":\"cafe\u{301}\"", false),
      (["iss": "caf\u{E9}"], #""iss":"caf\u00e9""#, true), (["aud": "a b"], #""aud":"a""#, true),
      (["aud": "a b"], #""aud":"b""#, true),
      (["aud": "a b"], #""aud":"a b""#, false), (["aud": "a b"], #""aud":["c","b"]"#, true),
      (["aud": "a b"], #""aud":["c"]"#, false),
      (["aud": "a"], #""aud":[]"#, false), (["aud": "a"], "", false), (["aud": "a"], #""aud":["a",1]"#, false),
      (["aud": "a"], #""aud":{"a":1}"#, false),
      (["aud": "a"], #""aud":[["a"]]"#, false), (["aud": "a"], #""aud":["x,]\"y","a"]"#, true),
      ([:], #""aud":"a""#, false), ([:], #""aud":[]"#, false),
    ] as [([String: String], String, Bool)])
  func parties(attributes: [String: String], claim: String, isAccepted: Bool) throws {
    let fault = try fault(claims(claim), attributes)
    #expect(fault?.code == (isAccepted ? nil : .claims), "\(fault?.reason ?? "")")
  }

  @Test(
    "only with a subject that fits",
    arguments: [
      (["sub": "lamp-*"], #""sub":"lamp-1""#, true), (["sub": "lamp-*"], #""sub":"door-1""#, false),
      (["sub": "lamp-*"], "", false),
      (["sub": "lamp-*"], #""sub":"lamp-1/x""#, false), (["sub": "lamp"], #""sub":null"#, false),
      ([:], #""sub":"any""#, true), ([:], "", true),
    ] as [([String: String], String, Bool)])
  func subjects(attributes: [String: String], claim: String, isAccepted: Bool) throws {
    #expect(try fault(claims(claim), attributes)?.code == (isAccepted ? nil : .claims))
  }

  @Test("with private claims of another maker, which are told") func unexpected() throws {
    let token = try Stand.token(claims(#" "b" : {"x": [ 1 ]}, "a":"\u0061", "c\"":1"#))
    let verified = try Stand.verify(token, ["claims": "a"])
    #expect(verified.unexpectedClaims == ["b", "c\""])
    #expect(verified.claims == #"{"iat":1799999990,"exp":1800000010,"jti":"j","b":{"x":[1]},"a":"a","c\"":1}"#)
  }

  @Test("unless a claim is there twice") func duplicates() throws {
    #expect(try fault(claims(#""jti":"k""#))?.code == .claims)
    #expect(try fault(claims(#""e\u0078p":1900000000"#))?.code == .claims)
  }

  @Test("unless it, or its subject, was revoked") func revoked() throws {
    let token = try Stand.token(claims(#""sub":"lamp""#))
    var list = RevocationList()
    try list.revoke(identifier: "j", expiresAt: 1_800_000_010)
    #expect(Stand.fault(token, revoked: list)?.code == .revoked)
    list = RevocationList()
    try list.revoke(subject: "lamp", issuedUpTo: 1_799_999_989, longestLife: 3600)
    #expect(Stand.fault(token, revoked: list) == nil)
    try list.revoke(subject: "lamp", issuedUpTo: 1_799_999_990, longestLife: 3600)
    #expect(Stand.fault(token, revoked: list)?.code == .revoked)
  }

  @Test("and no fault shows more to a terminal than text") func printable() throws {
    let hostile = #"\u001b[2J\u202e"#
    for fault in [
      Stand.fault(try Stand.token(header: #"{"alg":"\#(hostile)"}"#, claims())),
      try fault(claims(#""iss":"\#(hostile)""#), ["iss": "v"]),
      try fault(claims(#""aud":"\#(hostile)""#), ["aud": "v"]),
      try fault(claims(#""sub":"\#(hostile)""#), ["sub": "v"]),
    ] {
      let reason = try #require(fault).reason
      #expect(reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x2000 }, "\(reason)")
    }
  }
}
