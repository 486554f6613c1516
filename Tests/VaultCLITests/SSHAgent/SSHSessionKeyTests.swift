import Foundation
import Testing
import VaultTesting

@Suite("Keys that ssh-add hands over") struct SSHSessionKeyTests {
  @Test("a key of each type is added, signs, and is removed by itself or with all") func types() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let file = try sandbox.write("x", to: "file")
    for (name, type) in sshKeyTypes {
      let key = try sandbox.makeKey(name, type)
      let added = try sandbox.ssh("ssh-add", ["-q", key])
      #expect(added.status == 0, "\(name) \(added) \(sandbox.daemonLog)")
      try FileManager.default.removeItem(atPath: key)
      let signature = try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file])
      #expect(signature.status == 0, "\(name) \(signature) \(sandbox.daemonLog)")
      let checked = try sandbox.ssh(
        "ssh-keygen", ["-Y", "check-novalidate", "-n", "file", "-s", file + ".sig"], stdin: "x")
      #expect(checked.status == 0, "\(name) \(checked)")
      try FileManager.default.removeItem(atPath: file + ".sig")
    }
    // Adding a key again does not list it twice.
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.makeKey("more")]).status == 0)
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.home + "/more"]).status == 0)
    #expect(try sandbox.listed().split(separator: "\n").count == sshKeyTypes.count + 1)
    #expect(try sandbox.ssh("ssh-add", ["-q", "-d", sandbox.home + "/p384.pub"]).status == 0)
    #expect(try !sandbox.listed().contains(" p384 "))
    #expect(try sandbox.ssh("ssh-add", ["-q", "-d", sandbox.home + "/p384.pub"]).status != 0)
    try sandbox.storeKey("item")
    #expect(try sandbox.ssh("ssh-add", ["-q", "-D"]).status == 0)
    // `ssh-add -D` and `-d` remove the session's keys only, never an item.
    #expect(try sandbox.listed().split(separator: "\n").count == 1)
    #expect(try sandbox.ssh("ssh-add", ["-q", "-d", sandbox.home + "/item.pub"]).status != 0)
    #expect(try sandbox.listed().contains(" ssh/item "))
    let audit = try sandbox.sshAudit()
    #expect(audit.contains { $0.hasPrefix("use ok ssh-add of SHA256:") }, "\(audit)")
    #expect(
      audit.contains { $0.hasPrefix("use ok SSH signature for `file` with the session's key SHA256:") }, "\(audit)")
  }

  @Test("a lifetime ends") func lifetime() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    #expect(try sandbox.ssh("ssh-add", ["-q", "-t", "1", sandbox.makeKey("brief")]).status == 0)
    #expect(try sandbox.ssh("ssh-add", ["-q", "-t", "1h", sandbox.makeKey("long")]).status == 0)
    try wait(for: "its end") { try !sandbox.listed().contains(" brief ") }
    #expect(try sandbox.listed().contains(" long "))
  }

  @Test("a passphrase locks the agent, and it alone unlocks it, after a pause for each wrong one") func locked() throws
  {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let key = try sandbox.storeKey("item")
    try FileManager.default.removeItem(atPath: key)
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.makeKey("own")]).status == 0)
    let file = try sandbox.write("x", to: "file")
    func unlock(_ passphrase: String) throws -> Bool {
      try sandbox.ssh("ssh-add", ["-X"], passphrase: passphrase).status == 0
    }
    #expect(try !unlock("none is set"))
    #expect(try sandbox.ssh("ssh-add", ["-x"], passphrase: "a passphrase").status == 0)
    #expect(try sandbox.listed() == "The agent has no identities.\n")
    #expect(try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file]).status != 0)
    #expect(try sandbox.ssh("ssh-add", ["-x"], passphrase: "another").status != 0)
    #expect(try sandbox.ssh("ssh-add", ["-q", sandbox.home + "/own"]).status != 0)
    #expect(try sandbox.ssh("ssh-add", ["-D"]).status != 0)
    let clock = ContinuousClock()
    var pauses: [Duration] = []
    for _ in 0..<3 {
      let began = clock.now
      #expect(try !unlock("a passphrasf"))
      pauses.append(clock.now - began)
    }
    #expect(pauses[2] >= .milliseconds(300), "\(pauses)")
    // Other clients are served meanwhile.
    #expect(try sandbox.client().call("Status").string("state") == "unlocked")
    #expect(try unlock("a passphrase"))
    #expect(try sandbox.listed().split(separator: "\n").count == 2)
    try sandbox.script(
      """
      # None is looked at before the pause after the one before it: nobody guesses by many connections, and the right \
      one waits,
      # too.
      assert code(join(), b"\\x16" + string("right")) == 6
      began = time.monotonic()
      clients = [join() for _ in range(6)]
      for client in clients: client.sendall(string(b"\\x17" + string("wrong")))
      for client in clients[:3]: client.close()
      assert code(join(), b"\\x17" + string("right")) == 6
      assert time.monotonic() - began >= 2.1, time.monotonic() - began
      assert [receive(client)[0] for client in clients[3:]] == [5] * 3
      """)
  }

  @Test("no more than 64 are kept, and none is taken while the vault is locked") func limits() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.script(
      """
      keys = [Key(bytes([number] * 32)) for number in range(65)]
      client = join()
      for key in keys[:64]: assert code(client, key.body()) == 6
      assert code(client, keys[64].body()) == 5
      assert code(client, keys[0].body("again")) == 6
      assert len(blobs(client)) == 64
      assert code(client, b"\\x12" + string(keys[1].blob)) == 6
      assert code(client, keys[64].body()) == 6
      assert code(client, b"\\x13") == 6 and blobs(client) == []
      # A public half that is another key's, a part of one, and types that are not held.
      for bad in [
          keys[0].body().replace(keys[0].public, keys[1].public), keys[0].body()[:-6], keys[0].body() + b"x",
          keys[0].body(constraints=b"\\x03\\0\\0\\0\\0"), keys[0].body(constraints=b"\\xff" + string("x@y")),
          keys[0].body(constraints=b"\\x01\\0\\0\\0\\x09\\x01\\0\\0\\0\\x09"), b"\\x11" + string("ssh-dss") + bytes(40),
          keys[0].body("a\\0b"), keys[0].body("x" * 1025), b"\\x11" + string("sk-ssh-ed25519@openssh.com") + bytes(40),
      ]:
          assert code(client, bad) == 5, bad
      assert blobs(client) == []
      call(connect(), "Lock")
      assert code(client, keys[0].body()) == 5
      assert converse("Unlock") == "done"
      assert code(client, keys[0].body()) == 6
      assert request(client, b"\\x1b" + string("query"))[0] == 29
      assert code(client, b"\\x1b" + string("nonsense@x")) == 5
      for number in [1, 3, 7, 8, 9, 20, 21, 24, 26, 99, 200, 255]: assert code(client, bytes([number])) == 5
      """)
    #expect(sandbox.daemonLog.contains("the agent has as many keys as it can hold"))
  }

  @Test("a lock takes them, and leaves nothing of them in memory") func wiped() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let seed = (0..<32).map { _ in UInt8.random(in: 0...255) }
    let hex = seed.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    func add() throws {
      try sandbox.script("assert code(join(), Key(bytes.fromhex(sys.argv[4])).body()) == 6", hex)
    }
    try add()
    let keys = try ["p256", "rsa"].map { try sandbox.makeKey($0, sshKeyTypes[$0] ?? []) }
    #expect(try sandbox.ssh("ssh-add", ["-q"] + keys).status == 0)
    let file = try sandbox.write("x", to: "file")
    for key in keys {
      _ = try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file])
    }
    // The private numbers stand at the end of the key's file, and form longer runs than anything else in it.
    let pieces = try keys.map { key in
      let lines = try String(contentsOfFile: key, encoding: .utf8).split(separator: "\n").dropFirst().dropLast()
      let bytes = [UInt8](Data(base64Encoded: lines.joined()) ?? Data())
      return key.hasSuffix("rsa")
        ? Array(bytes[(bytes.count - 400)..<(bytes.count - 100)]) : Array(bytes.suffix(44).prefix(30))
    }
    #expect(try sandbox.listed().split(separator: "\n").count == 3)
    guard MemorySearch.isPossible else { return }
    let pid = try #require(sandbox.daemonPid)
    let sought = ["seed": seed, "scalar": pieces[0], "factors": pieces[1]]
    let before = try MemorySearch(pid: pid).findForms(of: sought)
    #expect(Set(before.keys) == ["seed", "scalar", "factors"], "\(before)")
    try sandbox.must(["lock"])
    #expect(try sandbox.listed() == "The agent has no identities.\n")
    #expect(try MemorySearch(pid: pid).findForms(of: sought).isEmpty)
    // Nothing is left of a removed key either, though the client that added and used it stays connected.
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    for request in [#"b"\x12" + string(key.blob)"#, #"b"\x13""#] {
      let (removed, searched) = (sandbox.root + "/removed", sandbox.root + "/searched")
      let client = sandbox.beginScript(
        """
        client, key = join(), Key(bytes.fromhex(sys.argv[4]))
        assert code(client, key.body()) == 6
        assert code(client, sign_body(key.blob, login(key.blob, bytes(32)))) == 14
        assert code(client, \(request)) == 6
        open(sys.argv[5], "w").close()
        while not os.path.exists(sys.argv[6]): pass
        assert blobs(client) == []
        """, hex, removed, searched)
      try wait(for: "the end of the key") { FileManager.default.fileExists(atPath: removed) }
      #expect(try MemorySearch(pid: pid).findForms(of: ["seed": seed]).isEmpty)
      try Data().write(to: URL(fileURLWithPath: searched))
      let outcome = try client.outcome()
      #expect(outcome.status == 0, "\(outcome)")
      for file in [removed, searched] { try FileManager.default.removeItem(atPath: file) }
    }
    // Nothing is left of a key that expired, or that was only a part of a request.
    try add()
    #expect(try sandbox.ssh("ssh-add", ["-q", "-D"]).status == 0)
    #expect(try MemorySearch(pid: pid).findForms(of: ["seed": seed]).isEmpty)
    try sandbox.script(
      """
      client = join()
      client.sendall(string(Key(bytes.fromhex(sys.argv[4])).body())[:-3])
      # It has come when what was sent after it is answered.
      for _ in range(2): assert code(join(), b"\\x0b") == 12
      call(connect(), "Lock")
      assert receive(client) is None
      """, hex)
    #expect(try MemorySearch(pid: pid).findForms(of: ["seed": seed]).isEmpty)
  }
}
