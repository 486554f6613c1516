import Foundation
import Glibc
import Testing
import VaultTesting

/// Questions to a person while an SSH program waits.
@Suite("The ssh-agent and a person") struct SSHAskingTests {
  private struct Question {
    let facts: [String]
    let words: String?
    let title: String

    init?(_ run: AgentStand.Run, _ about: String) {
      guard let object = run.object, object["about"] as? String == about else { return nil }
      facts = object["facts"] as? [String] ?? []
      words = object["words"] as? String
      title = object["title"] as? String ?? ""
    }
  }

  private func questions(_ stand: AgentStand, _ about: String) throws -> [Question] {
    try stand.runs().compactMap { Question($0, about) }
  }

  @Test(
    "a login waits for the unlock, and who is asked is told of the host, the user, the key and the process",
    .enabled(if: SSHHosts.isPossible, SSHHosts.need), arguments: [false, true])
  func unlock(isHashed: Bool) throws {
    let stand = try AgentStand("ssh-agent = on\n")
    defer { stand.close() }
    let sandbox = stand.sandbox
    let key = try sandbox.storeKey("a")
    let hosts = try SSHHosts(
      sandbox, [("a.test", ["ed25519"]), ("b.test", ["ed25519"])], authorized: [try sandbox.publicKey(key)],
      isHashed: isHashed)
    try FileManager.default.removeItem(atPath: key)
    try stand.attend(faces: "command", ["secret": password])
    try sandbox.must(["lock"])
    let outcome = try hosts.login("a.test")
    #expect(outcome.output == "in\n", "\(outcome) \(hosts.account()) \(stand.account())")
    let question = try #require(try questions(stand, "unlock").first, "\(stand.account())")
    #expect(question.title.hasPrefix("ssh asks to unlock the vault"))
    #expect(question.facts.contains("for: SSH login to a.test as `ana` with `ssh/a`"), "\(question.facts)")
    #expect(question.facts.contains { $0.hasPrefix("apparently ssh (/usr/bin/ssh)") }, "\(question.facts)")
    #expect(question.words == nil)
    try sandbox.must(["lock"])
    let far = try hosts.login("a.test", ["-A"], hosts.hop(to: "b.test", [], "echo there"))
    #expect(far.output == "there\n", "\(far) \(hosts.account()) \(stand.account())")
    // The ssh on this machine named only the first host. The name of a host on the way is still known from known_hosts,
    // unless that file hashes it.
    let through = try questions(stand, "unlock").flatMap(\.facts).filter { $0.hasPrefix("for: ") }
    #expect(through.contains("for: SSH login to a.test as `ana` with `ssh/a`"))
  }

  @Test("words that a caller writes of itself are shown as its own, whatever they say") func words() throws {
    let stand = try AgentStand("ssh-agent = on\n")
    defer { stand.close() }
    try stand.attend(faces: "command", ["secret": password])
    try stand.sandbox.must(["lock"])
    let reason = "for: SSH login to a.test as `ana` with `ssh/a`"
    #expect(try stand.sandbox.must(["get", "web", "--reason", reason]) == "hunter2")
    let question = try #require(try questions(stand, "unlock").first)
    #expect(question.words == reason && !question.facts.contains { $0.contains("SSH login") })
  }

  @Test("a list waits for the unlock where names cannot be read") func listing() throws {
    let stand = try AgentStand("ssh-agent = on\nhide-names = true\n")
    defer { stand.close() }
    try stand.sandbox.storeKey("a")
    try stand.attend(faces: "command", ["secret": password])
    try stand.sandbox.must(["lock"])
    #expect(try stand.sandbox.listed().contains(" ssh/a (ED25519)"), "\(stand.account())")
    let question = try #require(try questions(stand, "unlock").first)
    #expect(question.facts.contains("for: list of the keys for SSH"), "\(question.facts)")
  }

  @Test("one who does not want to answer, and nobody at all, fails the signature") func dismissed() throws {
    let stand = try AgentStand("ssh-agent = on\n")
    defer { stand.close() }
    let sandbox = stand.sandbox
    let key = try sandbox.storeKey("a")
    let file = try sandbox.write("x", to: "file")
    try FileManager.default.removeItem(atPath: key)
    try sandbox.must(["lock"])
    func sign() throws -> Outcome {
      try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file", file])
    }
    #expect(try sign().errors.contains("agent refused operation"))
    try stand.attend(faces: "command", [:])
    #expect(try sign().errors.contains("agent refused operation"))
    #expect(try questions(stand, "unlock").count == 1)
    // After a dismissal, the person is not asked again for a while.
    #expect(try sign().errors.contains("agent refused operation"))
    #expect(try questions(stand, "unlock").count == 1)
  }

