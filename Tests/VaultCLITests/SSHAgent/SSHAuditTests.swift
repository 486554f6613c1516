import Testing
import VaultTesting

@Suite("The ssh-agent in the audit log") struct SSHAuditTests {
  @Test("each refusal is an entry, which names the key where there is one") func refusals() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    let printed = try sandbox.script(
      """
      def fingerprint(blob): return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
      own, host = blobs(join())[0][0], Key(bytes(32))
      session = bytes(32)
      def refused(body): assert code(join(), body) == 5, body
      refused(sign_body(host.blob, login(host.blob, session)))
      refused(sign_body(own, b"no login"))
      refused(b"\\x12" + string(host.blob))
      refused(bind(host, session, True, signature=string("ssh-ed25519") + string(bytes(64))))
      refused(b"\\x1b" + string("session-bind@openssh.com") + b"x")
      refused(b"\\x17" + string("p"))
      refused(b"\\x63")
      refused(b"\\x0d")
      assert code(join(), bind(host, session, True)) == 6
      assert code(join(), b"\\x16" + string("p")) == 6
      assert blobs(join()) == []
      refused(sign_body(own, login(own, session)))
      refused(host.body())
      refused(b"\\x16" + string("p"))
      refused(b"\\x17" + string("q"))
      assert code(join(), b"\\x17" + string("p")) == 6
      assert code(join(), host.body()) == 6
      print(fingerprint(own), fingerprint(host.blob))
      """)
    let (own, host) = try #require(printed.split(whereSeparator: \.isWhitespace).pair)
    let audit = try sandbox.sshAudit()
    #expect(
      audit == [
        "find ok 1 key for ssh",
        "use denied ssh signature with \(host)",
        "use denied ssh signature with \(own)",
        "use missing ssh-add -d of \(host)",
        "call denied ssh-agent: session-bind host key \(host)",
        "call invalid ssh-agent: session-bind",
        "call invalid ssh-agent: ssh-add -X",
        "call invalid ssh-agent: a request that is not known",
        "call invalid ssh-agent: a request that cannot be read",
        "call ok ssh-agent: session-bind host key \(host)",
        "call ok ssh-agent: ssh-add -x",
        "find locked keys for ssh",
        "use locked ssh signature with \(own)",
        "use locked ssh-add",
        "call locked ssh-agent: ssh-add -x",
        "call unproven ssh-agent: ssh-add -X",
        "call ok ssh-agent: ssh-add -X",
        "use ok ssh-add of \(host)",
      ], "\(audit)")
    // The vault is locked, and nobody attends who could unlock it or confirm a key.
    try sandbox.must(["lock"])
    try sandbox.script(
      """
      own = Key(bytes(32))
      listed = blobs(join())
      assert code(join(), sign_body(listed[0][0], login(listed[0][0], bytes(32)))) == 5
      assert code(join(), own.body()) == 5
      """)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let late = try sandbox.sshAudit().suffix(2)
    #expect(
      late.first?.hasPrefix("use locked ssh/a ") == true && late.first?.hasSuffix(" by \(own)") == true, "\(late)")
    #expect(late.last == "use locked ssh-add of \(host)", "\(late)")
  }

  @Test("who goes away while it waits leaves an entry of what it asked for") func gone() throws {
    let sandbox = try Sandbox.withSSHAgent("hide-names = true\n")
    defer { sandbox.close() }
    try sandbox.storeKey("a", ["ed25519"], ["--require", "password"])
    let printed = try sandbox.script(
      """
      agent = attend()
      own = blobs(join())[0][0]
      def leave(body, about):
          client = join()
          client.sendall(string(body))
          while True:
              found = event(agent)
              if found["event"] == "inquiry" and found["inquiry"]["about"] == about: break
          client.close()
          while event(agent)["event"] != "withdrawn": pass
      leave(sign_body(own, login(own, bytes(32))), "presence")
      call(connect(), "Lock")
      leave(sign_body(own, login(own, bytes(32))), "unlock")
      leave(b"\\x0b", "unlock")
      print("SHA256:" + base64.b64encode(hashlib.sha256(own).digest()).decode().rstrip("="))
      """)
    let own = try #require(printed.split(separator: "\n").first)
    let login = "SSH login to a host that is not known as `ana`"
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let audit = try sandbox.sshAudit()
    #expect(
      audit == [
        "find ok 1 key for ssh", "use cancelled ssh/a \(login), by \(own)",
        "use cancelled ssh signature with \(own)", "find cancelled keys for ssh",
      ], "\(audit)")
  }

  @Test("where the log is required, what was answered is in it, though the daemon is killed at once") func killed()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent("audit = required\n")
    defer { sandbox.close() }
    let key = try sandbox.storeKey("a")
    #expect(try sandbox.listed().contains(" ssh/a "))
    try sandbox.stopDaemon(signal: 9)
    try sandbox.startDaemon()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try sandbox.sshAudit() == ["find ok 1 key for ssh"])
    #expect(try sandbox.ssh("ssh-add", ["-q", key]).status == 0)
    try sandbox.stopDaemon(signal: 9)
    try sandbox.startDaemon()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try sandbox.sshAudit().last?.hasPrefix("use ok ssh-add of SHA256:") == true)
  }

  @Test("where the log is required, nothing is listed, signed, added or removed once the check has failed")
  func failed() throws {
    let sandbox = try Sandbox.withSSHAgent("audit = required\n")
    defer { sandbox.close() }
    let (item, own) = (try sandbox.storeKey("item"), try sandbox.makeKey("own"))
    #expect(try sandbox.listed().contains(" ssh/item "))
    try sandbox.stopDaemon()
    try sandbox.editStore("DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)")
    try sandbox.startDaemon()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try wait(for: "the check") { try sandbox.must(["status", "--json"]).contains(#""state":"failed""#) }
    #expect(try sandbox.listed().contains("agent refused operation"))
    for arguments in [["-q", own], ["-D"]] { #expect(try sandbox.ssh("ssh-add", arguments).status != 0) }
    try sandbox.script(
      """
      blob = base64.b64decode(sys.argv[4].split()[1])
      assert code(join(), sign_body(blob, login(blob, bytes(32)))) == 5
      """, sandbox.publicKey(item))
  }
}

extension Array {
  /// The two elements of an array of exactly two; nil for any other array.
  fileprivate var pair: (Element, Element)? { count == 2 ? (self[0], self[1]) : nil }
}
