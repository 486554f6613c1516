import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultSigning

@Suite("The compact form of a token") struct TokenFormTests {
  private typealias Stand = TokenStand
  private static let attributes = ["iss": "vault", "aud": "mqtt", "sub": "lamp", "claims": "role"]

  private func fault(parsing text: String) -> TokenFault? {
    let bytes = Array(text.utf8)
    do throws(TokenFault) {
      _ = try JSONWebToken(parsing: unsafe bytes.span.bytes)
      return nil
    } catch { return error }
  }

  @Test("is that of RFC 7515, appendix A.1, whose signature is HMAC's, byte by byte") func hmacVector() throws {
    let text =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
      + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
      + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let keyText = Array("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow".utf8)
    var key = [UInt8](repeating: 0, count: 64)
    var span = key.mutableSpan
    var room = unsafe span.mutableBytes
    #expect(Base64URL.decode(unsafe keyText.span.bytes, into: &room))
    let bytes = Array(text.utf8)
    let signed = Array(text.utf8.prefix(text.utf8.count - 44))
    let token = try JSONWebToken(parsing: unsafe bytes.span.bytes)
    var code = ""
    let fault = #expect(throws: TokenFault.self) {
      try token.verify(
        algorithm: .hs256, terms: TokenTerms(attributes: ["iss": "joe"]), now: 1_300_819_379,
        isRevoked: { _, _, _ in false },
        verifies: { signature, message in
          code = hex(signature)
          guard Stand.verifies(key)(signature, message) else { return false }
          return unsafe message.withUnsafeBytes { unsafe $0.elementsEqual(signed) }
        })
    }
    #expect(code == "7418dfb49799e0254ffa607dd8adbbba16d4254d69d6bff05b58055853848d79")
    // The token's signature is right and its time has not passed, but a vault's tokens must also say when they were
    // made.
    #expect(fault?.code == .claims && fault?.reason.contains("(iat)") == true)
  }

  @Test("is that of RFC 8037, appendix A.4, which is signed and claims nothing") func edwardsVector() throws {
    let text =
      "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
      + ".hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    let bytes = Array(text.utf8)
    let token = try JSONWebToken(parsing: unsafe bytes.span.bytes)
    var seen: [String] = []
    let fault = #expect(throws: TokenFault.self) {
      try token.verify(
        algorithm: .scheme(.ed25519), terms: TokenTerms(attributes: [:]), now: 0, isRevoked: { _, _, _ in false },
        verifies: {
          seen = [hex($0), hex($1)]
          return true
        })
    }
    #expect(
      seen.first == "860c98d2297f3060a33f42739672d61b53cf3adefed3d3c672f320dc021b411e"
        + "9d59b8628dc351e248b88b29468e0e41855b0fb7d83bb15be902bfccb8cd0a02")
    #expect(seen.last == Array(text.utf8.prefix(56)).hex)
    #expect(fault?.code == .claims && fault?.reason.contains("JSON") == true)
  }

  @Test("is made with a header of alg, typ and kid, and read again") func roundTrip() throws {
    let text = try Stand.token(Self.attributes, TokenRequest(claims: Array(#"{"role":"é"}"#.utf8)))
    let header = #"{"alg":"HS256","typ":"JWT","kid":"lamp/key"}"#
    #expect(text.hasPrefix(Stand.base64URL(Array(header.utf8)) + "."))
    let verified = try Stand.verify(text, Self.attributes)
    #expect(verified.keyID == "lamp/key" && verified.subject == "lamp" && verified.identifier == Stand.identifier)
    #expect(verified.issuedAt == Stand.now && verified.expiresAt == Stand.now + 3600 && verified.unexpectedClaims == [])
    #expect(verified.claims == (try Stand.payload(Self.attributes, TokenRequest(claims: Array(#"{"role":"é"}"#.utf8)))))
  }

  @Test("names each algorithm, and escapes the key's name") func headers() throws {
    for algorithm in Stand.algorithms {
      let token = try JSONWebToken.make(algorithm: algorithm, keyID: "a\"\n", payload: Array("{}".utf8)) { _ in
        [0xFF, 0xFE]
      }
      let header = Stand.base64URL(Array(#"{"alg":"\#(algorithm.name)","typ":"JWT","kid":"a\"\n"}"#.utf8))
      #expect(Stand.text(token) == "\(header).e30.__4")
    }
    let token = try JSONWebToken.make(algorithm: .scheme(.ed25519), keyID: nil, payload: []) { _ in [] }
    #expect(Stand.text(token) == Stand.base64URL(Array(#"{"alg":"EdDSA","typ":"JWT"}"#.utf8)) + "..")
  }

  @Test("every beginning of a token is refused, and every one with something behind") func truncations() throws {
    let text = Array(try Stand.token(Self.attributes))
    for count in 0..<text.count { #expect(Stand.fault(String(text[..<count]), Self.attributes) != nil, "\(count)") }
    for end in [".", "A", "=", "\n", " ", ".A"] { #expect(Stand.fault(String(text) + end, Self.attributes) != nil) }
  }

  @Test("every flipped bit of a token is noticed") func flippedBits() throws {
    let text = Array(try Stand.token(Self.attributes).utf8)
    let terms = try TokenTerms(attributes: Self.attributes)
    for bit in 0..<text.count * 8 {
      var flipped = text
      flipped[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: TokenFault.self, "\(bit)") {
        try JSONWebToken(parsing: unsafe flipped.span.bytes).verify(
          algorithm: .hs256, terms: terms, now: Stand.now, isRevoked: { _, _, _ in false }, verifies: Stand.verifies())
      }
    }
  }

  @Test(
    "is three parts of base64url with points between",
    arguments: [
      "", ".", "..", "...", "e30.e30.", ".e30.e30", "e30..e30", "e30.e30", "e30.e30.e30.e30", "e30.e30.e30.e30.e30",
      "eyJhbGciOiJIUzI1NiJ9=.e30.AA", "eyJhbGciOiJIUzI1NiJ9.e31.AA", "eyJhbGciOiJIUzI1NiJ9.e30.AB",
      "eyJhbGciOiJIUzI1NiJ9.e30.A",
      "eyJhbGciOiJIUzI1NiJ9.e30.A+", "eyJhbGciOiJIUzI1NiJ9.e30 .AA", " eyJhbGciOiJIUzI1NiJ9.e30.AA",
    ])
  func shape(text: String) { #expect(fault(parsing: text)?.code == .malformed) }

  @Test("is at most 16 KiB long") func size() {
    let start = Stand.base64URL(Array(#"{"alg":"HS256"}"#.utf8)) + ".e30."
    let room = JSONWebToken.maximumBytes - start.utf8.count
    #expect(fault(parsing: start + String(repeating: "A", count: room - room % 4)) == nil)
    #expect(fault(parsing: start + String(repeating: "A", count: room + 4))?.reason.contains("longer") == true)
  }

  @Test(
    "a header says the algorithm, once, and asks for nothing that is not done here",
    arguments: [
      #"{}"#, #"{"alg":1}"#, #"{"alg":null}"#, #"{"alg":["HS256"]}"#, #"{"ALG":"HS256"}"#,
      #"{"alg":"HS256","alg":"HS256"}"#,
      #"{"alg":"none","\u0061lg":"HS256"}"#, #"["alg"]"#, "HS256", #"{"alg":"HS256"} x"#,
      #"{"alg":"HS256","typ":"JOSE"}"#,
      #"{"alg":"HS256","typ":1}"#, #"{"alg":"HS256","typ":""}"#, #"{"alg":"HS256","typ":"text/jwt"}"#,
      #"{"alg":"HS256","kid":7}"#, #"{"alg":"HS256","kid":null}"#, #"{"alg":"HS256","crit":[]}"#,
      #"{"alg":"HS256","crit":["exp"],"exp":1}"#,
      #"{"alg":"HS256","b64":false}"#, #"{"alg":"HS256","b64":true}"#, #"{"alg":"HS256","jwk":{}}"#,
      #"{"alg":"HS256","jku":"https://x"}"#,
      #"{"alg":"HS256","x5u":"https://x"}"#, #"{"alg":"HS256","x5c":[]}"#, #"{"alg":"HS256","zip":"DEF"}"#,
      #"{"alg":"HS256","enc":"A128GCM"}"#, #"{"alg":"HS256","\u006aku":"x"}"#,
      #"{"alg":"HS256","a":[[[[[[[[1]]]]]]]]}"#,
    ])
  func badHeader(header: String) {
    #expect(fault(parsing: Stand.base64URL(Array(header.utf8)) + ".e30.AA")?.code == .malformed)
  }

  @Test(
    "a type is that of a token in either case, and unknown parameters are ignored",
    arguments: [
      #"{"alg":"HS256","typ":"JWT"}"#, #"{"typ":"jwt","alg":"HS256"}"#, #"{"alg":"HS256","typ":"at+JWT"}"#,
      #"{"alg":"HS256","typ":"application/at+jwt"}"#, #"{"alg":"HS256","typ":"application\/JWT","x":[1,{}],"kid":"é"}"#,
    ])
  func goodHeader(header: String) { #expect(fault(parsing: Stand.base64URL(Array(header.utf8)) + ".e30.AA") == nil) }
}
