import Testing
import VaultTesting

@Suite(
  "Keys that ask for a person", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct RequiredUseTests {
  private static var calls: [(method: String, name: String, more: WireClient.Message)] {
    [
      ("Sign", "sign", ["value": "x"]), ("Mac", "mac", ["value": "x"]), ("Mac", "mac", ["value": "x", "mac": "AAAA"]),
      ("IssueToken", "jwt", [:]), ("VerifyToken", "jwt", ["token": "a.b.c"]), ("Code", "totp", [:]),
    ]
  }

  @Test("are used by no method before one was there, and each use by who has shown one in that session") func proofs()
    throws
  {
    let stand = try FingerStand(pam: PAMService.fingerOrPassword)
    defer { stand.close() }
    let vault = stand.vault
    try vault.make()
    _ = try vault.addSlot("file", ["insecure": true])
    // The unlock is made in a session of its own, so that it counts for no other session.
    _ = try vault.unlock(["method": "password"], in: "first", typing: [vault.password])
    let client = try vault.client()
    for name in ["sign", "mac", "jwt", "totp"] {
      let value: WireClient.Message =
        name == "totp"
        ? ["kind": "totp", "value": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]
        : ["use": name, "generate": ["style": name == "sign" ? "p256" : "hmac"]]
      let set = try client.call("Set", value.merging(["name": name, "require": "user-presence"]) { $1 })
      try #require(set.error == nil, "\(set)")
    }
    func ask(in session: String) throws -> [String?] {
      try Self.calls.map { method, name, more in
        let reply = try vault.client(in: session).call(
          method, more.merging(["name": name, "interactive": false]) { $1 })
        if reply.error != nil { #expect(reply.string("name") == name && reply.string("require") == "user-presence") }
        return reply.error
      }
    }
    let refused = [String?](repeating: "PresenceRequired", count: Self.calls.count)
    #expect(try ask(in: "own") == refused)
    // Reading the public key is no use of the private one.
    #expect(try vault.client(in: "own").call("PublicKey", ["name": "sign"]).error == nil)
    for (_, name, _) in Self.calls {
      let shown = try vault.converse(
        "Authenticate", ["name": name, "interactive": true], in: "own", touching: ["finger-A"], on: stand.reader,
        typing: [])
      #expect(shown.reply?.error == nil, "\(name)")
    }
    #expect(try ask(in: "own") == [nil, nil, nil, nil, nil, nil])
    #expect(try ask(in: "other") == refused)
  }
}
