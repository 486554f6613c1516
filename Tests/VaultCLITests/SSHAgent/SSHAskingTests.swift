import Foundation
import Glibc
import Testing
import VaultTesting

/// A person who is asked for what SSH's programs wait for.
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
    // The name of a host on the way is known where no ssh of this machine was told it, unless it is hashed.
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
    // It is not asked again for a while.
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
