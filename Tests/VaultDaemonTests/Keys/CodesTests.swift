import Foundation
import Testing
import VaultCore
import VaultSigning
import VaultTesting

@Suite("One-time codes over the socket") struct CodesTests {
  private static let password = "correct horse battery"
  /// The secret of RFC 4226 and RFC 6238 in base32.
  private static let seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  /// The codes of RFC 4226, appendix D.
  private static let counted = [
    "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
  ]

  private func unlocked() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(Self.password)
    return sandbox
  }

  private func set(_ name: String, _ value: String, _ client: WireClient, _ more: WireClient.Message = [:]) throws {
    let set = try client.call("Set", ["name": name, "kind": "totp", "value": value].merging(more) { $1 })
    try #require(set.error == nil, "\(set)")
  }

  @Test("a code by time is that of the present step, with the time at which it ends")
  func timed() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    let uri = "otpauth://totp/x?secret=\(Self.seed)"
    for (value, digits, period, hash) in [
      (Self.seed, 6, 30, HMAC.Hash.sha1), ("\(uri)&digits=8&period=60&algorithm=SHA512", 8, 60, .sha512),
      ("\(uri)&digits=7&period=1&algorithm=SHA256", 7, 1, .sha256),
    ] {
      try set("a", value, client, ["update": true])
      let before = Int(Date().timeIntervalSince1970)
      let reply = try client.call("Code", ["name": "a"])
      let after = Int(Date().timeIntervalSince1970)
      let until = try #require(reply.integer("until"), "\(reply)")
      #expect(reply.integer("period") == period && reply.integer("counter") == nil && reply.string("name") == "a")
      #expect(until % period == 0 && until > before && until - period <= after)
      let key = Array("12345678901234567890".utf8)
      let code = try OneTimeCode.code(
        UInt64(until / period - 1), digits: digits, key: unsafe SecureBytes(copying: key.span.bytes), hash)
      let text = code.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
      #expect(reply.string("code") == text)
    }
  }

  @Test("Show tells how they are made and for whom, to whoever could have one, and nothing of the secret")
  func terms() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    func code(_ name: String = "a") throws -> WireClient.Message? {
      let reply = try client.call("Show", ["name": name])
      #expect(reply.error == nil && !"\(reply)".contains(Self.seed))
      return (reply.parameters["item"] as? WireClient.Message)?["code"] as? WireClient.Message
    }
    let uri = "otpauth://totp/Example%20Ltd:ana?secret=\(Self.seed)"
    try set("a", uri + "&algorithm=SHA512&digits=8&period=60", client)
    let told = try #require(try code())
    #expect(told["issuer"] as? String == "Example Ltd" && told["account"] as? String == "ana")
    #expect(told["digits"] as? Int == 8 && told["period"] as? Int == 60 && told["algorithm"] as? String == "SHA512")
    #expect(told.count == 5)
    try set("a", uri + "&issuer=Steam", client, ["update": true])
    #expect(try code()?["steam"] as? Bool == true)
    try set("a", "otpauth://hotp/?secret=\(Self.seed)&counter=3", client, ["update": true])
    let counted = try #require(try code())
    #expect(counted.keys.sorted() == ["algorithm", "counter", "digits"] && counted["counter"] as? Int == 3)
    // A search opens no values.
    let found = try #require(try client.call("Find").parameters["items"] as? [WireClient.Message])
    #expect(found.count == 1 && found[0]["code"] == nil)
    // No code is given for an expired item, for an item whose required presence is missing, or after a lock.
    try set("past", uri, client, ["expires": 1])
    try set("proven", uri, client, ["require": "biometry"])
    #expect(try code("past") == nil && code("proven") == nil)
    #expect(try client.call("Lock").error == nil)
    #expect(try code() == nil)
  }

  @Test("codes by a counter come once each and in their order, also when the daemon is killed behind every answer")
  func counted() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    try set("a", "otpauth://hotp/x?secret=\(Self.seed)&counter=0", sandbox.client(), ["require": "none"])
    for (counter, code) in Self.counted.enumerated() {
      let reply = try sandbox.client().call("Code", ["name": "a"])
      #expect(reply.string("code") == code && reply.integer("counter") == counter && reply.integer("until") == nil)
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      try sandbox.unlock(Self.password)
    }
    let client = try sandbox.client()
    #expect(try client.call("Get", ["name": "a"]).string("value")?.hasSuffix("&counter=10") == true)
    let versions = try client.call("History", ["name": "a"]).parameters["versions"] as? [WireClient.Message]
    #expect(versions?.map { $0["version"] as? Int } == [1])
  }

  @Test("who watches is told that a counter went on, and of a code by time nothing")
  func watched() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try set("counted", "otpauth://hotp/x?secret=\(Self.seed)&counter=0", client)
    try set("timed", Self.seed, client)
    let watching = try sandbox.client()
    _ = try watching.call("Monitor", more: true)
    #expect(try client.call("Code", ["name": "timed"]).error == nil)
    #expect(try client.call("Code", ["name": "counted"]).error == nil)
    let event = try watching.reply()
    #expect(event.string("name") == "counted" && event.string("change") == "updated")
  }

  @Test("there is none of another kind, of nothing, of what has expired, and none for a counter at its end")
  func refused() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    #expect(try client.call("Set", ["name": "note", "kind": "note", "value": Self.seed]).error == nil)
    let wrong = try client.call("Code", ["name": "note"])
    #expect(wrong.error == "WrongKind" && wrong.string("name") == "note" && wrong.string("kind") == "note")
    #expect(try client.call("Code", ["name": "none"]).error == "NoSuchItem")
    #expect(try client.call("Code", ["name": "/"]).error == "InvalidName")
    try set("old", Self.seed, client, ["expires": 1_000_000_000])
    #expect(try client.call("Code", ["name": "old"]).error == "Expired")
    #expect(try client.call("Code", ["name": "old", "expired": true]).error == nil)
    try set("end", "otpauth://hotp/x?secret=\(Self.seed)&counter=9223372036854775807", client)
    #expect(try client.call("Code", ["name": "end"]).error == "InvalidValue")
  }

  @Test("while the vault is locked there is none, or as soon as it is unlocked for who waits; others are served on")
  func locked() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try set("a", Self.seed, client)
    try set("b", Self.seed, client, ["accessible": "after-first-unlock"])
    #expect(try client.call("Lock").error == nil)
    #expect(try client.call("Code", ["name": "a"]).error == "Locked")
    #expect(try client.call("Code", ["name": "a", "wait_ms": 1]).error == "TimedOut")
    #expect(try client.call("Code", ["name": "b"]).error == nil)
    client.send(frame: #"{"method":"io.vaultd.Vault.Code","parameters":{"name":"a","wait_ms":60000}}"#)
    try sandbox.unlock(Self.password)
    #expect(try client.reply().string("code")?.count == 6)
  }

  @Test(
    "neither the secret nor what it is written in is left in memory after a lock",
    .enabled(if: MemorySearch.isPossible, MemorySearch.need))
  func memory() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    let symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8.map { $0 }
    func seed() -> [UInt8] { (0..<64).map { _ in symbols.randomElement() ?? 65 } }
    let seeds = ["SHA1", "SHA256", "SHA512"].map { (hash: $0, seed: seed()) }
    for (hash, seed) in seeds {
      let rest = "secret=\(String(decoding: seed, as: UTF8.self))&algorithm=\(hash)"
      try set("totp \(hash)", "otpauth://totp/x?\(rest)", client)
      try set("hotp \(hash)", "otpauth://hotp/x?\(rest)&counter=8", client)
      for _ in 0..<5 {
        #expect(try client.call("Code", ["name": "totp \(hash)"]).error == nil)
        #expect(try client.call("Code", ["name": "hotp \(hash)"]).error == nil)
      }
    }
    #expect(try client.call("Lock").error == nil)
    let memory = try MemorySearch(pid: try #require(sandbox.daemonPid))
    for (hash, seed) in seeds {
      let key = decoded(seed)
      #expect(memory.find(seed) == [] && memory.find(key) == [], "\(hash)")
      // HMAC hashes the key with one of two pads.
      for pad: UInt8 in [0x36, 0x5C] { #expect(memory.find(key.map { $0 ^ pad }) == [], "\(hash)") }
    }
  }

  /// Decodes base32 without padding.
  private func decoded(_ text: [UInt8]) -> [UInt8] {
    let symbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    let bits = text.flatMap { symbol in
      let value = symbols.firstIndex(of: symbol) ?? 0
      return (0..<5).map { value >> (4 - $0) & 1 }
    }
    return stride(from: 0, to: bits.count - 7, by: 8).map { bits[$0..<($0 + 8)].reduce(0) { $0 << 1 | UInt8($1) } }
  }
}
