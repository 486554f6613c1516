import Testing
import VaultTesting

@Suite("The ssh-agent in the audit log") struct SSHAuditTests {
  @Test("each refusal is an entry, which names the key where there is one") func refusals() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    let (key, host) = (try #require(sandbox.join().keys().first).blob, SSHTestKey())
    let session = [UInt8].zeros(32)
    let forged: [UInt8] = .string("ssh-ed25519") + .string(.zeros(64))
    func isRefused(_ body: [UInt8]) throws -> Bool { try sandbox.join().code(body) == 5 }
    #expect(try isRefused(.sign(host.blob, .login(host.blob, session))))
    #expect(try isRefused(.sign(key, Array("no login".utf8))))
    #expect(try isRefused(.remove(host.blob)))
    #expect(try isRefused(.bind(host.blob, session, isForwarding: true, signature: forged)))
    #expect(try isRefused(.extension("session-bind@openssh.com") + [0x78]))
    #expect(try isRefused(.unlock("p")))
    #expect(try isRefused(.unknown))
    #expect(try isRefused([0x0d]))
    #expect(try sandbox.join().code(.bind(host, session, isForwarding: true)) == 6)
    #expect(try sandbox.join().code(.lock("p")) == 6)
    #expect(try sandbox.join().keys().isEmpty)
    #expect(try isRefused(.sign(key, .login(key, session))))
    #expect(try isRefused(host.adding()))
    #expect(try isRefused(.lock("p")))
    #expect(try isRefused(.unlock("q")))
    #expect(try sandbox.join().code(.unlock("p")) == 6)
    #expect(try sandbox.join().code(host.adding()) == 6)
    let (own, added) = (SSHTestKey.fingerprint(key), SSHTestKey.fingerprint(host.blob))
    let audit = try sandbox.sshAudit()
    #expect(
      audit == [
        "find ok 1 key for ssh",
        "use denied ssh signature with \(added)",
        "use denied ssh signature with \(own)",
        "use missing ssh-add -d of \(added)",
        "call denied ssh-agent: session-bind host key \(added)",
        "call invalid ssh-agent: session-bind",
        "call invalid ssh-agent: ssh-add -X",
        "call invalid ssh-agent: a request that is not known",
        "call invalid ssh-agent: a request that cannot be read",
        "call ok ssh-agent: session-bind host key \(added)",
        "call ok ssh-agent: ssh-add -x",
        "find locked keys for ssh",
        "use locked ssh signature with \(own)",
        "use locked ssh-add",
        "call locked ssh-agent: ssh-add -x",
        "call unproven ssh-agent: ssh-add -X",
        "call ok ssh-agent: ssh-add -X",
        "use ok ssh-add of \(added)",
      ], "\(audit)")
    // The vault is locked, and nobody attends who could unlock it or confirm a key.
    try sandbox.must(["lock"])
    // Another process asks, because a process's repeated listings are counted, and have their entry later.
    let other = try OtherProcess(in: sandbox)
    func join() throws -> WireClient { try other.connect(to: sandbox.sshSocket) }
    let listed = try #require(join().keys().first).blob
    #expect(try join().code(.sign(listed, .login(listed, .zeros(32)))) == 5)
    #expect(try join().code(host.adding()) == 5)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let late = try sandbox.sshAudit().suffix(2)
    #expect(
      late.first?.hasPrefix("use locked ssh/a ") == true && late.first?.hasSuffix(" by \(own)") == true, "\(late)")
    #expect(late.last == "use locked ssh-add of \(added)", "\(late)")
  }

  @Test("who goes away while it waits leaves an entry of what it asked for") func gone() throws {
    let sandbox = try Sandbox.withSSHAgent("hide-names = true\n")
    defer { sandbox.close() }
    try sandbox.storeKey("a", ["ed25519"], ["--require", "password"])
    let agent = try AttendingClient(sandbox)
    let key = try #require(sandbox.join().keys().first).blob
    func leave(_ body: [UInt8], _ about: String) throws {
      var client: WireClient? = try sandbox.join()
      client?.ask(body)
      while try agent.nextInquiry()["about"] as? String != about {}
      client = nil
      _ = try agent.next("withdrawn")
    }
    try leave(.sign(key, .login(key, .zeros(32))), "presence")
    _ = try sandbox.outcome("Lock")
    try leave(.sign(key, .login(key, .zeros(32))), "unlock")
    try leave(.list, "unlock")
    let own = SSHTestKey.fingerprint(key)
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
    let blob = try sandbox.publicBlob(item)
    #expect(try sandbox.join().code(.sign(blob, .login(blob, .zeros(32)))) == 5)
  }
}
