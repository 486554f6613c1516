import Foundation
import Testing
import VaultSigning
import VaultTesting

@Suite("PyJWT", .enabled(if: PyJWT.isHere, "needs PyJWT for /usr/bin/python3, which is not here; see `make test-deps`"))
struct PyJWTTests {
  private typealias Stand = TokenStand
  private static let attributes = [
    "iss": "https://vault.example", "aud": "mqtt web", "sub": "lamp-*", "claims": "role", "max-ttl": "1y",
  ]

  @Test("accepts a token that is made here, and reads the same claims") func made() throws {
    let request = TokenRequest(
      subject: "lamp-é\"", life: 60, claims: Array(#"{"role":["a\/b",1.5e2,{"x":null}]}"#.utf8))
    let token = try Stand.token(Self.attributes, request)
    let answer = try PyJWT.run(
      """
      import json, sys, jwt
      token, key = sys.argv[1], sys.argv[2]
      options = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "require": ["exp", "iat", "nbf", \
      "jti", "sub"]}
      claims = jwt.decode(token, key, algorithms=["HS256"], audience="web", issuer="https://vault.example", \
      options=options)
      assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT", "kid": "lamp/key"}
      for wrong in ({"key": key + "x", "audience": "web"}, {"key": key, "audience": "other"}):
          try: jwt.decode(token, algorithms=["HS256"], options=options, **wrong)
          except jwt.InvalidTokenError: continue
          raise SystemExit("accepted")
      print(json.dumps(claims, separators=(",", ":"), ensure_ascii=False), end="")
      """, [token, String(decoding: Stand.key, as: UTF8.self)])
    // Python writes the number in its own form.
    #expect(answer.replacing("150.0", with: "1.5e2") == (try Stand.payload(Self.attributes, request)))
  }

  @Test("makes a token that is accepted here") func read() throws {
    let token = try PyJWT.run(
      """
      import sys, jwt
      claims = {"iss": "https://vault.example", "aud": ["x", "mqtt"], "sub": "lamp-1", "jti": "p", "iat": \
      \(Stand.now), "nbf": \(Stand.now),
                "exp": \(Stand.now + 5), "role": "é", "other": 1.5}
      print(jwt.encode(claims, sys.argv[1], algorithm="HS256", headers={"kid": "k"}), end="")
      """, [String(decoding: Stand.key, as: UTF8.self)])
    let verified = try Stand.verify(token, Self.attributes)
    #expect(verified.subject == "lamp-1" && verified.identifier == "p" && verified.keyID == "k")
    #expect(verified.unexpectedClaims == ["other"] && verified.claims.hasSuffix(#""role":"é","other":1.5}"#))
  }

  @Test("and a list refuse what was made up to a revocation, and take what is made a second after it")
  func revoked() throws {
    let now = Int64(Date.now.timeIntervalSince1970)
    var list = RevocationList()
    try list.revoke(subject: "lamp", issuedUpTo: now - 1, longestLife: 600)
    try list.revoke(identifier: "single", expiresAt: now + 600)
    list.setAges(at: now, step: 86_400)
    let tokens = try [(now - 2, "p"), (now - 1, "p"), (now, "p"), (now, "single")].map { (time, id) in
      try Stand.token(#"{"sub":"lamp","jti":"\#(id)","iat":\#(time),"nbf":\#(time),"exp":\#(time + 600)}"#)
    }
    let answer = try PyJWT.run(
      """
      import json, sys, jwt
      key, listed = sys.argv[1], json.loads(sys.argv[2])["revoked"]
      for token in sys.argv[3:]:
          claims = jwt.decode(token, key, algorithms=["HS256"], options={"require": ["exp", "iat", "jti"]})
          print(any(claims["jti"] == each.get("jti") or claims["sub"] == each.get("sub") and claims["iat"] <= \
          each["before"]
                    for each in listed), end=" ")
      """, [String(decoding: Stand.key, as: UTF8.self), String(decoding: try list.encoded(), as: UTF8.self)] + tokens)
    #expect(answer == "True True False True ")
    let here = tokens.map { Stand.fault($0, at: now, revoked: list)?.code }
    #expect(here == [.revoked, .revoked, nil, .revoked])
  }

  @Test("makes tokens of no algorithm and of others, which are refused here") func unsigned() throws {
    let tokens = try PyJWT.run(
      """
      import sys, jwt
      claims = {"sub": "s", "jti": "p", "iat": \(Stand.now), "exp": \(Stand.now + 5)}
      print(jwt.encode(claims, None, algorithm="none"), jwt.encode(claims, sys.argv[1], algorithm="HS384"), end="")
      """, [String(decoding: Stand.key, as: UTF8.self)]
    ).split(separator: " ")
    // The first token has an empty signature.
    #expect(tokens.map { Stand.fault(String($0))?.code } == [.malformed, .algorithm])
  }
}

/// Python with PyJWT, either from PyPI (installed by `make test-deps`) or from the system.
private enum PyJWT {
  static let isHere = (try? run("import jwt", [])) != nil

  /// Runs a program and returns its output.
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    let packages = Repository.root.appending(path: ".build/python")
    let (python, output) = (Process(), Pipe())
    python.executableURL = URL(filePath: "/usr/bin/python3")
    python.arguments = ["-B", "-c", program] + arguments
    python.environment = ["PYTHONPATH": packages.path, "PYTHONIOENCODING": "utf-8", "PATH": "/usr/bin:/bin"]
    python.standardOutput = output
    python.standardError = FileHandle.nullDevice
    try python.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    python.waitUntilExit()
    guard python.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return text
  }
}
