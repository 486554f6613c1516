import Foundation
import Testing
import VaultTesting

@Suite(
  "Keys that were used, in the daemon's memory", .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct UsedKeysMemoryTests {
  private static let password = "correct horse battery"
  /// openssl's arguments to make a key outside the vault, by the key's type.
  private static let recipes = [
    "ed25519": "genpkey -algorithm ed25519", "p256": "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
    "p384": "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
    "p521": "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521",
    "rsa": "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048",
    "rsa of OpenSSL": "genrsa -traditional 2048",
  ]

  private func openssl(_ line: String, _ sandbox: Sandbox, _ stdin: [UInt8] = []) throws -> [UInt8] {
    let outcome = try sandbox.run(
      line.split(separator: " ").map(String.init), program: "/usr/bin/openssl", stdin: stdin)
    try #require(outcome.status == 0, "openssl \(line): \(outcome)")
    return outcome.stdout
  }

  /// Returns the secret numbers of a private key by name, big-endian, as openssl prints them; for Ed25519 also the
  /// numbers derived from its seed.
  private func secrets(_ pem: [UInt8], _ sandbox: Sandbox) throws -> [String: [UInt8]] {
    let text = String(decoding: try openssl("pkey -noout -text", sandbox, pem), as: UTF8.self)
    var found: [String: [UInt8]] = [:]
    var name = ""
    for line in text.split(separator: "\n") {
      if let colon = line.firstIndex(of: ":"), !line.hasPrefix(" ") {
        name = String(line[..<colon])
      } else if line.hasPrefix(" ") {
        found[name, default: []] += line.split(separator: ":").compactMap {
          UInt8($0.trimmingCharacters(in: .whitespaces), radix: 16)
        }
      }
    }
    let secret = ["priv", "privateExponent", "prime1", "prime2", "exponent1", "exponent2", "coefficient"]
    found = found.filter { secret.contains($0.key) }
    try #require(!found.isEmpty, "\(text)")
    if text.contains("ED25519"), let seed = found["priv"] {
      found["expanded"] = try openssl("dgst -sha512 -binary", sandbox, seed)
    }
    return found
  }

  /// Returns everything that would reveal a key: each number as written, and in reverse byte order, in which libraries
  /// keep numbers.
  private func needles(_ name: String, _ pem: [UInt8], _ sandbox: Sandbox) throws -> [String: [UInt8]] {
    var needles: [String: [UInt8]] = [:]
    for (part, bytes) in try secrets(pem, sandbox) {
      let number = Array(bytes.drop { $0 == 0 })
      needles["\(name) \(part)"] = number
      needles["\(name) \(part), backwards"] = number.reversed()
    }
    return needles
  }

  private func hashKey(_ name: String, _ key: [UInt8]) -> [String: [UInt8]] {
    // HMAC hashes the key with one of two pads.
    ["\(name)": key, "\(name), inner": key.map { $0 ^ 0x36 }, "\(name), outer": key.map { $0 ^ 0x5C }]
  }

  private func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }

  /// Returns the needles found in a daemon's memory, by name, with their forms.
  private func find(_ needles: [String: [UInt8]], _ sandbox: Sandbox) throws -> [String: Set<String>] {
    try MemorySearch(pid: try #require(sandbox.daemonPid)).findForms(of: needles)
  }

  private func unlocked() throws -> Sandbox {
    let sandbox = try Sandbox()
    _ = try sandbox.makeVault(password: Self.password, config: "idle = off")
    try sandbox.unlock(Self.password)
    return sandbox
  }

  private func set(_ name: String, _ use: String, _ value: [UInt8], _ client: WireClient) throws {
    let set = try client.call("Set", ["name": name, "use": use, "data": Data(value).base64EncodedString()])
    try #require(set.error == nil, "\(name): \(set)")
  }

  /// Uses a key in every possible way, and returns the secret results.
  private func use(_ name: String, _ use: String, _ client: WireClient) throws -> [String: [UInt8]] {
    var secrets: [String: [UInt8]] = [:]
    for round in 0..<4 {
      let message = random(64)
      secrets["\(name), message \(round)"] = message
      let data = Data(message).base64EncodedString()
      switch use {
      case "sign":
        let reply = try client.call("Sign", ["name": name, "data": data])
        #expect(reply.error == nil, "\(name): \(reply)")
        // A call that fails.
        #expect(
          try client.call("Sign", ["name": name, "data": data, "algorithm": "x"]).error
            == "org.varlink.service.InvalidParameter")
      case "mac":
        for algorithm in ["HS256", "HS512"] {
          let reply = try client.call("Mac", ["name": name, "data": data, "algorithm": algorithm])
          let mac = try #require(reply.string("mac"), "\(reply)")
          // The search looks for the base64 of these bytes, too.
          secrets["\(name), \(algorithm) \(round)"] = Array(try #require(Data(base64Encoded: mac)))
          let compared = try client.call("Mac", ["name": name, "data": data, "algorithm": algorithm, "mac": mac])
          #expect(compared.parameters["valid"] as? Bool == true)
        }
      default:
        let reply = try client.call("IssueToken", ["name": name])
        let token = try #require(reply.string("token"), "\(name): \(reply)")
        secrets["\(name), token \(round)"] = Array(token.utf8)
        let signature = token.split(separator: ".")[2].replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - signature.count % 4) % 4)
        secrets["\(name), its signature \(round)"] = Array(try #require(Data(base64Encoded: signature + padding)))
        #expect(try client.call("VerifyToken", ["name": name, "token": token]).parameters["valid"] as? Bool == true)
        #expect(
          try client.call("VerifyToken", ["name": name, "token": token + "A"]).parameters["valid"] as? Bool == false)
        let wrong = try client.call("IssueToken", ["name": name, "lifetime": 1 << 40])
        #expect(wrong.error == "NotOnTheseTerms")
      }
    }
    if use != "mac" { #expect(try client.call("PublicKey", ["name": name]).error == nil || name.contains("hmac")) }
    return secrets
  }

  @Test("of keys from elsewhere, of what they signed, and of the hashes and tokens they made, a lock leaves nothing")
  func given() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    var needles: [String: [UInt8]] = [:]
    for (type, line) in Self.recipes.sorted(by: { $0.key < $1.key }) {
      for use in ["sign", "jwt"] where use == "sign" || !["p384", "p521"].contains(type) {
        let pem = try openssl(line, sandbox)
        let name = "\(use) \(type)"
        try set(name, use, pem, client)
        needles.merge(try self.needles(name, pem, sandbox)) { old, _ in old }
        needles.merge(try self.use(name, use, client)) { old, _ in old }
      }
    }
    for (name, use) in [("hmac", "mac"), ("jwt hmac", "jwt")] {
      let key = random(48)
      try set(name, use, key, client)
      needles.merge(hashKey(name, key)) { old, _ in old }
      needles.merge(try self.use(name, use, client)) { old, _ in old }
    }
    // The positive controls: the same search finds the key that the daemon holds while unlocked, and each of these
    // needles.
    let keys = try VaultKeys(of: sandbox, password: Self.password)
    #expect(try find(["key": keys.whenUnlockedValues], sandbox)["key"] == ["raw"])
    let all = MemorySearch(of: needles.values.reduce([]) { $0 + [0] + $1 })
    #expect(Set(all.findForms(of: needles).keys) == Set(needles.keys))

    #expect(try client.call("Lock").error == nil)
    needles["the vault's key"] = keys.whenUnlockedValues
    #expect(try find(needles, sandbox) == [:])
  }

  @Test("of keys that the daemon made by itself a lock leaves nothing, also of RSA's, which another thread makes")
  func made() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    let client = try sandbox.client()
    var needles: [String: [UInt8]] = [:]
    // RSA keys take seconds to make, each in a process of its own, so make fewer of them.
    let uses = ["ed25519": ["sign", "jwt", "ssh"], "p256": ["sign", "jwt", "ssh"], "rsa": ["sign", "jwt"]]
    for style in ["ed25519", "p256", "rsa", "hmac"] {
      for use in uses[style] ?? ["mac", "jwt"] {
        let name = "\(use) \(style)"
        let made = try client.call("Set", ["name": name, "use": use, "generate": ["style": style]])
        try #require(made.error == nil, "\(name): \(made)")
        if use != "ssh" { needles.merge(try self.use(name, use, client)) { old, _ in old } }
      }
    }
    // A key that was not stored, because the item existed already.
    #expect(
      try client.call("Set", ["name": "sign p256", "use": "sign", "generate": ["style": "p256"]]).error
        == "AlreadyExists")
    let read = try sandbox.client()
    for name in ["sign ed25519", "sign p256", "sign rsa", "jwt ed25519", "jwt p256", "jwt rsa", "mac hmac", "jwt hmac"]
    {
      let reply = try read.call("Get", ["name": name])
      let value =
        reply.string("value").map { Array($0.utf8) }
        ?? reply.string("data").flatMap { Data(base64Encoded: $0) }.map(Array.init)
      let key = try #require(value, "\(name): \(reply)")
      needles.merge(name.hasSuffix("hmac") ? hashKey(name, key) : try self.needles(name, key, sandbox)) { old, _ in old
      }
    }
    #expect(try client.call("Lock").error == nil)
    #expect(try find(needles, sandbox) == [:])
  }
}
