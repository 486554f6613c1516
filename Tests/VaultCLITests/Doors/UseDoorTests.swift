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
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault"] { unsafe chmod(path, 0o755) }
    unsafe chmod(sandbox.socket, 0o666)
    let outcome = try sandbox.run(
      [
        "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", VarlinkScript.prelude + Self.script,
        sandbox.socket,
      ],
      program: "/usr/bin/setpriv")
    try #require(outcome.status == 0, "\(outcome)")
    let lines = outcome.output.split(separator: "\n")
    for line in lines { #expect(!needles.contains { line.contains($0) }, "\(line)") }

    // Every method was called, so that a new method must be added here; and the calls that the right allows succeeded.
    let asked = Set(lines.compactMap { $0.split(separator: " ").first }.map(String.init))
    let all = Set(MethodName.allCases.map { "\($0.fullName)" })
    #expect(asked == all, "\(all.symmetricDifference(asked))")
    func answers(_ method: String) -> [Substring] { lines.filter { $0.hasPrefix("io.vaultd.Vault.\(method) ") } }
    for (method, word) in [
      ("Sign", "signature"), ("Mac", #""mac""#), ("IssueToken", "token"), ("Code", "code"), ("VerifyToken", "valid"),
      ("PublicKey", "BEGIN PUBLIC KEY"),
    ] {
      #expect(answers(method).contains { $0.contains(word) }, "\(method): \(answers(method))")
    }
    for method in ["Get", "Set", "Delete", "Move", "Copy", "RestoreVersion", "Undelete", "RevokeToken"] {
      #expect(answers(method).contains { $0.contains("Denied") }, "\(method): \(answers(method))")
      #expect(!answers(method).contains { $0.contains("keys/") && $0.contains(#""parameters": {"value""#) })
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

  /// Calls every method with every parameter that could lead to a value, each over a connection of its own, and prints
  /// all replies.
  private static let script = """
    V = "io.vaultd.Vault."
    names = ["keys/" + use for use in ["jwt", "mac", "sign", "ssh", "totp"]]
    def ask(method, more=False, upgrade=False, **parameters):
        client = connect()
        client.settimeout(2)
        message = {"method": method, "parameters": parameters}
        if more: message["more"] = True
        if upgrade: message["upgrade"] = True
        client.sendall(json.dumps(message).encode() + b"\\0")
        client.shutdown(socket.SHUT_WR)
        text = b""
        try:
            while True:
                part = client.recv(1 << 20)
                if not part: break
                text += part
        except (TimeoutError, ConnectionResetError): pass
        client.close()
        print(method, json.dumps(parameters), text.decode("utf-8", "replace").replace("\\0", " ").replace("\\n", " "))
        return text
    ask("org.varlink.service.GetInfo")
    ask("org.varlink.service.GetInterfaceDescription", interface="io.vaultd.Vault")
    for method in ["Status", "Lock", "ListSlots", "MarkStale", "ConfirmGrants", "RepairClock", "RepairAudit", \
    "Reload", "Deposits",
                   "Find", "Attributes", "Audit"]:
        ask(V + method)
    for method in ["Init", "Unlock", "ChangePassword", "Verify", "Salvage", "Rekey", "Requests", "Monitor", \
    "Children", "Grants",
                   "Audit", "EmptyTrash", "AddSlot", "RemoveSlot", "Authenticate", "Backup", "Restore"]:
        for more, upgrade in [(False, False), (True, False), (False, True)]:
            parameters = {"kind": "password"} if method == "AddSlot" else {"id": 1} if method == "RemoveSlot" else {}
            ask(V + method, more, upgrade, **parameters)
    ask(V + "Respond", conversation="a", answer="b")
    ask(V + "Attend", True, faces=["terminal"])
    ask(V + "Confirm", inquiry=1)
    ask(V + "Dismiss", inquiry=1)
    ask(V + "SettleDeposit", number=1, accept=True)
    ask(V + "Find", query="kind=blob", limit=100)
    ask(V + "Find", query="", trash=True)
    ask(V + "Children", True, prefix="keys/")
    ask(V + "Attributes", key="iss")
    ask(V + "Generate", recipe={"style": "password"})
    for style in ["ed25519", "p256", "rsa", "hmac"]: ask(V + "Generate", recipe={"style": style})
    for subject in ["user:65534", "user:0"]:
        ask(V + "Grant", subject=subject, items="keys/**", rights=["get"])
        ask(V + "Revoke", subject=subject)
        ask(V + "ForgetSubject", subject=subject)
    ask(V + "SealDeposit", key=json.loads(ask(V + "PublicKey").split(b"\\0")[0])["parameters"].get("key", ""), \
    name="own/box", value="x")
    ask(V + "DepositSealed", box="AAAA")
    for number in [1, 2]:
        ask(V + "Approve", number=number)
        ask(V + "Deny", number=number)
    for name in names:
        for version in [None, 1, 2]:
            more = {} if version is None else {"version": version}
            ask(V + "Get", name=name, expired=True, ask=False, **more)
            ask(V + "RestoreVersion", name=name, version=version or 1)
        ask(V + "Get", name=name, wait_ms=1)
        for method in ["Show", "History", "Undelete", "WhoMay", "Code", "IssueToken"]: ask(V + method, name=name)
        ask(V + "Authenticate", True, name=name)
        for field in [{"value": "message"}, {"data": "AAAA"}]:
            for algorithm in [None, "EdDSA", "HS512"]:
                more = {} if algorithm is None else {"algorithm": algorithm}
                ask(V + "Sign", name=name, **field, **more)
                ask(V + "Mac", name=name, **field, **more)
            ask(V + "Mac", name=name, mac="AAAA", **field)
            ask(V + "Set", name=name, update=True, **field)
            ask(V + "Deposit", name=name, **field)
        ask(V + "Set", name=name, update=True, kind="note")
        ask(V + "Set", name=name, update=True, accessible="always")
        ask(V + "SetMany", items=[{"name": name, "update": True, "kind": "note"}])
        ask(V + "SetMany", items=[{"name": "own/" + name, "value": "x"}, {"name": name, "value": "x", "update": True}])
        ask(V + "IssueToken", name=name, subject="s", lifetime=60)
        ask(V + "VerifyToken", name=name, token="a.b.c")
        ask(V + "RevokeToken", name=name, id="x")
        for format in [None, "spki", "openssh", "jwk", "jwks", "raw"]:
            ask(V + "PublicKey", name=name, **({} if format is None else {"format": format}))
        for target in ["own/" + name, "keys/new", name]:
            ask(V + "Copy", **{"from": name, "to": target, "replace": True, "expired": True})
            ask(V + "Move", **{"from": name, "to": target})
        ask(V + "Delete", names=[name])
        ask(V + "Delete", names=[name], now=True)
        ask(V + "Can", right="get", name=name)
        ask(V + "Receipt", name=name, version=1, succeeded=True)
        ask(V + "ForgetDenial", subject="user:65534", name=name)
        ask(V + "Audit", True, item=name)
        ask(V + "Monitor", True, after="0")
    """
}
