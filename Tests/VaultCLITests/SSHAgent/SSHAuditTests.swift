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
    let long = try sandbox.join()
    long.send(.number((256 << 10) + 1))
    #expect(try long.answer() == nil)
    #expect(try sandbox.join().code(.bind(host, session, isForwarding: true)) == 6)
    #expect(try sandbox.join().code(.lock("p")) == 6)
    #expect(try sandbox.join().keys().isEmpty)
    #expect(try isRefused(.sign(key, .login(key, session))))
    #expect(try isRefused(host.adding()))
    #expect(try isRefused(.lock("p")))
    #expect(try isRefused(.extension("query")))
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
        "call invalid ssh-agent: a request that is too long",
        "call ok ssh-agent: session-bind host key \(added)",
        "call ok ssh-agent: ssh-add -x",
        "find locked keys for ssh",
        "use locked ssh signature with \(own)",
        "use locked ssh-add",
        "call locked ssh-agent: ssh-add -x",
        "call locked ssh-agent: query",
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

  @Test("a host that has a certificate is told by the fingerprint of the key in it") func certificate() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    let (host, session) = (SSHTestKey(9), [UInt8].zeros(32))
    let key = try #require(sandbox.join().keys().first).blob
    let type: [UInt8] = .string("ssh-ed25519-cert-v01@openssh.com")
    let certificate: [UInt8] = type + .string("nonce") + .string(host.publicKey)
    let client = try sandbox.join()
    let bind: [UInt8] = .bind(certificate, session, isForwarding: false, signature: host.signature(of: session))
    #expect(try client.code(bind) == 6)
    #expect(try client.code(.sign(key, .login(key, session))) == 14)
    let fingerprint = SSHTestKey.fingerprint(host.blob)
    let unknown = "an unknown host (\(fingerprint), with a certificate that is not valid)"
    let audit = try sandbox.sshAudit()
    #expect(
      audit.suffix(2) == [
        "call ok ssh-agent: session-bind host key \(fingerprint)", "use ok ssh/a SSH login to \(unknown) as `ana`",
      ], "\(audit)")
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

  @Test("a request over the connection of a process that has ended has an entry, and no answer") func ended() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let other = try OtherProcess(in: sandbox)
    let clients = try (0..<2).map { _ in try other.connect(to: sandbox.sshSocket) }
    // One of the two is known to be accepted.
    _ = try clients[0].keys()
    other.end()
    for client in clients { #expect(try client.code(SSHTestKey().adding()) == nil) }
    #expect(try sandbox.sshAudit().suffix(2) == ["use denied ssh-add", "use denied ssh-add"])
  }

  @Test("so does one for whose consent it waits, and what comes after it, or only in part, has no entry") func consent()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    let key = SSHTestKey()
    // The byte stands for the constraint of `ssh-add -c`.
    #expect(try sandbox.join().code(key.adding(constraints: [2])) == 6)
    let request = [UInt8].sign(key.blob, .login(key.blob, .zeros(32)))
    var client: WireClient? = try sandbox.join()
    client?.send(.string(request) + .string(.removeAll))
    #expect(try agent.nextInquiry()["about"] as? String == "confirmation")
    client = nil
    _ = try agent.next("withdrawn")
    let part = try sandbox.join()
    part.send([UInt8].string(.remove(key.blob)).dropLast())
    part.finishSending()
    #expect(try part.answer() == nil)
    let added = SSHTestKey.fingerprint(key.blob)
    let login = "SSH login to a host that is not known as `ana` with the session's key \(added)"
    var told = ["use ok ssh-add of \(added)", "use cancelled \(login)"]
    #expect(try sandbox.sshAudit() == told)
    // The key is still there, and a removal ends the wait for consent.
    let waiting = try sandbox.join()
    waiting.ask(request)
    #expect(try agent.nextInquiry()["about"] as? String == "confirmation")
    #expect(try sandbox.join().code(.remove(key.blob)) == 6)
    #expect(try waiting.code() == 5)
    told += ["use missing \(login)", "use ok ssh-add -d of \(added)"]
    let audit = try sandbox.sshAudit()
    #expect(audit == told, "\(audit)")
  }

  @Test("a request that the end of the daemon or of the agent cuts off has its entry", arguments: [false, true])
  func cutOff(isStopped: Bool) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    let key = SSHTestKey()
    #expect(try sandbox.join().code(key.adding(constraints: [2])) == 6)
    let client = try sandbox.join()
    client.ask(.sign(key.blob, .login(key.blob, .zeros(32))))
    #expect(try agent.nextInquiry()["about"] as? String == "confirmation")
    if isStopped {
      try sandbox.stopDaemon()
      try sandbox.startDaemon()
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    } else {
      try sandbox.configure("pam-service = vault-test-none\nssh-agent = off\n")
      #expect(try sandbox.client().call("Reload").error == nil)
    }
    // A refusal may come before the end of the connection.
    let answer = try client.answer()
    #expect(answer == nil || answer == [5], "\(answer ?? [])")
    let added = SSHTestKey.fingerprint(key.blob)
    let login = "SSH login to a host that is not known as `ana` with the session's key \(added)"
    // The daemon locks the vault before it ends.
    let outcome = isStopped ? "locked" : "cancelled"
    let audit = try sandbox.sshAudit()
    #expect(audit == ["use ok ssh-add of \(added)", "use \(outcome) \(login)"], "\(audit)")
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

  @Test("so is each request that is not refused, but the question for extensions, which has no entry") func answered()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent("audit = required\n")
    defer { sandbox.close() }
    let key = SSHTestKey()
    let (add, added) = (key.adding(), SSHTestKey.fingerprint(key.blob))
    let (data, session) = ([UInt8].login(key.blob, .zeros(32)), [UInt8].zeros(32))
    let signed = "use ok SSH login to a host that is not known as `ana` with the session's key \(added)"
    let rows: [(before: [[UInt8]], body: [UInt8], code: UInt8, entry: String?)] = [
      ([], .bind(key, session, isForwarding: false), 6, "call ok ssh-agent: session-bind host key \(added)"),
      ([add], .sign(key.blob, data), 14, signed), ([add], .remove(key.blob), 6, "use ok ssh-add -d of \(added)"),
      ([add], .removeAll, 6, "use ok ssh-add -D"), ([], .lock("p"), 6, "call ok ssh-agent: ssh-add -x"),
      ([.lock("p")], .unlock("p"), 6, "call ok ssh-agent: ssh-add -X"), ([], .extension("query"), 29, nil),
    ]
    var told: [String] = []
    for row in rows {
      let client = try sandbox.join()
      for body in row.before { #expect(try client.code(body) == 6) }
      #expect(try client.code(row.body) == row.code)
      try sandbox.stopDaemon(signal: 9)
      // It stays until then, because the end of a connection may write entries as well.
      withExtendedLifetime(client) {}
      try sandbox.startDaemon()
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      let now = try sandbox.sshAudit()
      let count = row.before.count + (row.entry == nil ? 0 : 1)
      #expect(now.count == told.count + count && (row.entry == nil || now.last == row.entry), "\(now.suffix(3))")
      told = now
    }
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
