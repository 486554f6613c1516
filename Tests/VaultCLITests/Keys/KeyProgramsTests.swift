import Foundation
import Testing
import VaultTesting

@Suite("Keys of the vault and other programs") struct KeyProgramsTests {
  private func openssl(_ line: String, _ sandbox: Sandbox) throws -> Outcome {
    try sandbox.run(["-c", "cd; openssl " + line], program: "/bin/sh")
  }

  /// The arguments with which openssl checks and makes signatures, for each key and algorithm.
  private static let signatures: [(style: String, algorithm: String, check: String, sign: String)] = [
    (
      "ed25519", "EdDSA", "pkeyutl -verify -rawin -pubin -inkey public -in message -sigfile signature",
      "pkeyutl -sign -rawin -inkey private -in message"
    ),
    ("p256", "ES256", "dgst -sha256 -verify public -signature signature message", "dgst -sha256 -sign private message"),
    (
      "rsa3072", "RS256", "dgst -sha256 -verify public -signature signature message",
      "dgst -sha256 -sign private message"
    ),
    (
      "rsa3072", "RS512", "dgst -sha512 -verify public -signature signature message",
      "dgst -sha512 -sign private message"
    ),
    (
      "rsa3072", "PS256",
      "dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 -verify public -signature signature "
        + "message",
      ""
    ),
    (
      "rsa3072", "PS512",
      "dgst -sha512 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:64 -verify public -signature signature "
        + "message",
      ""
    ),
  ]

  @Test("openssl verifies every signature, and signs the same where that is determined") func signatures() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for style in Set(Self.signatures.map(\.style)) {
      try sandbox.must(["set", style, "--use", "sign", "--generate", style])
    }
    for size in [0, 1, 64, 100_000] {
      let message = Data((0..<size).map { _ in UInt8.random(in: 0...255) })
      try message.write(to: URL(fileURLWithPath: sandbox.home + "/message"))
      for (style, algorithm, check, sign) in Self.signatures {
        let name = "\(style) \(algorithm), \(size) bytes"
        try sandbox.write(sandbox.must(["pubkey", style]), to: "public")
        try sandbox.write(sandbox.must(["get", style]), to: "private")
        let made = try sandbox.run(["sign", style, sandbox.home + "/message", "--algorithm", algorithm])
        try Data(made.stdout).write(to: URL(fileURLWithPath: sandbox.home + "/signature"))
        // openssl 3.0 takes no empty message for Ed25519.
        guard size > 0 || style != "ed25519" else { continue }
        let verified = try openssl(check, sandbox)
        #expect(made.status == 0 && verified.status == 0, "\(name): \(verified)")
        if style != "p256", !sign.isEmpty { #expect(try openssl(sign, sandbox).stdout == made.stdout, "\(name)") }
        var damaged = made.stdout
        damaged[damaged.count / 2] ^= 1
        try Data(damaged).write(to: URL(fileURLWithPath: sandbox.home + "/signature"))
        #expect(try openssl(check, sandbox).status != 0, "\(name), damaged")
      }
    }
  }