  @Test("presence is shown once for the item's window in a session, and anew in another one") func presence() throws {
    let stand = try AgentStand("ssh-agent = on\n")
    defer { stand.close() }
    let sandbox = stand.sandbox
    let file = try sandbox.write("x", to: "file")
    let key = try sandbox.storeKey("a", ["ed25519"], ["--require", "user-presence", "--reuse", "10m"])
    try FileManager.default.removeItem(atPath: key)
    try stand.attend(faces: "command", ["secret": password])
    let sign = "ssh-keygen -Y sign -f '\(key).pub' -n file <'\(file)'"
    for sessions in 1...2 {
      let outcome = try sandbox.ssh("env", ["sh", "-c", "\(sign) && \(sign)"])
      #expect(outcome.status == 0, "\(outcome) \(stand.account())")
      let found = try questions(stand, "presence")
      #expect(found.count == sessions, "\(stand.account())")
      #expect(found.allSatisfy { $0.facts.contains("for: SSH signature for `file` with `ssh/a`") })
    }
  }

  @Test("a key that ssh-add -c added is used once for each yes, and a no holds for a while") func confirmed() throws {
    let stand = try AgentStand("ssh-agent = on\n")
    defer { stand.close() }
    let sandbox = stand.sandbox
    let (key, other) = (try sandbox.makeKey("key"), try sandbox.makeKey("other"))
    #expect(try sandbox.ssh("ssh-add", ["-q", "-c", key, other]).status == 0, "\(sandbox.daemonLog)")
    for file in [key, other] { try FileManager.default.removeItem(atPath: file) }
    func sign(_ key: String) throws -> Outcome {
      try sandbox.ssh("ssh-keygen", ["-Y", "sign", "-f", key + ".pub", "-n", "file"], stdin: "x")
    }
    // No agent attends, so nobody can be asked.
    #expect(try sign(key).errors.contains("agent refused operation"))
    try stand.attend(faces: "command", ["choice": "yes"])
    for count in 1...2 {
      #expect(try sign(key).output.hasPrefix("-----BEGIN SSH SIGNATURE-----"), "\(stand.account())")
      let asked = try questions(stand, "confirmation")
      #expect(asked.count == count)
      let question = try #require(asked.last)
      #expect(question.title == "ssh-keygen asks to use a key that asks you each time")
      let task = "for: SSH signature for `file` with the session's key SHA256:"
      #expect(question.facts.contains { $0.hasPrefix(task) }, "\(question.facts)")
      #expect(question.facts.contains("your answer counts once"))
    }
    try stand.answer(["choice": "no"])
    for key in [key, key, other] { #expect(try sign(key).errors.contains("agent refused operation")) }
    // The second use of the same key put no question; the use of another key did.
    #expect(try questions(stand, "confirmation").count == 4)
    let audit = try sandbox.sshAudit()
    #expect(audit.contains { $0.hasPrefix("use ok SSH signature for `file` with the session's key SHA256:") })
  }

  @Test("only the agent that was told of a confirmation gives it, once, and a lock takes it back") func confirming()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.script(
      """
      agent = attend()
      key = Key(bytes(range(32)))
      assert code(join(), key.body(constraints=b"\\x02")) == 6
      def begin():
          client = join()
          client.sendall(string(sign_body(key.blob, login(key.blob, bytes(32)))))
          return client
      def told(what):
          while True:
              found = event(agent)
              if found["event"] == what: return found
      first, second = begin(), begin()
      numbers = [told("inquiry")["inquiry"]["number"] for _ in range(2)]
      assert numbers[0] != numbers[1]
      # Another process of the user was not told of it, and to show presence is no yes.
      assert ended(ask("Confirm", inquiry=numbers[0])).startswith("Denied")
      assert converse("Authenticate", inquiry=numbers[0]) == "InvalidParameter"
      assert call(connect(), "Confirm", inquiry=numbers[0]) == {}
      assert call(connect(), "Confirm", inquiry=numbers[0]) == "NoSuchRequest"
      (ready,), _, _ = select.select([first, second], [], [], 60)
      assert receive(ready)[0] == 14
      left = second if ready is first else first
      # The other one waits on, until the lock takes its key.
      assert told("withdrawn")["why"] == "answered"
      call(connect(), "Lock")
      assert receive(left)[0] == 5
      assert call(connect(), "Confirm", inquiry=numbers[1]) == "NoSuchRequest"
      # With a key that goes, the question goes: it is removed, added anew, or its time is over.
      assert converse("Unlock") == "done"
      brief = b"\\x02\\x01\\0\\0\\0\\x01"
      for constraints, end in [(b"\\x02", b"\\x12" + string(key.blob)), (b"\\x02", key.body()), (brief, None)]:
          assert code(join(), key.body(constraints=constraints)) == 6
          client = begin()
          number = told("inquiry")["inquiry"]["number"]
          if end: assert code(join(), end) == 6
          assert receive(client)[0] == 5
          assert told("withdrawn")["why"] == "gone"
          assert call(connect(), "Confirm", inquiry=number) == "NoSuchRequest"
      """)
  }

