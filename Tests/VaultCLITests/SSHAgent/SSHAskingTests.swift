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
    let agent = try AttendingClient(sandbox)
    let key = SSHTestKey(Array(0..<32))
    #expect(try sandbox.join().code(key.adding(constraints: [2])) == 6)
    func begin() throws -> (client: WireClient, number: Int) {
      let client = try sandbox.join()
      client.ask(.sign(key.blob, .login(key.blob, .zeros(32))))
      return (client, try #require(agent.nextInquiry().number))
    }
    func confirm(_ number: Int) throws -> WireClient.Reply { try sandbox.client().call("Confirm", ["inquiry": number]) }
    let (first, second) = (try begin(), try begin())
    #expect(first.number != second.number)
    // Another process of the user was not told of it, and to show presence is no yes.
    #expect(try sandbox.ask("Confirm", ["inquiry": first.number]).reply().error == "Denied")
    #expect(try sandbox.answer("Authenticate", ["inquiry": first.number]) == "InvalidParameter")
    let confirmed = try confirm(first.number)
    #expect(confirmed.error == nil && confirmed.parameters.isEmpty, "\(confirmed)")
    #expect(try confirm(first.number).outcome == "NoSuchRequest")
    #expect(try first.client.code() == 14)
    // The other one waits on, until the lock takes its key.
    #expect(try agent.next("withdrawn")["why"] as? String == "answered")
    _ = try sandbox.outcome("Lock")
    #expect(try second.client.code() == 5)
    #expect(try confirm(second.number).outcome == "NoSuchRequest")
    // With a key that goes, the question goes: it is removed, added anew, or its time is over.
    #expect(try sandbox.answer("Unlock") == "")
    for (constraints, end) in [
      ([2], .remove(key.blob)), ([2], key.adding()), ([2, 1, 0, 0, 0, 1], nil),
    ] as [([UInt8], [UInt8]?)] {
      #expect(try sandbox.join().code(key.adding(constraints: constraints)) == 6)
      let (client, number) = try begin()
      if let end { #expect(try sandbox.join().code(end) == 6) }
      #expect(try client.code() == 5)
      #expect(try agent.next("withdrawn")["why"] as? String == "gone")
      #expect(try confirm(number).outcome == "NoSuchRequest")
    }
  }

  @Test("what was shown here counts for nobody who asks through a forwarded agent, nor the other way round")
  func forwardedPresence() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a", ["ed25519"], ["--require", "password", "--reuse", "10m"])
    let agent = try AttendingClient(sandbox)
    let own = try #require(sandbox.join().keys().first).blob
    let (host, gate) = (SSHTestKey(Array(0..<32)), SSHTestKey(Array(1..<33)))
    let (session, other) = ([UInt8](repeating: 0x73, count: 32), [UInt8](repeating: 0x6f, count: 32))
    func begin(_ binds: [UInt8]...) throws -> WireClient {
      let client = try sandbox.join()
      for bind in binds { #expect(try client.code(bind) == 6) }
      client.ask(.sign(own, .login(own, binds.count == 2 ? other : session)))
      return client
    }
    // Shows presence for the next inquiry, and returns the daemon's words for the task.
    func answered() throws -> String {
      let told = try agent.nextInquiry()
      #expect(try sandbox.answer("Authenticate", ["inquiry": #require(told.number)]) == "")
      return try #require(told.askers.first?["task"] as? String, "\(told)")
    }
    func isFromUnknownHost(_ client: WireClient) throws -> Bool {
      let task = try answered()
      return try client.code() == 14 && task.contains(" for someone on an unknown host (")
    }
    func via(_ key: SSHTestKey, _ last: SSHTestKey, isForwarding: Bool = false) throws -> WireClient {
      try begin(.bind(key, session, isForwarding: true), .bind(last, other, isForwarding: isForwarding))
    }
    let here = try begin()
    #expect(try !answered().contains("someone") && here.code() == 14)
    #expect(try begin().code() == 14)
    #expect(try begin(.bind(host, session, isForwarding: false)).code() == 14)
    #expect(try isFromUnknownHost(via(host, host)))
    #expect(try via(host, host).code() == 14)
    // A way that was not named: over another host, or to another one.
    for (first, last) in [(gate, host), (host, gate)] {
      #expect(try isFromUnknownHost(via(first, last)))
      #expect(try via(first, last).code() == 14)
    }
    // A login to a host that no session names: from the host that was logged in to, or within a session of somebody
    // else's.
    for _ in 0..<2 {
      #expect(try isFromUnknownHost(via(host, host, isForwarding: true)))
      #expect(try isFromUnknownHost(begin(.bind(host, session, isForwarding: true))))
    }
    for named in [nil, gate.blob, nil, gate.blob] {
      let away = try via(host, host)
      #expect(try away.code() == 14)
      away.ask(.sign(own, .login(own, [UInt8](repeating: 0x63, count: 32), host: named)))
      #expect(try answered().contains(", to a host that is not known as ") && away.code() == 14)
    }
    // A message is signed for whoever is on the host that forwards, and not for a session that logs in.
    for (namespace, asks) in [("git", true), ("git", false), ("file", true)] {
      let client = try sandbox.join()
      #expect(try client.code(.bind(host, session, isForwarding: true)) == 6)
      client.ask(.sign(own, .message(namespace)))
      if asks { #expect(try answered().contains(", for `" + namespace)) }
      #expect(try client.code() == 14)
    }
    for _ in 0..<2 {
      let away = try via(host, host)
      #expect(try away.code() == 14)
      away.ask(.sign(own, .message("git")))
      #expect(try answered().contains(", for `git`") && away.code() == 14)
    }
    // One whose way cannot be told is not from here, either, nor does anything else come by it.
    for _ in 0..<2 {
      let broken = try sandbox.join()
      let wrong = host.signature(of: other)
      #expect(try broken.code(.bind(host.blob, session, isForwarding: false, signature: wrong)) == 5)
      for _ in 0..<2 {
        broken.ask(.sign(own, .login(own, session)))
        #expect(try answered().contains(" for someone who may be on any host, ") && broken.code() == 14)
      }
    }
    // The login names another host than the session that it is for.
    let client = try sandbox.join()
    #expect(try client.code(.bind(host, session, isForwarding: false)) == 6)
    #expect(try client.code(.sign(own, .login(own, session, host: own))) == 5)
    #expect(try client.code(.sign(own, .login(own, session, host: host.blob))) == 14)
    #expect(try sandbox.sshAudit().contains { $0.contains("for someone who may be on any host") })
  }

  @Test("once ssh-add -x has locked the agent, those who wait are not served") func lockedMeanwhile() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    let agent = try AttendingClient(sandbox)
    let own = try #require(sandbox.join().keys().first).blob
    let key = SSHTestKey(Array(0..<32))
    #expect(try sandbox.join().code(key.adding(constraints: [2])) == 6)
    let first = try sandbox.join()
    first.ask(.sign(key.blob, .login(key.blob, .zeros(32))))
    let number = try #require(agent.inquiry().number)
    #expect(try sandbox.join().code(.lock("p")) == 6)
    let confirmed = try sandbox.client().call("Confirm", ["inquiry": number])
    #expect(confirmed.error == nil && confirmed.parameters.isEmpty, "\(confirmed)")
    #expect(try first.code() == 5)
    #expect(try sandbox.join().code(.unlock("p")) == 6)
    _ = try sandbox.outcome("Lock")
    let second = try sandbox.join()
    second.ask(.sign(own, .login(own, .zeros(32))))
    _ = try agent.nextInquiry()
    #expect(try sandbox.join().code(.lock("p")) == 6)
    #expect(try sandbox.answer("Unlock") == "")
    #expect(try second.code() == 5)
  }

  @Test("a lock that hides names takes the question for an item back, and leaves nothing of the name") func hidden()
    throws
  {
    let sandbox = try Sandbox.withSSHAgent("hide-names = true\n")
    defer { sandbox.close() }
    let name = String((0..<40).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
    try sandbox.storeKey(name, ["ed25519"], ["--require", "password"])
    let agent = try AttendingClient(sandbox)
    let own = try #require(sandbox.join().keys().first).blob
    let client = try sandbox.join()
    client.ask(.sign(own, .login(own, .zeros(32))))
    #expect(try agent.inquiry()["about"] as? String == "presence")
    _ = try sandbox.outcome("Lock")
    #expect(try client.code() == 5)
    let told = try [agent.event(), agent.event()].map { $0["why"] as? String ?? $0["notice"] as? String ?? "" }
    #expect(told.sorted() == ["gone", "locked"])
    guard MemorySearch.isPossible else { return }
    let found = try MemorySearch(pid: try #require(sandbox.daemonPid)).find(["name": Array(name.utf8)])
    #expect(found.isEmpty, "\(found)")
  }

  @Test("who goes away is asked for no more, locked or not") func gone() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    try sandbox.storeKey("b", ["ed25519"], ["--require", "password"])
    let agent = try AttendingClient(sandbox)
    let keys = try Dictionary(uniqueKeysWithValues: sandbox.join().keys().map { ($0.name, $0.blob) })
    func begin(_ name: String, over client: WireClient? = nil) throws -> WireClient {
      let (key, client) = (try #require(keys[name]), try client ?? sandbox.join())
      client.ask(.sign(key, .login(key, .zeros(32))))
      return client
    }
    var client: WireClient? = try begin("ssh/b")
    let inquiry = try agent.nextInquiry()
    let asker = try #require(inquiry.askers.first)
    #expect(inquiry["about"] as? String == "presence" && inquiry["name"] as? String == "ssh/b", "\(inquiry)")
    #expect(asker["task"] as? String == "SSH login to a host that is not known as `ana` with `ssh/b`", "\(asker)")
    #expect(asker["reason"] == nil && asker["pid"] as? Int == Int(getpid()), "\(asker)")
    client = nil
    #expect(try agent.next("withdrawn")["why"] as? String == "gone")
    _ = try sandbox.outcome("Lock")
    client = try begin("ssh/a")
    #expect(try agent.nextInquiry()["about"] as? String == "unlock")
    // A process that is killed is the same. Its connection is open in it alone.
    let killed = try OtherProcess(in: sandbox)
    _ = try begin("ssh/a", over: killed.connect(to: sandbox.sshSocket, isKept: true))
    killed.end()
    client = nil
    #expect(try agent.next("withdrawn")["why"] as? String == "gone")
    // One that only says that it sends no more still has its answer.
    let last = try begin("ssh/a")
    last.finishSending()
    #expect(try agent.nextInquiry()["about"] as? String == "unlock")
    #expect(try sandbox.answer("Unlock") == "")
    #expect(try last.code() == 14 && last.code() == nil)
    withExtendedLifetime(client) {}
  }
}