  @Test("openssl computes the same keyed hashes") func hashes() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "mac", "--use", "mac", "--generate", "hmac256"])
    let key = try sandbox.run(["get", "mac"]).stdout.map { String(format: "%02x", $0) }.joined()
    for size in [0, 1, 55, 64, 1 << 20] {
      try Data(repeating: 7, count: size).write(to: URL(fileURLWithPath: sandbox.home + "/message"))
      for (algorithm, hash) in [("HS256", "sha256"), ("HS512", "sha512")] {
        let made = try sandbox.must(["mac", "mac", sandbox.home + "/message", "--algorithm", algorithm])
        let theirs = try openssl("dgst -r -\(hash) -mac HMAC -macopt hexkey:\(key) message", sandbox).output
        #expect(theirs.hasPrefix(made.dropLast()), "\(size) \(algorithm)")
      }
    }
  }

  @Test(
    """
    pyjwt and cryptography verify tokens by the key set, we verify theirs, and what only looks like one counts \
    nowhere
    """,
    .enabled(if: OtherProgram.hasPackage("jwt") && OtherProgram.hasPackage("cryptography"), OtherProgram.why("pyjwt")))
  func tokens() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let styles = ["ed25519": "EdDSA", "p256": "ES256", "rsa3072": "RS256", "hmac256": "HS256"]
    for style in styles.keys.sorted() {
      for name in [style, "other-\(style)"] {
        try sandbox.must([
          "set", name, "--use", "jwt", "--generate", style, "-a", "iss=https://gw.example", "-a", "aud=mqtt", "-a",
          "max-ttl=1h",
          "-a", "sub=lamp-*", "-a", "claims=role",
        ])
      }
    }
    func file(_ name: String, _ arguments: [String]) throws {
      let outcome = try sandbox.run(arguments)
      try #require(outcome.status == 0, "\(outcome)")
      try Data(outcome.stdout).write(to: URL(fileURLWithPath: "\(sandbox.home)/\(name)"))
    }
    // A rotated key, and a key restored after a rotation.
    try file("ed25519.before", ["token", "issue", "ed25519", "--sub", "lamp-1", "--claim", "role=light"])
    try sandbox.must(["token", "rotate", "ed25519"])
    try file("p256.before", ["token", "issue", "p256", "--sub", "lamp-1", "--claim", "role=light"])
    try sandbox.must(["token", "rotate", "p256"])
    try sandbox.must(["restore-version", "p256", "1"])
    for (style, algorithm) in styles {
      try file("\(style).token", ["token", "issue", style, "--sub", "lamp-1", "--claim", "role=light"])
      try file("\(style).private", ["get", style])
      try file("\(style).other", ["token", "issue", "other-\(style)", "--sub", "lamp-1"])
      if algorithm != "HS256" {
        try file("\(style).jwks", ["pubkey", style, "--format", "jwks"])
        try file("\(style).public", ["pubkey", style])
      }
    }
    let outcome = try sandbox.run(
      ["-c", Self.script, sandbox.home], program: "/usr/bin/python3", environment: ["PYTHONPATH": OtherProgram.python])
    try #require(outcome.status == 0, "\(outcome)")
    var counts = (good: 0, bad: 0)
    for line in outcome.output.split(separator: "\n") {
      let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      try #require(words.count == 4, "\(line)")
      let verified = try sandbox.run(["token", "verify", words[0]], stdin: Array(words[3].utf8))
      let what = "\(words[0]), \(words[1]): \(verified)"
      if words[2].isEmpty {
        counts.good += 1
        #expect(verified.status == 0 && verified.output.contains(#""sub":"lamp-1""#), "\(what)")
      } else {
        counts.bad += 1
        #expect(verified.status == 65 && verified.errors.contains(words[2]), "\(what)")
      }
    }
    #expect(counts.good >= 8 && counts.bad >= 40, "\(counts)")
  }

  /// Verifies the tokens of the folder, and prints others: the item's name, a description, a part of the expected
  /// reason for refusal (empty for none), and the token.
  private static let script = #"""
    import base64, hashlib, hmac, json, os, sys, time, uuid
    import jwt
    from jwt import PyJWKSet
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    folder = sys.argv[1]
    def read(name): return open(os.path.join(folder, name), "rb").read()
    def b64(data): return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    def unb64(text): return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    def out(item, what, fault, token): print(item, what, fault, token, sep="\t")
    algorithms = {"ed25519": "EdDSA", "p256": "ES256", "rsa3072": "RS256", "hmac256": "HS256"}
    terms = dict(issuer="https://gw.example", audience="mqtt", options={"require": ["exp", "iat", "nbf", "jti", "sub"]})
    for style, algorithm in algorithms.items():
        tokens = [name for name in ["token", "before"] if os.path.exists(os.path.join(folder, style + "." + name))]
        private = read(style + ".private")
        if algorithm == "HS256":
            key, keys, kid = private, {}, "v1"
        else:
            key = load_pem_private_key(private, None)
            keys = {one.key_id: one for one in PyJWKSet.from_dict(json.loads(read(style + ".jwks"))).keys}
            kid = jwt.get_unverified_header(read(style + ".token").decode())["kid"]
            assert len(keys) == (2 if style in ["ed25519", "p256"] else 1), keys
        for name in tokens:
            token = read(style + "." + name).decode()
            header = jwt.get_unverified_header(token)
            assert header["alg"] == algorithm and header["typ"] == "JWT" and set(header) == {"alg", "typ", "kid"}, \#
            header
            claims = jwt.decode(token, keys[header["kid"]].key if keys else key, algorithms=[algorithm], **terms)
            assert claims["sub"] == "lamp-1" and claims["role"] == "light" and claims["exp"] - claims["iat"] == 3600, \#
            claims
            out(style, "ours, " + name, "", token)
        now = int(time.time())
        def claims(**changes):
            all = {"iss": "https://gw.example", "aud": "mqtt", "sub": "lamp-1", "iat": now, "nbf": now, "exp": now + \#
            600,
                   "jti": uuid.uuid4().hex}
            all.update(changes)
            return {name: value for name, value in all.items() if value is not None}
        def theirs(headers={"kid": kid}, **changes):
            return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)
        out(style, "theirs", "", theirs())
        out(style, "theirs without kid", "", theirs(headers={}))
        out(style, "audiences", "", theirs(aud=["x", "mqtt"]))
        for fault, changes in [
            ("expired", {"exp": now - 1, "iat": now - 600, "nbf": now - 600}), ("not valid for another", {"nbf": now \#
            + 300}),
            ("not valid for another", {"iat": now + 300, "exp": now + 900}), ("max-ttl", {"exp": now + 3601}),
            ("no end", {"exp": None}), ("(iat)", {"iat": None}), ("(jti)", {"jti": None}), ("issuer", {"iss": \#
            "https://other"}),
            ("issuer", {"iss": None}), ("audience", {"aud": None}), ("attribute 'aud'", {"aud": "http"}), ("subject", \#
            {"sub": "door-1"}),
            ("subject", {"sub": None}), ("subject", {"sub": "lamp-1/x"}),
        ]:
            out(style, str(changes), fault, theirs(**changes))
        out(style, "another item's", "not made with a key" if keys else "was not signed", read(style + \#
        ".other").decode())
        out(style, "another's kid", "not made with a key", theirs(headers={"kid": "v9"}))
        parts = read(style + ".token").decode().split(".")
        def signed_by_hash(secret, header):
            text = b64(json.dumps(header).encode()) + "." + b64(json.dumps(claims()).encode())
            return text + "." + b64(hmac.new(secret, text.encode(), hashlib.sha256).digest())
        if algorithm != "HS256":
            public = read(style + ".public")
            for secret in [public, public.strip(), read(style + ".jwks"), b""]:
                out(style, "HS256 with the public key", "algorithm is `HS256`", signed_by_hash(secret, {"alg": \#
                "HS256", "typ": "JWT", "kid": kid}))
                out(style, "a hash said to be " + algorithm, "was not signed", signed_by_hash(secret, {"alg": \#
                algorithm, "typ": "JWT", "kid": kid}))
        else:
            out(style, "an empty key", "was not signed", signed_by_hash(b"", {"alg": "HS256", "typ": "JWT", "kid": \#
            kid}))
        for none in ["none", "None", "NONE", ""]:
            header = b64(json.dumps({"alg": none, "typ": "JWT", "kid": kid}).encode())
            for signature in ["", parts[2]]:
                out(style, "alg " + none, "the token", header + "." + parts[1] + "." + signature)
        out(style, "no signature", "the token", parts[0] + "." + parts[1] + ".")
        out(style, "another payload", "was not signed", parts[0] + "." + b64(json.dumps(claims()).encode()) + "." + \#
        parts[2])
        raw = unb64(parts[2])
        out(style, "a bit", "was not signed", parts[0] + "." + parts[1] + "." + b64(raw[:-1] + bytes([raw[-1] ^ 1])))
        out(style, "cut short", "was not signed", parts[0] + "." + parts[1] + "." + b64(raw[:-1]))
        if algorithm == "ES256":
            order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
            zero = bytes(64)
            out(style, "zeros", "was not signed", parts[0] + "." + parts[1] + "." + b64(zero))
            out(style, "the order", "was not signed", parts[0] + "." + parts[1] + "." + b64(order.to_bytes(32, "big") \#
            * 2))
    """#

  @Test("a rotated RSA key is as long as it was, of the sizes that are made", arguments: [(2048, 3072), (4096, 4096)])
  func rotated(before: Int, after: Int) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let made = try openssl("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:\(before)", sandbox)
    try #require(made.status == 0, "\(made)")
    try sandbox.must(["set", "key", "--use", "jwt"], stdin: made.output)
    #expect(try sandbox.must(["show", "key"]).contains("jwt, rsa of \(before) bits"))
    try sandbox.must(["token", "rotate", "key"])
    #expect(try sandbox.must(["show", "key"]).contains("jwt, rsa of \(after) bits"))
  }
}
