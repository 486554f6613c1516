import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Keys that are used without being read, over the socket") struct KeysTests {
  private static let password = "correct horse battery"
  private static let uses = ["ssh", "jwt", "mac", "sign", "totp"]

  private func unlocked(_ config: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.copyVault(config: "idle = off\n" + config)
    try sandbox.unlock(Self.password)
    return sandbox
  }

  /// Makes an item named after each use, and `none`, which is no key.
  private func fill(_ client: WireClient, _ more: WireClient.Message = [:]) throws {
    for use in Self.uses + ["none"] {
      var item: WireClient.Message = ["name": use]
      switch use {
      case "none": item["value"] = "a password"
      case "totp": item.merge(["kind": "totp", "value": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]) { $1 }
      case "mac": item.merge(["use": use, "generate": ["style": "hmac"]]) { $1 }
      default: item.merge(["use": use, "generate": ["style": "ed25519"]]) { $1 }
      }
      let set = try client.call("Set", item.merging(more) { $1 })
      try #require(set.error == nil, "\(use): \(set)")
    }
  }

  /// A call of each method that uses a key, and the uses that the method is for.
  private func calls(_ name: String, token: String = "a.b.c") -> [(String, WireClient.Message, uses: [String])] {
    [
      ("Sign", ["name": name, "value": "message"], ["sign"]), ("Mac", ["name": name, "value": "message"], ["mac"]),
      ("Mac", ["name": name, "value": "message", "mac": "AAAA"], ["mac"]), ("Code", ["name": name], ["totp"]),
      ("IssueToken", ["name": name], ["jwt"]), ("VerifyToken", ["name": name, "token": token], ["jwt"]),
      ("RevokeToken", ["name": name, "subject": "x"], ["jwt"]), ("PublicKey", ["name": name], ["ssh", "jwt", "sign"]),
    ]
  }

  @Test("every method refuses a key that is made for another use, and what is no key") func otherUses() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try fill(client)
    for name in Self.uses + ["none"] {
      for (method, parameters, uses) in calls(name) {
        let reply = try client.call(method, parameters)
        if uses.contains(name) {
          #expect(reply.error == nil, "\(method) \(name): \(reply)")
        } else if method == "Code" {
          #expect(reply.error == "WrongKind", "\(name): \(reply)")
        } else {
          #expect(reply.error == "WrongUse", "\(method) \(name): \(reply)")
          #expect(reply.string("name") == name && reply.string("use") == (name == "none" ? nil : name))
          #expect(Set(reply.parameters.keys).isSubset(of: ["name", "use"]))
        }
      }
      let item = try client.call("Show", ["name": name]).parameters["item"] as? WireClient.Message
      #expect(item?["use"] as? String == (name == "none" ? nil : name))
      #expect(item?["key_type"] as? String == (["ssh", "jwt", "sign"].contains(name) ? "ed25519" : nil))
    }
  }

  @Test("a copy, a new name and what comes back from the trash are for what the item was") func carried() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try fill(client)
    let key = try client.call("PublicKey", ["name": "sign"]).string("key")
    #expect(try client.call("Copy", ["from": "sign", "to": "copy"]).error == nil)
    #expect(try client.call("Move", ["from": "copy", "to": "moved"]).error == nil)
    #expect(try client.call("Delete", ["names": ["moved"]]).error == nil)
    #expect(try client.call("Sign", ["name": "moved", "value": "x"]).error == "NoSuchItem")
    #expect(try client.call("Undelete", ["name": "moved"]).error == nil)
    #expect(try client.call("Mac", ["name": "moved", "value": "x"]).error == "WrongUse")
    #expect(try client.call("Sign", ["name": "moved", "value": "x"]).error == nil)
    #expect(try client.call("PublicKey", ["name": "moved"]).string("key") == key)
    // A copy does not replace an item for another use.
    for (from, to) in [("sign", "jwt"), ("sign", "none"), ("ssh", "sign"), ("none", "totp")] {
      let copied = try client.call("Copy", ["from": from, "to": to, "replace": true])
      #expect(copied.error == "InvalidValue", "\(from) \(to): \(copied)")
    }
    // The public key is that of the current version.
    #expect(try client.call("Set", ["name": "sign", "update": true, "generate": ["style": "p256"]]).error == nil)
    #expect(try client.call("PublicKey", ["name": "sign"]).string("key") != key)
    #expect(try client.call("RestoreVersion", ["name": "sign", "version": 1]).error == nil)
    #expect(try client.call("PublicKey", ["name": "sign"]).string("key") == key)
  }

  @Test("a value that is no key for the use is stored by no method", arguments: ["jwt", "mac", "sign", "ssh"])
  func values(use: String) throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try fill(client)
    for value in ["too short", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
      #expect(try client.call("Set", ["name": "new", "use": use, "value": value]).error == "InvalidValue")
      #expect(try client.call("Set", ["name": use, "update": true, "value": value]).error == "InvalidValue")
      let many = try client.call(
        "SetMany", ["items": [["name": "a", "value": "b"], ["name": "new", "use": use, "value": value]]])
      #expect(many.error == "InvalidValue" && many.integer("failed") == 1, "\(many)")
      // A deposit for an existing key is kept aside.
      let left = try client.call("Deposit", ["name": use, "value": value])
      #expect(left.error == nil && left.integer("version") == nil && left.string("kept") != nil, "\(left)")
    }
    #expect(try client.call("Show", ["name": "new"]).error == "NoSuchItem")
    #expect(try client.call("Show", ["name": "a"]).error == "NoSuchItem")
    let versions = try client.call("History", ["name": use]).parameters["versions"] as? [WireClient.Message]
    #expect(versions?.count == 1)
  }

  @Test("while an RSA key is made others are served, another such key is not, and a lock calls it off") func rsa()
    throws
  {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let other = try sandbox.client()
    /// Returns a connection over which a key is being made, and the process that makes it. That process is stopped, so
    /// that it does not end before the rest was tried.
    func begin(_ bits: Int) throws -> (making: WireClient, process: Int32) {
      let making = try sandbox.client()
      let rsa: WireClient.Message = ["name": "rsa", "use": "sign", "generate": ["style": "rsa", "length": bits]]
      let call: WireClient.Message = ["method": "io.vaultd.Vault.Set", "parameters": rsa]
      making.send([UInt8](try JSONSerialization.data(withJSONObject: call)) + [0])
      return (making, try ProcessTree.stopped(named: "vault-rsa", of: #require(sandbox.daemonPid)))
    }
    let (making, process) = try begin(3072)
    let second: WireClient.Message = ["name": "second", "use": "sign", "generate": ["style": "rsa", "length": 3072]]
    #expect(try other.call("Set", second).error == "Busy")
    #expect(try other.call("Status").string("state") == "unlocked")
    #expect(try other.call("Show", ["name": "rsa"]).error == "NoSuchItem")
    kill(process, SIGCONT)
    #expect(try making.reply().integer("version") == 1)
    #expect(try other.call("Sign", ["name": "rsa", "value": "x"]).string("algorithm") == "PS256")
    #expect(try other.call("Delete", ["names": ["rsa"], "now": true]).error == nil)

    let (again, _) = try begin(4096)
    #expect(try other.call("Lock").error == nil)
    #expect(try again.reply().error == "Locked")
    try sandbox.unlock(Self.password)
    #expect(try other.call("Show", ["name": "rsa"]).error == "NoSuchItem")
  }

  @Test("a message may have 1 MiB, and one of a byte more is refused as what it is") func limits() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try fill(client)
    for method in ["Sign", "Mac"] {
      let name = method.lowercased()
      let most = Data(repeating: 7, count: 1 << 20)
      #expect(try client.call(method, ["name": name, "data": most.base64EncodedString()]).error == nil)
      let more = try client.call(method, ["name": name, "data": (most + [7]).base64EncodedString()])
      #expect(more.error == "TooLarge" && more.integer("limit") == 1 << 20, "\(method): \(more)")
      for value: WireClient.Message in [[:], ["value": "a", "data": "YQ=="], ["data": "?"]] {
        let reply = try client.call(method, value.merging(["name": name]) { $1 })
        #expect(reply.error == "org.varlink.service.InvalidParameter", "\(method) \(value): \(reply)")
      }
      #expect(try client.call(method, ["name": name, "value": ""]).error == nil)
    }
    // A token has at most 16 KiB.
    let long = try client.call("VerifyToken", ["name": "jwt", "token": String(repeating: "a", count: 1 << 20)])
    #expect(long.parameters["valid"] as? Bool == false)
  }

  @Test("while the vault is locked nothing is made, or as soon as it is unlocked for who waits; public halves are told")
  func locked() throws {
    for hides in [false, true] {
      let sandbox = try unlocked("hide-names = \(hides)")
      defer { sandbox.close() }
      let client = try sandbox.client()
      try fill(client)
      let key = try client.call("PublicKey", ["name": "sign"]).string("key")
      #expect(try client.call("Lock").error == nil)
      for (name, method) in [("sign", "Sign"), ("mac", "Mac"), ("jwt", "IssueToken"), ("jwt", "VerifyToken")] {
        let call = try #require(calls(name).first { $0.0 == method })
        #expect(try client.call(method, call.1).error == "Locked", "\(method)")
        #expect(try client.call(method, call.1.merging(["wait_ms": 1]) { $1 }).error == "TimedOut", "\(method)")
      }
      #expect(try client.call("RevokeToken", ["name": "jwt", "subject": "x"]).error == "Locked")
      let told = try client.call("PublicKey", ["name": "sign"])
      #expect(told.error == (hides ? "Locked" : nil) && told.string("key") == (hides ? nil : key), "\(told)")
      client.send(frame: #"{"method":"io.vaultd.Vault.Sign","parameters":{"name":"sign","value":"x","wait_ms":60000}}"#)
      try sandbox.unlock(Self.password)
      #expect(try client.reply().string("signature")?.count == 88)
    }
  }

  @Test("the log says what was made and for whom, and nothing of the message, the signature or the token") func audit()
    throws
  {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try fill(client)
    let message = "a message that nobody is to read"
    let signature = try #require(try client.call("Sign", ["name": "sign", "value": message]).string("signature"))
    let mac = try #require(try client.call("Mac", ["name": "mac", "value": message]).string("mac"))
    let issued = try client.call("IssueToken", ["name": "jwt", "subject": "lamp-17"])
    let (token, id) = (try #require(issued.string("token")), try #require(issued.string("id")))
    #expect(try client.call("VerifyToken", ["name": "jwt", "token": token]).error == nil)
    #expect(try client.call("VerifyToken", ["name": "jwt", "token": "\(token)x"]).error == nil)
    // A token issued without a subject is for the item's own.
    let terms: WireClient.Message = ["name": "fixed", "use": "jwt", "attributes": ["sub": "door-1"]]
    #expect(try client.call("Set", terms.merging(["generate": ["style": "hmac"]]) { $1 }).error == nil)
    let fixed = try #require(try client.call("IssueToken", ["name": "fixed"]).string("id"))
    // A whole token, an id of two lines and a text as long as a frame are no token ids, and are not stored.
    for id in [token, "qwxyz\nlines", String(id.dropLast()), String(repeating: "n", count: 200_000), ""] {
      #expect(try client.call("RevokeToken", ["name": "jwt", "id": id]).error == "InvalidValue")
    }
    #expect(try client.call("RevokeToken", ["name": "jwt", "subject": "qwxyz\nlines"]).error == "InvalidValue")
    #expect(try client.call("RevokeToken", ["name": "jwt", "subject": "lamp-*"]).error == "InvalidValue")
    #expect(try client.call("RevokeToken", ["name": "fixed", "subject": "door-2"]).error == "NotOnTheseTerms")
    #expect(try client.call("Mac", ["name": "mac", "value": message, "mac": mac]).error == nil)
    #expect(try client.call("RevokeToken", ["name": "jwt", "subject": "lamp-17"]).error == nil)
    #expect(try client.call("Sign", ["name": "mac", "value": message]).error == "WrongUse")
    let outcome = try sandbox.run(["audit", "--json"])
    let entries = outcome.output.split(separator: "\n").filter { $0.contains(#""action":"use""#) }
    for (item, detail) in [
      ("sign", "signature"), ("mac", "keyed hash"), ("jwt", #""token \#(id) for lamp-17"#),
      ("jwt", "check of token \(id) for lamp-17"), ("jwt", "check of a token"), ("fixed", "token \(fixed) for door-1"),
      ("mac", "comparison of a keyed hash"), ("jwt", "revokes tokens for lamp-17"),
    ] {
      #expect(
        entries.contains {
          $0.contains(#""item":"\#(item)""#) && $0.contains(detail) && $0.contains(#""outcome":"ok""#)
        },
        "\(detail): \(outcome)")
    }
    #expect(
      entries.contains { $0.contains(#""item":"mac""#) && $0.contains("signature") && !$0.contains(#""ok""#) },
      "\(outcome)")
    #expect(!outcome.output.contains("qwxyz") && !outcome.output.contains("nnnn"))
    for secret in [message, signature, mac, token, String(token.split(separator: ".")[2])] {
      #expect(!outcome.output.contains(secret) && !sandbox.daemonLog.contains(secret))
    }
  }

  @Test("tokens end when they say, and those of a key that was replaced when its time is over") func times() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    func set(_ life: String, _ more: WireClient.Message = ["update": true]) throws {
      let set = try client.call("Set", more.merging(["name": "a", "attributes": ["max-ttl": life]]) { $1 })
      try #require(set.error == nil, "\(set)")
    }
    func issue(_ more: WireClient.Message = [:]) throws -> String {
      let reply = try client.call("IssueToken", more.merging(["name": "a"]) { $1 })
      return try #require(reply.string("token"), "\(reply)")
    }
    func verify(_ token: String) throws -> WireClient.Reply {
      try client.call("VerifyToken", ["name": "a", "token": token])
    }
    func isGood(_ token: String) throws -> Bool { try verify(token).parameters["valid"] as? Bool ?? false }
    func keys() throws -> Int {
      let text = try #require(try client.call("PublicKey", ["name": "a", "format": "jwks"]).string("key"))
      return text.components(separatedBy: #""kid""#).count - 1
    }
    /// Waits for a condition while the machine's real clock runs.
    func wait(for what: String, _ holds: () throws -> Bool) throws {
      let end = Date(timeIntervalSinceNow: 30)
      while try !holds() {
        try #require(Date() < end, "\(what)")
        usleep(50_000)
      }
    }
    try set("10m", ["use": "jwt", "generate": ["style": "ed25519"]])
    let (short, long) = (try issue(["lifetime": 1]), try issue())
    try wait(for: "its end") { try !isGood(short) }
    #expect(try verify(short).string("fault")?.contains("expired") == true && isGood(long) && keys() == 1)
    #expect(try client.call("Set", ["name": "a", "update": true, "generate": ["style": "p256"]]).error == nil)
    let new = try issue()
    #expect(try isGood(long) && isGood(new) && keys() == 2 && verify(long).integer("version") == 1)
    // A shorter life of tokens also counts for tokens issued before, and so does a longer one.
    try set("1")
    #expect(try !isGood(long) && !isGood(new))
    try wait(for: "the end of the key that was replaced") { try keys() == 1 }
    #expect(try verify(long).string("fault")?.contains("not made with a key of this item") == true)
    try set("10m")
    #expect(try isGood(long) && isGood(new) && keys() == 2)
    // A restored key counts as the current version, and stands in the set once.
    #expect(try client.call("RestoreVersion", ["name": "a", "version": 1]).error == nil)
    #expect(try isGood(long) && verify(long).integer("version") == 3 && isGood(new) && isGood(issue()) && keys() == 2)
    // A subject's tokens are revoked up to this second.
    let lamp = try issue(["subject": "lamp"])
    #expect(try isGood(lamp))
    #expect(try client.call("RevokeToken", ["name": "a", "subject": "lamp"]).error == nil)
    #expect(try !isGood(lamp) && isGood(long) && isGood(issue(["subject": "other"])))
    try wait(for: "the next second") { try isGood(issue(["subject": "lamp"])) }
    #expect(try verify(lamp).string("fault") == "the token was revoked")
  }
}