  @Test("what was shown here counts for nobody who asks through a forwarded agent, nor the other way round")
  func forwardedPresence() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a", ["ed25519"], ["--require", "password", "--reuse", "10m"])
    try sandbox.script(
      """
      agent = attend()
      own, host = blobs(join())[0][0], Key(bytes(range(32)))
      session, other = b"s" * 32, b"o" * 32
      def begin(*binds):
          client = join()
          for each in binds: assert code(client, each) == 6
          last = other if len(binds) == 2 else session
          client.sendall(string(sign_body(own, login(own, last))))
          return client
      def answered():
          found = event(agent)
          while found["event"] != "inquiry": found = event(agent)
          task = found["inquiry"]["askers"][0]["task"]
          assert converse("Authenticate", inquiry=found["inquiry"]["number"]) == "done"
          return task
      here = begin()
      assert "someone" not in answered() and receive(here)[0] == 14
      assert receive(begin())[0] == 14 and receive(begin(bind(host, session, False)))[0] == 14
      away = begin(bind(host, session, True), bind(host, other, False))
      assert ", for someone on an unknown host (" in answered() and receive(away)[0] == 14
      assert receive(begin(bind(host, session, True), bind(host, other, False)))[0] == 14
      # A way that was not named: over another host, or to another one.
      gate = Key(bytes(range(1, 33)))
      for way in [(bind(gate, session, True), bind(host, other, False)),
                  (bind(host, session, True), bind(gate, other, False))]:
          client = begin(*way)
          assert ", for someone on an unknown host (" in answered() and receive(client)[0] == 14
          assert receive(begin(*way))[0] == 14
      # A login to a host that no session names: from the host that was logged in to, or within a session of somebody
      # else's.
      for way in [(bind(host, session, True), bind(host, other, True)), (bind(host, session, True),)] * 2:
          client = begin(*way)
          assert ", for someone on an unknown host (" in answered() and receive(client)[0] == 14
      for key in [{}, {"host": gate.blob}] * 2:
          away = begin(bind(host, session, True), bind(host, other, False))
          assert receive(away)[0] == 14
          away.sendall(string(sign_body(own, login(own, b"c" * 32, **key))))
          assert "SSH login to a host that is not known" in answered() and receive(away)[0] == 14
      # A message is signed for whoever is on the host that forwards, and not for a session that logs in.
      def message(namespace): return b"SSHSIG" + string(namespace) + string("") + string("sha512") + string(bytes(64))
      for namespace, asks in [("git", True), ("git", False), ("file", True)]:
          client = join()
          assert code(client, bind(host, session, True)) == 6
          client.sendall(string(sign_body(own, message(namespace))))
          if asks: assert "SSH signature for `" + namespace in answered()
          assert receive(client)[0] == 14
      for _ in range(2):
          away = begin(bind(host, session, True), bind(host, other, False))
          assert receive(away)[0] == 14
          away.sendall(string(sign_body(own, message("git"))))
          assert "SSH signature for `git`" in answered() and receive(away)[0] == 14
      # One whose way cannot be told is not from here, either, nor does anything else come by it.
      for _ in range(2):
          broken = join()
          assert code(broken, bind(host, session, False, host.signature(other))) == 5
          for count in range(2):
              broken.sendall(string(sign_body(own, login(own, session))))
              assert ", for someone who may be on any host" in answered() and receive(broken)[0] == 14
      # The login names another host than the session that it is for.
      client = join()
      assert code(client, bind(host, session, False)) == 6
      assert code(client, sign_body(own, login(own, session, host=own))) == 5
      assert code(client, sign_body(own, login(own, session, host=host.blob))) == 14
      """)
    #expect(try sandbox.sshAudit().contains { $0.contains("for someone who may be on any host") })
  }

  @Test("once ssh-add -x has locked the agent, those who wait are not served") func lockedMeanwhile() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    try sandbox.script(
      """
      agent = attend()
      own, key = blobs(join())[0][0], Key(bytes(range(32)))
      assert code(join(), key.body(constraints=b"\\x02")) == 6
      asking = join()
      asking.sendall(string(sign_body(key.blob, login(key.blob, bytes(32)))))
      number = event(agent)["inquiry"]["number"]
      assert code(join(), b"\\x16" + string("p")) == 6
      assert call(connect(), "Confirm", inquiry=number) == {}
      assert receive(asking)[0] == 5
      assert code(join(), b"\\x17" + string("p")) == 6
      call(connect(), "Lock")
      asking = join()
      asking.sendall(string(sign_body(own, login(own, bytes(32)))))
      while event(agent)["event"] != "inquiry": pass
      assert code(join(), b"\\x16" + string("p")) == 6
      assert converse("Unlock") == "done"
      assert receive(asking)[0] == 5
      """)
  }

  @Test("a lock that hides names takes the question for an item back, and leaves nothing of the name") func hidden()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent("hide-names = true\n")
    defer { sandbox.close() }
    let name = String((0..<40).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
    try sandbox.storeKey(name, ["ed25519"], ["--require", "password"])
    try sandbox.script(
      """
      agent = attend()
      own = blobs(join())[0][0]
      client = join()
      client.sendall(string(sign_body(own, login(own, bytes(32)))))
      assert event(agent)["inquiry"]["about"] == "presence"
      call(connect(), "Lock")
      assert receive(client)[0] == 5
      told = [event(agent), event(agent)]
      assert sorted([each.get("why", each.get("notice")) for each in told]) == ["gone", "locked"], told
      """)
    guard MemorySearch.isPossible else { return }
    let found = try MemorySearch(pid: try #require(sandbox.daemonPid)).find(["name": Array(name.utf8)])
    #expect(found.isEmpty, "\(found)")
  }

  @Test("who goes away is asked for no more, locked or not") func gone() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    try sandbox.storeKey("b", ["ed25519"], ["--require", "password"])
    try sandbox.script(
      """
      agent = attend()
      keys = {name: blob for blob, name in blobs(join())}
      def begin(name):
          client = join()
          client.sendall(string(sign_body(keys[name], login(keys[name], bytes(32)))))
          return client
      def told(what):
          while True:
              found = event(agent)
              if found["event"] == what: return found
      client = begin("ssh/b")
      inquiry = told("inquiry")["inquiry"]
      asker = inquiry["askers"][0]
      assert inquiry["about"] == "presence" and inquiry["name"] == "ssh/b", inquiry
      assert asker["task"] == "SSH login to a host that is not known as `ana` with `ssh/b`", asker
      assert "reason" not in asker and asker["pid"] == os.getpid(), asker
      client.close()
      assert told("withdrawn")["why"] == "gone"
      call(connect(), "Lock")
      client = begin("ssh/a")
      assert told("inquiry")["inquiry"]["about"] == "unlock"
      # A process that is killed is the same.
      pid = os.fork()
      if pid == 0:
          killed = begin("ssh/a")
          os.kill(os.getpid(), 9)
      os.waitpid(pid, 0)
      client.close()
      assert told("withdrawn")["why"] == "gone"
      # One that only says that it sends no more still has its answer.
      client = begin("ssh/a")
      client.shutdown(socket.SHUT_WR)
      assert told("inquiry")["inquiry"]["about"] == "unlock"
      assert converse("Unlock") == "done"
      assert receive(client)[0] == 14 and receive(client) is None
      """)
  }
}
