import Foundation
import Glibc
import Testing
import VaultTesting
import VaultWire

@Suite("The right to use a key, at every door") struct UseDoorTests {
  /// The uses of the keys, one key each. Nobody may read the keys' values.
  private static let uses = ["jwt", "mac", "sign", "ssh", "totp"]

  private func value(of use: String, _ sandbox: Sandbox) throws -> [UInt8] {
    switch use {
    case "mac": return (0..<48).map { _ in UInt8.random(in: 0...255) }
    case "totp":
      let symbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
      return (0..<64).map { _ in symbols.randomElement() ?? 65 }
    default:
      return try sandbox.run(["genpkey", "-algorithm", "ed25519"], program: "/usr/bin/openssl").stdout
    }
  }

  /// The parts of a value that reveal the key. For PEM, these are its one line and the seed at the end of that; every
  /// other part is the same in all keys.
  private func secret(_ use: String, _ value: [UInt8]) throws -> [[UInt8]] {
    guard !["mac", "totp"].contains(use) else { return [value] }
    let line = try #require(String(decoding: value, as: UTF8.self).split(separator: "\n").dropFirst().first)
    let der = try #require(Data(base64Encoded: String(line)))
    return [Array(line.utf8), Array(der.suffix(32))]
  }

  /// Every spelling of each 12 bytes of a secret: plain, escaped, in hexadecimal, and in base64 with either alphabet at
  /// each alignment.
  private func windows(_ secret: [UInt8]) -> Set<String> {
    var windows: Set<String> = []
    for start in 0...(secret.count - 12) {
      let part = Array(secret[start..<(start + 12)])
      let hex = part.map { String(format: "%02x", $0) }.joined()
      windows.formUnion([hex, hex.uppercased()])
      // 12 bytes are 16 base64 characters; the text before them does not matter if its length is a multiple of three
      // bytes.
      let base64 = Data(part).base64EncodedString()
      windows.formUnion([
        base64, base64.replacing("+", with: "-").replacing("/", with: "_"), base64.replacing("/", with: "\\/"),
      ])
      if let text = String(validating: part, as: UTF8.self) { windows.insert(text) }
    }
    return windows
  }

  @Test(
    "who may use a key and not get it reads nothing of it by any method",
    .enabled(if: Root.isAtHand, "needs root to be another user"), arguments: ["use", "use,find"])
  func methods(rights: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", "/dev/null",
    ])
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    var needles: Set<String> = []
    for use in Self.uses {
      for version in 0..<2 {
        let value = try value(of: use, sandbox)
        let file = sandbox.home + "/value"
        try Data(value).write(to: URL(fileURLWithPath: file))
        try sandbox.must(
          ["set", "keys/\(use)", "--file", file]
            + (version > 0 ? ["--update"] : use == "totp" ? ["--kind", use] : ["--use", use]))
        for secret in try secret(use, value) { needles.formUnion(windows(secret)) }
        // The positive control: the search finds the value in the reply to a caller that may get it.
        let got = try sandbox.client().call("Get", ["name": "keys/\(use)"])
        #expect(needles.contains { "\(got)".contains($0) }, "\(use)")
      }
    }
    try sandbox.must(["grant", "user:65534", "keys/**", "--can", rights])
    try sandbox.must(["grant", "user:65534", "own/**", "--can", "get,set,find,watch,admin"])
    try sandbox.admitEveryone()
    let asked = try EveryCall(sandbox)
    try asked.askEverything(Self.uses.map { "keys/\($0)" })
    for answer in asked.answers { #expect(!needles.contains { answer.text.contains($0) }, "\(answer)") }

    // Every method was called, so that a new method must be added here; and the calls that the right allows succeeded.
    let all = Set(MethodName.allCases.map { "\($0.fullName)" })
    let methods = Set(asked.answers.map(\.method))
    #expect(methods == all, "\(all.symmetricDifference(methods))")
    func answers(_ method: String) -> [EveryCall.Answer] {
      asked.answers.filter { $0.method == "io.vaultd.Vault." + method }
    }
    for (method, word) in [
      ("Sign", "signature"), ("Mac", #""mac""#), ("IssueToken", "token"), ("Code", "code"), ("VerifyToken", "valid"),
      ("PublicKey", "BEGIN PUBLIC KEY"),
    ] {
      #expect(answers(method).contains { $0.text.contains(word) }, "\(method): \(answers(method))")
    }
    for method in ["Get", "Set", "Delete", "Move", "Copy", "RestoreVersion", "Undelete", "RevokeToken"] {
      #expect(answers(method).contains { $0.text.contains("Denied") }, "\(method): \(answers(method))")
      #expect(
        !answers(method).contains { $0.parameters.contains("keys/") && $0.text.contains(#""parameters":{"value""#) })
    }
    for use in Self.uses {
      let versions = try sandbox.client().call("History", ["name": "keys/\(use)"]).parameters["versions"]
      #expect((versions as? [WireClient.Message])?.count == 2, "\(use)")
    }
    // A page also ends when its time is up.
    var names: Set<String> = []
    var after: String?
    repeat {
      let page = try sandbox.client().call("Find", after.map { ["after": $0] } ?? [:])
      let found = page.parameters["items"] as? [WireClient.Message]
      names.formUnion(found?.compactMap { $0["name"] as? String } ?? [])
      after = page.string("next")
    } while after != nil
    #expect(names.filter { $0.hasPrefix("keys/") } == Set(Self.uses.map { "keys/\($0)" }))
  }

  @Test(
    "who may use a key is not handed it as a credential",
    .enabled(if: Cgroups.canBeMade, "makes cgroups, which needs root"))
  func credentials() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "mac", "--use", "mac", "--generate", "hmac256"])
    try stand.sandbox.must(["set", "other"], stdin: "a value")
    try stand.sandbox.must(["grant", "unit:" + stand.unit("tls"), "mac", "--can", "use,find"])
    try stand.grant("tls", "other", as: "other")
    #expect(try stand.ask("other", in: "tls") == "a value")
    #expect(try stand.ask("mac", in: "tls") == overflow)
  }
}
